"""Planted faults in what observers wait for, and in the answers that several of them share."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

TRANSCRIPTS = "tests/raft/test_datadriven.py"
WAKES = "tests/raft/test_observer_wakes.py"

FAULTS = (
    PlantedFault(
        "observers-are-answered-before-the-client",
        "kraftctl/raft/append.py",
        "        core.raise_high_watermark(leader.high_watermark)\n",
        "        from kraftctl.raft.fetch_answer import wake_observers_if_due\n"
        "        leader.wake_observers_at(core.now_ms)\n"
        "        wake_observers_if_due(core)\n"
        "        core.raise_high_watermark(leader.high_watermark)\n",
        (WAKES,),
        "The client whose change is committed waits for the answers of all observers.",
    ),
    PlantedFault(
        "an-observer-that-waits-for-the-interval-is-forgotten",
        "kraftctl/raft/fetch_answer.py",
        "            leader.wake_observers_at(fetch.gathers_until_ms())\n",
        "            pass\n",
        (TRANSCRIPTS,),
        "Brokers learn of a change when the next one is committed, or after half a second.",
    ),
    PlantedFault(
        "a-fetch-that-waits-for-the-interval-is-forgotten",
        "kraftctl/raft/handle_fetch.py",
        "        leader.wake_observers_at(fetch.gathers_until_ms())\n",
        "",
        (TRANSCRIPTS,),
        "The same, of a change that was committed before the Fetch arrived.",
    ),
    PlantedFault(
        "observers-have-no-deadline",
        "kraftctl/raft/timers.py",
        "    if isinstance(state, Leader) and state.observers_due_ms < deadline_ms:\n",
        "    if isinstance(state, Leader) and state.observers_due_ms < 0:\n",
        (TRANSCRIPTS,),
        "The same: nothing happens when the interval is over.",
    ),
    PlantedFault(
        "every-change-wakes-every-observer",
        "kraftctl/raft/fetch_answer.py",
        "    return fetch.gathers_until_ms() > core.now_ms\n",
        "    return False\n",
        (TRANSCRIPTS,),
        "A storm of changes costs a Fetch of each observer for each change.",
    ),
    PlantedFault(
        "observers-that-catch-up-wait-for-the-interval",
        "kraftctl/raft/replica_state.py",
        "        return self._gathers_until_ms if fetch_offset >= self._answered_end_offset else 0\n",
        "        return self._gathers_until_ms\n",
        (TRANSCRIPTS,),
        "A broker that starts reads a part of the log in each interval, whatever the disks can do.",
    ),
    PlantedFault(
        "voters-wait-for-the-interval",
        "kraftctl/raft/handle_fetch.py",
        "    else:\n        fetch.observer = replica\n",
        "    fetch.observer = replica\n",
        (WAKES,),
        "Commits take a millisecond longer.",
    ),
)
