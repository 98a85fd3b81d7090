"""EventStream keeps the newest events in words; those that say the same of many partitions become one."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from kraftctl.console.event_words import EventWords
from kraftctl.explain.mark import Mark

EVENTS_MAX: Final = 500
NAMES_MAX: Final = 3
TOGETHER_MS: Final = 1_000
"""A broker that stops changes all its partitions in some batches: they are one event within this time."""
OPEN_MAX: Final = 16
"""The number of newest events that another one may join."""


@dataclass
class StreamedEvent:
    """One event, or several that say the same of others; `names` has the first ones."""

    words: EventWords
    first: Mark
    last_ms: int
    count: int = 1
    names: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The sentence with the first names."""
        if not self.names:
            return self.words.what
        left = self.count - len(self.names)
        more = f" and {left} more" if left else ""
        return f"{self.words.what} {', '.join(self.names)}{more}"


class EventStream:
    """The newest events, in the order of the log."""

    def __init__(self) -> None:
        self.events: deque[StreamedEvent] = deque(maxlen=EVENTS_MAX)

    def add(self, words: EventWords, mark: Mark) -> None:
        """Adds an event, or counts it with an equal one of the same time."""
        for event in self._open():
            if words.name and event.words.what == words.what:
                if mark.timestamp_ms - event.last_ms > TOGETHER_MS:
                    break
                event.count += 1
                event.last_ms = mark.timestamp_ms
                if len(event.names) < NAMES_MAX:
                    event.names.append(words.name)
                return
        self.events.append(
            StreamedEvent(words, mark, mark.timestamp_ms, names=[words.name] if words.name else [])
        )

    def newest(self, count_max: int) -> list[StreamedEvent]:
        """Returns the newest events, the last one first."""
        return [event for event, _ in zip(reversed(self.events), range(count_max), strict=False)]

    def _open(self) -> list[StreamedEvent]:
        return self.newest(OPEN_MAX)
