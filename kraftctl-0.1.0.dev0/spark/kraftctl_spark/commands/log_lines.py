"""The log of a command, on standard error: a line for each entry, whatever texts of others are in it."""

from __future__ import annotations

import logging

from kraftctl_protocol.escaped_text import escaped


class _OneLine(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = escaped(record.message)
        return super().formatMessage(record)


def log_to_standard_error() -> None:
    """Changes nothing where logging is configured already."""
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("[%(asctime)s] %(levelname)s %(message)s (%(name)s)"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
