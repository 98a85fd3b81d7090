"""What happens between two slices: a controller ends or loses its majority, brokers go together."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

from kraftctl.node.events import TakeTurn
from kraftctl.node.long_work import LOADING, SLICES, SNAPSHOT
from tests.support.simulator.brokers.brokers import ModelBroker
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.watching import PlannedEnd

TURNS = (1, 1, 2, 3, 5, 10)
"""The turn after which it happens, counted from now on."""

Action = Callable[[ControllerProcess], None]


class PlannedTurn(PlannedEnd):
    """Something happens once a process has asked for so many turns of this `work`."""

    def __init__(self, work: str, turns_left: int, end: Callable[[], None]) -> None:
        super().__init__(turns_left, TakeTurn, before=False, end=end)
        self._work = work

    def is_due(self, effect: object, *, before: bool) -> bool:
        if not isinstance(effect, TakeTurn) or effect.work != self._work:
            return False
        return super().is_due(effect, before=before)


class SliceHappenings:
    """`table` has them by their names in plans; each takes what decides about everything that is open."""

    def __init__(self, cluster: Cluster, brokers: Sequence[ModelBroker]) -> None:
        self._cluster = cluster
        self._brokers = brokers

    def table(self) -> dict[str, Callable[[random.Random], bool]]:
        kill, stop, freeze = ControllerProcess.kill, ControllerProcess.stop, ControllerProcess.freeze
        return {
            "kill between slices": partial(self._after_turns, SLICES, kill),
            "stop between slices": partial(self._after_turns, SLICES, stop),
            "freeze between slices": partial(self._after_turns, SLICES, freeze),
            "isolate between slices": partial(self._after_turns, SLICES, self._isolate),
            "kill while it loads": partial(self._after_turns, LOADING, kill),
            "kill while it writes a snapshot": partial(self._after_turns, SNAPSHOT, kill),
            "kill brokers": partial(self._with_brokers, ModelBroker.kill),
            "shut down brokers": partial(self._with_brokers, ModelBroker.shut_down),
            "cut off brokers": partial(self._with_brokers, self._cut_off),
        }

    def _after_turns(self, work: str, action: Action, rng: random.Random) -> bool:
        """At the first process that gets there: for slices, the active controller. One plan at a time."""
        running = [each for each in self._cluster.running() if each.watched.planned_end is None]
        turns = rng.choice(TURNS)

        def act(process: ControllerProcess) -> None:
            for other in self._cluster.running():
                other.watched.planned_end = None
            self._cluster.counts[f"{action.__name__.strip('_')} in {work}"] += 1
            action(process)

        for process in running:
            process.watched.planned_end = PlannedTurn(work, turns, partial(act, process))
        return bool(running)

    def _isolate(self, process: ControllerProcess) -> None:
        self._cluster.isolate(process.node_id)

    def _with_brokers(self, action: Callable[[ModelBroker], None], rng: random.Random) -> bool:
        """Some, at the same time; at least one stays."""
        for broker in rng.sample(list(self._brokers), rng.randint(1, len(self._brokers) - 1)):
            action(broker)
        return True

    def _cut_off(self, broker: ModelBroker) -> None:
        """From all controllers, as long as nothing is repaired."""
        client = f"broker-{broker.broker_id}"
        self._cluster.wire.cut |= {(client, node_id) for node_id in self._cluster.processes}
