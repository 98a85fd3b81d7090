"""The loggers of this process and their levels, as BROKER_LOGGER shows and changes them (KIP-412, KIP-919).

They are soft state, and not in the log: a restart begins with the levels of the command line. The names are
those at the end of this controller's lines; Kafka's classes have no loggers here.
"""

from __future__ import annotations

from typing import Final

ROOT: Final = "root"
"""All other loggers inherit from this one; its level cannot be removed."""

LEVELS: Final = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}
"""The levels that may be set, by Kafka's names."""

OFF: Final = "OFF"
OFF_LEVEL: Final = 100
"""This is above all levels: kraftctl.authorizer.log.level=off. It can be shown and not set, as in Kafka."""


class LogLevels:
    """The loggers: each has its own level, or None where it inherits that of the next above it."""

    def __init__(self, levels: dict[str, str | None]) -> None:
        self._levels = levels
        self._levels.setdefault(ROOT, "INFO")
        self._changes: dict[str, str | None] = {}

    def names(self) -> list[str]:
        """Returns the names of all loggers, sorted."""
        return sorted(self._levels)

    def has(self, name: str) -> bool:
        return name in self._levels

    def level(self, name: str) -> str:
        """Returns the effective level: its own, or that of the first above it that has one."""
        while True:
            level = self._levels.get(name)
            if level is not None:
                return level
            above, dot, _ = name.rpartition(".")
            name = above if dot else ROOT

    def number(self, name: str) -> int:
        """Returns the effective level, as Python numbers it."""
        return LEVELS.get(self.level(name), OFF_LEVEL)

    def change(self, changes: dict[str, str | None]) -> None:
        """Gives loggers these levels; None removes a logger's own."""
        self._levels.update(changes)
        self._changes.update(changes)

    def take_changes(self) -> dict[str, str | None]:
        """Returns the changes since the last call."""
        changes = self._changes
        if changes:
            self._changes = {}
        return changes
