"""Several changes of soft state that belong to one result."""

from __future__ import annotations

from kraftctl.controller.results.controller_result import SoftChange


class SoftChanges(SoftChange):
    """Made in this order."""

    def __init__(self, changes: list[SoftChange]) -> None:
        self._changes = changes

    @property
    def appends_records(self) -> bool:
        return any(change.appends_records for change in self._changes)

    def make(self) -> None:
        for change in self._changes:
            change.make()
