"""Log lines in the form of Kafka's own: `[time] LEVEL [part id=n] text (logger)`."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import TextIO

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}

_LEVEL_NAMES = {5: "TRACE", logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}

AUTHORIZER_LOGGER = "kafka.authorizer.logger"
"""Its lines name no part, as in Kafka: they are Kafka's own, and programs read them."""

_PARTS = {
    "kraftctl.controller": "QuorumController",
    "kraftctl.raft": "RaftManager",
    "kraftctl.snapshot": "SnapshotGenerator",
    "kraftctl.registration": "ControllerRegistrationManager",
    "kraftctl.storage": "MetadataLog",
    "kraftctl.server": "ControllerServer",
}
"""Logger -> the part of a Kafka controller that logs; anything else is the server."""

_CONTROL_CHARACTERS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    code: f"\\u{code:04x}" for code in (0x2028, 0x2029)
}
"""Names of clients and of what they ask for are logged: they must not be able to forge a line."""


class KafkaFormatter(logging.Formatter):
    """Formats as Kafka's default console appender does."""

    def __init__(self, node_id: int) -> None:
        super().__init__()
        self._node_id = node_id

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))
        level = _LEVEL_NAMES.get(record.levelno, record.levelname)
        text = record.getMessage().translate(_CONTROL_CHARACTERS)
        part = "" if record.name == AUTHORIZER_LOGGER else f"[{self._part(record.name)} id={self._node_id}] "
        line = f"[{seconds},{int(record.msecs):03d}] {level} {part}{text} ({record.name})"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line

    def _part(self, logger_name: str) -> str:
        for prefix, part in _PARTS.items():
            if logger_name == prefix or logger_name.startswith(prefix + "."):
                return part
        return "ControllerServer"


def configure_logging(node_id: int, level: str = "info", stream: TextIO | None = None) -> None:
    """Log to standard output, as kafka-server-start does; replaces what was configured before."""
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(KafkaFormatter(node_id))
    root = logging.getLogger()
    for previous in list(root.handlers):
        root.removeHandler(previous)
    root.addHandler(handler)
    root.setLevel(LEVELS[level])
    logging.getLogger("asyncio").setLevel(logging.WARNING)
    sys.excepthook = _log_uncaught_exception


def _log_uncaught_exception(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """A broken invariant stops a controller; the reason belongs in its log."""
    logging.getLogger("kraftctl.server").critical(
        "Stopping because of an unexpected error", exc_info=(kind, error, traceback)
    )
