"""Which work is cut into slices, and what becomes of it: counted, so that a summary shows what runs reach."""

from __future__ import annotations

from collections import Counter

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.controller_result import SlicedWork
from kraftctl.node.events import NodeEvent, TurnTaken
from kraftctl.node.long_work import LOADING, SLICES


class SlicesSeen:
    """Of one process. Call `before_step` and `after_step` around each step, `lost` when the process ends."""

    def __init__(self, controller: QuorumController, counts: Counter[str]) -> None:
        self._controller = controller
        self._counts = counts
        self._under_way: list[str] = []

    def before_step(self, event: NodeEvent) -> None:
        self._under_way = self._kinds()
        if not isinstance(event, TurnTaken):
            return
        if event.work == LOADING:
            self._counts["turns of loading"] += 1
        if event.work == SLICES and self._under_way:
            self._counts[f"slices of {self._under_way[0]}"] += 1
            self._counts["slices beside other work"] += len(self._under_way) > 1
            self._counts["slices while several brokers leave"] += len(self._leaving()) > 1

    def after_step(self) -> None:
        if self._under_way and not self._controller.active:
            self.lost()
        self._under_way = []

    def lost(self) -> None:
        """Another controller has to continue."""
        for kind in self._under_way or self._kinds():
            self._counts[f"failovers during {kind}"] += 1

    def _kinds(self) -> list[str]:
        controller = self._controller
        if not controller.has_work:
            return []
        return [_name_of(progress.work) for progress in controller._works._works]

    def _leaving(self) -> dict[int, list[int]]:
        return self._controller.state.heartbeats.leaving._epochs


def _name_of(work: SlicedWork) -> str:
    """Its class; of the class of an API, which is private to its module, the module."""
    kind = type(work)
    return kind.__module__.rpartition(".")[2] if kind.__name__.startswith("_") else kind.__name__
