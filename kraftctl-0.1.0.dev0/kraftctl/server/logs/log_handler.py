"""BackgroundHandler formats lines of the log on the thread that logs, and writes them on another one."""

from __future__ import annotations

import logging

from kraftctl.server.logs.background_file import WRITE_BYTES_MAX, BackgroundFile, LeftOut, LineFile

LINE_LENGTH_MAX = 1024 * 1024
"""The length of a line. The rest is left out and counted: no line takes the room of all others."""

LATE = "they could not be written in time"


class BackgroundHandler(logging.Handler):
    """A handler; `logger_name` and `late` are in the line about others for which there was no room."""

    def __init__(
        self,
        file: LineFile,
        logger_name: str,
        late: str = LATE,
        *,
        write_bytes_max: int = WRITE_BYTES_MAX,
        has_log: bool = False,
    ) -> None:
        super().__init__()
        self._logger_name = logger_name
        self._late = late
        self.file = BackgroundFile(
            file, self._left_out_line, write_bytes_max=write_bytes_max, has_log=has_log
        )
        self.descriptor: int | None = None
        """The descriptor that it writes to, if that is not its own."""

    def handle(self, record: logging.LogRecord) -> bool:
        """Handles a line without the handler's lock: a thread that holds it may have to wait for a
        processor.
        """
        is_shown = bool(self.filter(record))
        if is_shown:
            self.emit(record)
        return is_shown

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception as error:  # noqa: BLE001 - a wrong call of the logger, or of what it is to show
            line = self.format(_unformatted(record, error))
        if len(line) > LINE_LENGTH_MAX:
            line = f"{line[:LINE_LENGTH_MAX]}... ({len(line) - LINE_LENGTH_MAX} more characters)"
        self.file.write(line.encode(errors="backslashreplace") + b"\n")

    def close(self) -> None:
        """Writes waiting lines, within seconds. Later lines are lost."""
        self.file.close()
        super().close()

    def _left_out_line(self, gap: LeftOut) -> bytes:
        record = logging.LogRecord(self._logger_name, logging.WARNING, __file__, 0, "", None, None)
        record.created, record.msecs = gap.since_wall_ms / 1000, gap.since_wall_ms % 1000
        assert self.formatter is not None
        since = self.formatter.formatTime(record)
        text = f"Left out {gap.count} lines since {since}: {gap.reason or self._late}"
        record = logging.LogRecord(self._logger_name, logging.WARNING, __file__, 0, text, None, None)
        return self.format(record).encode() + b"\n"


def _unformatted(record: logging.LogRecord, error: Exception) -> logging.LogRecord:
    """Returns a text in place of a line of which only the template is known."""
    template = record.msg[:1000] if isinstance(record.msg, str) else type(record.msg).__name__
    text = f"A line cannot be formatted ({type(error).__name__}): {template}"
    return logging.LogRecord(record.name, logging.ERROR, record.pathname, record.lineno, text, None, None)
