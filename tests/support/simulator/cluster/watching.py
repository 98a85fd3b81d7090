"""Checks around a node and its executor, and the place where a process ends between two effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from kraftctl.node.controller_node import ControllerNode
from kraftctl.node.events import NodeEffect, NodeEvent, TakeTurn
from kraftctl.raft import effects, events
from kraftctl.server.loop.effect_executor import EffectExecutor
from kraftctl.server.loop.executor_protocols import RetentionDue
from tests.support.simulator.checks.answered_requests import ANSWERS, answered_ids
from tests.support.simulator.checks.checks import Checks
from tests.support.simulator.checks.early_election_checks import EarlyElectionChecks
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.checks.signs_of_life import SignsOfLife
from tests.support.simulator.checks.slices_seen import SlicesSeen
from tests.support.simulator.cluster.effect_lines import effect_line, event_line

COUNTED: dict[type[object], str] = {
    events.SnapshotCreated: "snapshots written",
    events.SnapshotDownloaded: "snapshots downloaded",
    events.LogStartChanged: "logs trimmed",
}


class Watched(ProcessView, Protocol):
    """The process, as it is watched."""

    counts: Counter[str]
    trace: list[str] | None
    on_election: Callable[[], None]

    @property
    def on_effect(self) -> Callable[[Any, NodeEffect], None] | None: ...

    def note(self, line: str) -> None: ...

    def take_turn_later(self, take: Callable[[], None]) -> None: ...


class PlannedEnd:
    """The process ends before or after one of its next effects: the rest of that step never happens."""

    def __init__(
        self,
        effects_left: int,
        kind: type[object] | tuple[type[object], ...] | None,
        *,
        before: bool,
        end: Callable[[], None],
    ) -> None:
        self.effects_left = effects_left
        self.kind = kind
        self.before = before
        self.end = end

    def is_due(self, effect: object, *, before: bool) -> bool:
        """Call it once before and once after each effect."""
        if before is not self.before or (self.kind is not None and not isinstance(effect, self.kind)):
            return False
        self.effects_left -= 1
        return self.effects_left <= 0


class WatchedNode:
    """The node, with checks after each of its steps."""

    def __init__(
        self,
        process: Watched,
        node: ControllerNode,
        checks: Checks,
        signs: SignsOfLife,
        elections: EarlyElectionChecks,
    ) -> None:
        self._process = process
        self._node = node
        self._checks = checks
        self._signs = signs
        self._elections = elections
        self._slices = SlicesSeen(node.controller, process.counts)

    def ends(self) -> None:
        """The process does."""
        self._slices.lost()

    @property
    def next_deadline_ms(self) -> int | None:
        return self._node.next_deadline_ms

    @property
    def may_stop(self) -> bool:
        return self._node.may_stop

    def step(self, event: NodeEvent, now_ms: int, wall_ms: int) -> list[NodeEffect]:
        if self._process.trace is not None:
            self._process.note(f"event {event_line(event)}")
        kind = type(event)
        if kind in COUNTED:
            self._process.counts[COUNTED[kind]] += 1
        self._signs.before_step(event, now_ms)
        self._slices.before_step(event)
        wanted = self._node.step(event, now_ms, wall_ms)
        self._slices.after_step()
        self._checks.stepped(self._process, event)
        self._signs.after_step(now_ms)
        self._elections.after_step(now_ms)
        return wanted


class WatchedExecutor:
    """The executor, with checks around each effect, and the place where a process ends between two."""

    def __init__(
        self, process: Watched, executor: EffectExecutor, checks: Checks, signs: SignsOfLife
    ) -> None:
        self._process = process
        self._executor = executor
        self._checks = checks
        self._signs = signs
        self.planned_end: PlannedEnd | None = None
        self._answered: set[int] = set()

    @property
    def paused(self) -> bool:
        return self._executor.paused

    @property
    def unreadable(self) -> BaseException | None:
        return self._executor.unreadable

    def execute(self, effect: NodeEffect | RetentionDue) -> None:
        planned = self.planned_end
        if planned is not None and planned.is_due(effect, before=True):
            planned.end()
            return
        if isinstance(effect, RetentionDue):
            self._executor.execute(effect)
            return
        if self._process.trace is not None:
            self._process.note(effect_line(effect))
        if self._process.on_effect is not None:
            self._process.on_effect(self._process, effect)
        self._checks.before(self._process, effect)
        if isinstance(effect, ANSWERS):
            self._signs.answered(effect)
            for request_id in answered_ids(effect):
                self._note_answer(request_id)
        if isinstance(effect, TakeTurn):
            self._process.take_turn_later(partial(self._executor.execute, effect))
        else:
            self._executor.execute(effect)
        if isinstance(effect, effects.WriteQuorumState) and effect.state.leader_id == self._process.node_id:
            self._process.on_election()
        if planned is not None and planned.is_due(effect, before=False):
            planned.end()

    def _note_answer(self, request_id: int) -> None:
        """The network would ignore a second one."""
        assert request_id not in self._answered, (
            f"AnsweredOnce: {self._process.node_id} answers request {request_id} again"
        )
        self._answered.add(request_id)
