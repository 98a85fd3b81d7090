"""Planted faults in what observers wait for, and in the responses that several of them share."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

TRANSCRIPTS = "tests/raft/test_datadriven.py"
SHARED = "tests/server/loop/test_shared_responses.py"
WAKES = "tests/raft/test_observer_wakes.py"

FAULTS = (
    PlantedFault(
        "observers-are-answered-before-the-client",
        "kraftctl/raft/append.py",
        "        core.raise_high_watermark(leader.high_watermark)\n",
        "        from kraftctl.raft.respond_fetch import wake_observers_if_due\n"
        "        leader.wake_observers_at(core.now_ms)\n"
        "        wake_observers_if_due(core)\n"
        "        core.raise_high_watermark(leader.high_watermark)\n",
        (WAKES,),
        "The client whose change is committed waits for the responses of all observers.",
    ),
    PlantedFault(
        "an-observer-that-waits-for-the-interval-is-forgotten",
        "kraftctl/raft/respond_fetch.py",
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
        "min(deadline_ms, min(state.observers_due_ms, state.round_due_ms))\n",
        "min(deadline_ms, state.round_due_ms)\n",
        (TRANSCRIPTS,),
        "The same: nothing happens when the interval is over.",
    ),
    PlantedFault(
        "every-change-wakes-every-observer",
        "kraftctl/raft/respond_fetch.py",
        "    return fetch.gathers_until_ms() > core.now_ms\n",
        "    return False\n",
        (TRANSCRIPTS, WAKES),
        "A storm of changes costs a Fetch of each observer for each change.",
    ),
    PlantedFault(
        "many-observers-ask-as-often-as-few",
        "kraftctl/raft/respond_fetch.py",
        "    return max(shortest_ms, min(shared_ms, OBSERVER_FETCH_INTERVAL_MS_MAX))\n",
        "    return shortest_ms\n",
        (WAKES,),
        "In a storm of changes a controller of 100 brokers does nothing but answer their fetches.",
    ),
    PlantedFault(
        "no-interval-is-an-interval-of-many",
        "kraftctl/raft/respond_fetch.py",
        "    if shortest_ms == 0:\n        return 0\n",
        "",
        (WAKES,),
        "kraftctl.observer.fetch.interval.ms=0 has no effect with more than three brokers.",
    ),
    PlantedFault(
        "the-interval-grows-without-bound",
        "kraftctl/raft/respond_fetch.py",
        "    return max(shortest_ms, min(shared_ms, OBSERVER_FETCH_INTERVAL_MS_MAX))\n",
        "    return max(shortest_ms, shared_ms)\n",
        (WAKES,),
        "A client that fetches under 4,000 ids delays what brokers see by a second.",
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
    PlantedFault(
        "observers-get-what-the-first-of-them-asked-for",
        "kraftctl/raft/respond_fetch.py",
        "            wanted = (fetch.fetch_offset, fetch.max_bytes, fetch.version, fetch.listener_name)\n",
        "            wanted = (0, fetch.max_bytes, fetch.version, fetch.listener_name)\n",
        (WAKES,),
        "A broker gets records that do not continue its log, and asks again without end.",
    ),
    PlantedFault(
        "observers-of-any-version-share-an-answer",
        "kraftctl/raft/respond_fetch.py",
        "            wanted = (fetch.fetch_offset, fetch.max_bytes, fetch.version, fetch.listener_name)\n",
        "            wanted = (fetch.fetch_offset, fetch.max_bytes, 0, fetch.listener_name)\n",
        (WAKES,),
        "An older broker gets no response, and its connection is closed: it does not know these fields.",
    ),
    PlantedFault(
        "only-the-first-of-those-that-share-is-answered",
        "kraftctl/server/loop/replica_reads.py",
        "        shared = SharedResponse(effect.response_with(records))\n"
        "        for request_id in request_ids:\n",
        "        shared = SharedResponse(effect.response_with(records))\n"
        "        for request_id in request_ids[:1]:\n",
        (SHARED,),
        "The other observers wait until their connections time out.",
    ),
    PlantedFault(
        "long-answers-are-shared-as-well",
        "kraftctl/server/loop/replica_reads.py",
        "        if len(request_ids) == 1 or len(records) >= RECORDS_BYTES_MIN:\n"
        "            # Long records are sent as they are, without a copy.\n"
        "            for request_id in request_ids:\n"
        "                self._respond_with(request_id, effect, records)\n",
        "        if len(request_ids) == 1 or len(records) >= RECORDS_BYTES_MIN:\n"
        "            effect.response_with(records)\n"
        "            for request_id in request_ids:\n"
        "                self._network.respond(request_id, effect.response)\n",
        (SHARED,),
        "The second observer gets what took the place of the records while the first answer was encoded.",
    ),
    PlantedFault(
        "an-encoding-is-shared-between-versions",
        "protocol/kraftctl_protocol/shared_response.py",
        "        if self._version != version:\n",
        "        if self._version == NO_VERSION:\n",
        (SHARED,),
        "A replica gets a response in a version that it does not know.",
    ),
)
