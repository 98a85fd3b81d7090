"""Planted faults in work that is cut into slices, which the simulator has to notice."""

from __future__ import annotations

from tests.faults.simulated_fault import SimulatedFault, known, planted

RUNS_MAX = 80
"""A run with large brokers takes as long as several others."""


def sliced(name: str) -> SimulatedFault:
    """A fault that tests of slices notice."""
    return known(name, "slices", RUNS_MAX)


FAULTS: tuple[SimulatedFault, ...] = (
    sliced("rest-of-a-transition-is-skipped-after-a-failover"),
    sliced("shutdown-is-taken-for-finished-after-a-failover"),
    sliced("slice-is-repeated"),
    sliced("fenced-with-the-first-slice"),
    sliced("leaving-never-ends"),
    sliced("a-part-of-a-snapshot-is-skipped"),
    planted(
        "a-slice-begins-behind-its-place",
        "kraftctl/controller/replication_control/partition_walk.py",
        "        updates.begin_topic(topic)\n",
        "        updates.begin_topic(topic)\n"
        "        self._next_index = min(self._next_index + (self._next_index > 0), len(self._indexes))\n",
        "Of each slice of elections one partition is passed over, and has no leader.",
        "slices",
        RUNS_MAX,
    ),
    planted(
        "a-load-skips-the-rest-of-a-batch",
        "kraftctl/node/snapshot_loading.py",
        "            elif self._replay.replay_some(left):\n                self._end_batch()\n",
        "            else:\n                self._replay.replay_some(left)\n"
        "                self._end_batch()\n",
        "A controller lacks what a turn of its load had no time for.",
        "slices",
        RUNS_MAX,
    ),
    planted(
        "a-load-begins-a-part-anew",
        "kraftctl/node/snapshot_loading.py",
        "            self._parts.popleft()\n            self._position = 0\n",
        "            self._position = 0\n            if self._replay.spent % 3:\n"
        "                self._parts.popleft()\n",
        "A load never ends, or what it replays again is counted twice.",
        "slices",
        RUNS_MAX,
    ),
)
