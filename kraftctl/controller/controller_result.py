"""What a handler returns: records to append, the response to park until they are committed."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion


@mypyc_attr(allow_interpreted_subclasses=True)
class SoftChange:
    """What a result changes besides records. It is made when nothing can refuse the result any more."""

    def make(self) -> None:
        """Change the soft state, just before the first record is appended."""


class ControllerResult:
    """Records and response of one request.

    `is_atomic`: all records must land in one batch (or one metadata transaction). Otherwise the
    caller may cut the list between any two records. `response` is None for timer work.
    """

    def __init__(
        self,
        records: list[RecordAndVersion],
        response: Message | None = None,
        is_atomic: bool = False,
        soft_change: SoftChange | None = None,
    ) -> None:
        self.records = records
        self.response = response
        self.is_atomic = is_atomic
        self.soft_change = soft_change

    @staticmethod
    def of(
        records: list[RecordAndVersion],
        response: Message | None = None,
        soft_change: SoftChange | None = None,
    ) -> ControllerResult:
        """Records that may be split over batches."""
        return ControllerResult(records, response, False, soft_change)

    @staticmethod
    def atomic_of(
        records: list[RecordAndVersion],
        response: Message | None = None,
        soft_change: SoftChange | None = None,
    ) -> ControllerResult:
        """Records that are all written or not at all."""
        return ControllerResult(records, response, True, soft_change)
