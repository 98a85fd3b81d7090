"""The levels of this process's loggers for BROKER_LOGGER, by Kafka's names, and their changes."""

from __future__ import annotations

import logging
from typing import Final

from kraftctl.controller.results.notice_sources import SOURCES
from kraftctl.controller.state.log_levels import LEVELS, OFF, ROOT, LogLevels
from kraftctl.raft.effects import RAFT
from kraftctl.server.logs.logging import AUTHORIZER_LOGGER

LOGGERS: Final = (
    "asyncio",
    AUTHORIZER_LOGGER,
    "kraftctl",
    *sorted(f"kraftctl.{source}" for source in (RAFT, *SOURCES)),
    "kraftctl.server",
    "kraftctl.server.connections",
    "kraftctl.server.driver",
    "kraftctl.server.effect_executor",
    "kraftctl.server.listener",
    "kraftctl.server.log_files",
    "kraftctl.server.oauthbearer",
    "kraftctl.server.operate",
    "kraftctl.server.peers",
    "kraftctl.server.request",
    "kraftctl.server.sasl",
    "kraftctl.server.snapshots",
    "kraftctl.server.ssl",
    "kraftctl.stderr",
    "kraftctl.storage",
)
"""All loggers that write lines, and those above them, whether their modules are loaded or not."""

_NAMES: Final = {number: name for name, number in LEVELS.items()}

logger = logging.getLogger("kraftctl.server")


def current_log_levels() -> LogLevels:
    """Returns the levels as they are now."""
    levels: dict[str, str | None] = {name: _level_of(logging.getLogger(name)) for name in LOGGERS}
    levels[ROOT] = _level_of(logging.getLogger())
    return LogLevels(levels)


def _level_of(of: logging.Logger) -> str | None:
    if of.level == logging.NOTSET:
        return None
    return OFF if of.level > logging.CRITICAL else _NAMES.get(of.level, logging.getLevelName(of.level))


def set_log_levels(levels: dict[str, str | None]) -> None:
    """Sets levels from now on, with a line for each."""
    for name, level in levels.items():
        changed = logging.getLogger(None if name == ROOT else name)
        changed.setLevel(logging.NOTSET if level is None else LEVELS[level])
        if level is None:
            logger.warning("The logger %s has the level of the one above it again", name)
        else:
            logger.warning("The level of the logger %s is %s now", name, level)
