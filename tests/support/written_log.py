"""The records of an explained log, in a directory, too."""

from __future__ import annotations

from kraftctl.explain.mark import Mark
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.spark.log_directory import LogDirectory
from tests.support.explained_log import ExplainedLog


class WrittenLog(ExplainedLog):
    """The same records in a directory, too."""

    def __init__(self, directory: LogDirectory) -> None:
        super().__init__()
        self.offset = -1
        self._directory = directory

    def write(self, *records: Message) -> Mark:
        mark = super().write(*records)
        self.write_values(*[encode_metadata_record(each, each.HIGHEST_VERSION) for each in records])
        return mark

    def append_voters(self, *voters: int) -> None:
        """Writes into the directory alone that these are the voters from here on."""
        self._directory.append_voters(voters)

    def write_values(self, *values: bytes) -> None:
        """Writes values into the directory alone."""
        log = self._directory.log
        log.append(encode_batch(log.end_offset, 1, self.now_ms, list(values)))
        log.flush()
