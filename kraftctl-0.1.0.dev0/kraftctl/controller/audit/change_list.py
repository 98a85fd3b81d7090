"""ChangeList: what a request asks for, as plain values, cut to what one line may hold."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.failures import shortened

Change = dict[str, object]
"""Names and plain values: strings, numbers, lists of them, None."""

CHANGES_MAX: Final = 50
"""One request may ask for 20,000 things; the others are counted."""

CHARACTERS_MAX: Final = 6_000
"""The texts of one line have this many characters at most; further changes are not described. Even in six
bytes each, they and those of the results leave room in 64 KiB."""

TEXT_LENGTH_MAX: Final = 300
"""A longer name or value is cut; names of topics have 249 characters at most."""

MEMBERS_MAX: Final = 20
"""A longer list within a change is cut: configs of a topic, replicas of a partition."""


class ChangeList:
    """`changes` are described, `left_out_count` others are not."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.left_out_count = 0
        self._characters_left = CHARACTERS_MAX

    def has_room(self) -> bool:
        """Whether to describe one more change; otherwise it is counted."""
        if self.is_full():
            self.left_out_count += 1
            return False
        return True

    def is_full(self) -> bool:
        """Whether nothing more is described."""
        return len(self.changes) >= CHANGES_MAX or self._characters_left <= 0

    def leave_out(self, count: int) -> None:
        """Count changes that are not described."""
        self.left_out_count += count

    def add(self, change: Change) -> None:
        self.changes.append(change)

    def text(self, value: str | None) -> str | None:
        """A text that a client chose, as it may be in the line."""
        if value is None:
            return None
        shown = shortened(value, max(0, min(TEXT_LENGTH_MAX, self._characters_left)))
        self._characters_left -= len(shown)
        return shown

    def members(self, values: list[int]) -> list[object]:
        """The first members of a list, and how many there are of a longer one."""
        shown: list[object] = list(values[:MEMBERS_MAX])
        self._characters_left -= 4 * len(shown)
        if len(values) > MEMBERS_MAX:
            shown.append(f"... {len(values)} in all")
        return shown
