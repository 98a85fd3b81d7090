"""Records about something that the log never set: they change nothing, and are listed."""

from __future__ import annotations

from typing import NamedTuple

from kraftctl_spark.history.versions.versions import LogPlace

NOT_SET = "never set"
"""The reason why what such a record is about is not known."""


class Quarantined(NamedTuple):
    """A record without effect, and what it is about."""

    table: str
    subject: str
    at: LogPlace
    topic_id: str | None = None
    partition_id: int | None = None
    broker_id: int | None = None


class Quarantine:
    """Collects them until they are taken."""

    def __init__(self) -> None:
        self._found: list[Quarantined] = []

    def add(self, found: Quarantined) -> None:
        self._found.append(found)

    def take(self) -> list[Quarantined]:
        """Returns them in the order of the log, each once."""
        taken, self._found = sorted(self._found, key=lambda one: one.at.offset), []
        return taken
