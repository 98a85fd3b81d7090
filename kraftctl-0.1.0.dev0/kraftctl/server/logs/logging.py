"""Log lines in the form of Kafka's own: `[time] LEVEL [part id=n] text (logger)`."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import TextIO

from kraftctl.server.logs.log_handler import BackgroundHandler
from kraftctl.server.logs.shared_output import BLOCK_BYTES_MAX, SharedOutput
from kraftctl_protocol.escaped_text import escaped
from kraftctl_security.standard_output import descriptor_of

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}

_LEVEL_NAMES = {5: "TRACE", logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}

AUTHORIZER_LOGGER = "kafka.authorizer.logger"
"""The lines of this logger name no part: they are Kafka's own, and programs read them."""

_PARTS = {
    "kraftctl.controller": "QuorumController",
    "kraftctl.raft": "RaftManager",
    "kraftctl.snapshot": "SnapshotGenerator",
    "kraftctl.registration": "ControllerRegistrationManager",
    "kraftctl.storage": "MetadataLog",
    "kraftctl.server": "ControllerServer",
}
"""Maps a logger to the part of a Kafka controller that logs; anything else is the server."""

LINE_END = "\n"
"""Separates the lines of a stack."""

LATE = "standard output was not read in time. Next step: check what reads it"


class KafkaFormatter(logging.Formatter):
    """Formats as Kafka's default console appender does."""

    def __init__(self, node_id: int | None) -> None:
        """Takes the node id, None as long as it is not known."""
        super().__init__()
        self._node_id = node_id
        self._second = (-1, "")
        """The second of the last line, and its text: making it takes as long as the rest of a line."""

    def format(self, record: logging.LogRecord) -> str:
        level = _LEVEL_NAMES.get(record.levelno, record.levelname)
        text = escaped(record.getMessage())
        part = self._part(record.name)
        line = f"[{self.formatTime(record)}] {level} {part}{text} ({record.name})"
        if not record.exc_info:
            return line
        return f"{line}\n{escaped(self.formatException(record.exc_info), keep=LINE_END)}"

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        second = int(record.created)
        known, text = self._second
        if second != known:
            text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
            self._second = (second, text)
        return f"{text},{int(record.msecs):03d}"

    def _part(self, logger_name: str) -> str:
        if logger_name == AUTHORIZER_LOGGER or self._node_id is None:
            return ""
        for prefix, part in _PARTS.items():
            if logger_name == prefix or logger_name.startswith(prefix + "."):
                return f"[{part} id={self._node_id}] "
        return f"[ControllerServer id={self._node_id}] "


def configure_logging(node_id: int | None, level: str = "info", stream: TextIO | None = None) -> None:
    """Logs to standard output, as kafka-server-start does; replaces what was configured before.

    Lines are written on a thread of their own, unless there is a `stream`, or standard output is not a file
    of the operating system. The end of the process waits for that, and so does `stop_logging`.
    """
    root = logging.getLogger()
    handler = _handler(stream)
    handler.setFormatter(KafkaFormatter(node_id))
    for previous in list(root.handlers):
        root.removeHandler(previous)
    root.addHandler(handler)
    root.setLevel(LEVELS[level])
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    sys.excepthook = _log_uncaught_exception


def stop_logging() -> None:
    """Writes the last lines, within seconds. Afterwards nothing is logged."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, BackgroundHandler)]:
        handler.close()
        root.removeHandler(handler)
        root.addHandler(logging.NullHandler())


def _handler(stream: TextIO | None) -> logging.Handler:
    descriptor = descriptor_of(sys.stderr if sys.stdout is None else sys.stdout)
    if stream is not None:
        return logging.StreamHandler(stream)
    if descriptor is None:
        return logging.NullHandler() if sys.stdout is None else logging.StreamHandler(sys.stdout)
    for handler in logging.getLogger().handlers:
        if isinstance(handler, BackgroundHandler) and handler.descriptor == descriptor:
            return handler
    background = BackgroundHandler(
        SharedOutput(descriptor, "standard output"),
        "kraftctl.server.log_files",
        LATE,
        write_bytes_max=BLOCK_BYTES_MAX,
        has_log=True,
    )
    background.descriptor = descriptor
    background.file.start()
    return background


def _log_uncaught_exception(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Logs the broken invariant that stops a controller."""
    logging.getLogger("kraftctl.server").critical(
        "Stopping: an error that has no handler", exc_info=(kind, error, traceback)
    )
