"""Planted faults in the fairness of the loop: what waits is read first, heartbeats do not wait."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

NEXT_DEADLINE = "tests/controller/test_next_deadline.py"
NODE_LOOP = "tests/server/loop/test_node_loop.py"
RAFT = "tests/raft/test_late_deadlines.py"
SESSIONS = "tests/node/test_late_deadlines.py"
SOCKETS = "tests/server/process/test_sockets_first.py"
WAITING = "tests/server/loop/test_waiting_requests.py"

FAULTS = (
    PlantedFault(
        "any-event-ends-timeouts-of-raft",
        "kraftctl/raft/raft_node.py",
        "        if is_deadline:\n            run_timers(core)\n",
        "        run_timers(core)\n",
        (RAFT,),
        "A leader resigns, and a follower asks for votes, before they read the Fetch or answer that waits.",
    ),
    PlantedFault(
        "any-event-ends-sessions",
        "kraftctl/node/controller_node.py",
        "        if is_deadline:\n            self._run_due_tasks(now_ms, wall_ms)\n",
        "        self._run_due_tasks(now_ms, wall_ms)\n        if is_deadline:\n",
        (SESSIONS,),
        "KAFKA-17793: the first heartbeat that is read after a pause ends the sessions of the others.",
    ),
    PlantedFault(
        "any-event-ends-the-time-of-a-request",
        "kraftctl/raft/peer_requests.py",
        "        return\n    state = core.state\n    if isinstance(state, Leader):\n",
        "        return\n    core.peers.expire(core.now_ms, core.config.retry_backoff_ms)\n"
        "    state = core.state\n    if isinstance(state, Leader):\n",
        (RAFT,),
        "The answer of the leader waits in the socket, and is of no request any more.",
    ),
    PlantedFault(
        "deadlines-before-sockets",
        "kraftctl/server/loop/node_loop.py",
        "        self._scheduler.call_after_sockets(partial(self._sockets_were_read, due))\n",
        "        self._sockets_were_read(due)\n",
        (NODE_LOOP, SESSIONS),
        "KAFKA-17793: uvloop runs timers before it polls the sockets.",
    ),
    PlantedFault(
        "deadlines-overtake-what-came-during-a-pause",
        "kraftctl/server/loop/node_loop.py",
        "            if event.repeats_left > 0 and unread_ms > UNREAD_MS_MAX:\n",
        "            if False:\n",
        (NODE_LOOP,),
        "A deadline waits for the disk in front of the heartbeats that come meanwhile.",
    ),
    PlantedFault(
        "deadlines-are-put-off-for-ever",
        "kraftctl/server/loop/node_loop.py",
        "            if event.repeats_left > 0 and unread_ms",
        "            if unread_ms",
        (NODE_LOOP,),
        "A loop that is always busy fences no broker.",
    ),
    PlantedFault(
        "an-earlier-deadline-waits-for-the-timer",
        "kraftctl/server/loop/node_loop.py",
        "        if deadline_ms is None or deadline_ms >= self._timer_ms:\n",
        "        if deadline_ms is None or self._timer is not None:\n",
        (NODE_LOOP,),
        "A standby whose leader resigns waits for the deadline that was known before.",
    ),
    PlantedFault(
        "a-timer-that-ran-early-is-not-set-again",
        "kraftctl/server/loop/node_loop.py",
        "            self._set_timer()\n            return\n        self._reads_sockets = True\n",
        "            return\n        self._reads_sockets = True\n",
        (NODE_LOOP,),
        "The deadline became later, and nothing reports it until the next event.",
    ),
    PlantedFault(
        "sessions-are-looked-at-when-the-oldest-ends",
        "kraftctl/controller/periodic_tasks.py",
        "        self._look_ms = min(self._first_expiry_ms(), next_session_ms)\n",
        "        self._look_ms = self._first_expiry_ms()\n",
        (NEXT_DEADLINE,),
        "A broker that is unfenced while there is no session is never fenced again.",
    ),
    PlantedFault(
        "stalls-hide-sessions",
        "kraftctl/controller/periodic_tasks.py",
        "        sessions_ms = self._first_expiry_ms() if self._stalls.matter else self._look_ms\n",
        "        sessions_ms = self._look_ms\n",
        (NEXT_DEADLINE,),
        "After a stall, the session of a broker that is heard again and then silent ends too late.",
    ),
    PlantedFault(
        "one-turn-of-uvloop",
        "kraftctl/server/process/sockets_first.py",
        "TURNS: Final = 3\n",
        "TURNS: Final = 1\n",
        (SOCKETS,),
        "The first turn comes before the poll.",
    ),
    PlantedFault(
        "tasks-after-sockets-have-no-turn",
        "kraftctl/server/process/sockets_first.py",
        "TURNS: Final = 3\n",
        "TURNS: Final = 2\n",
        (SOCKETS,),
        "What was read of an answer is not looked at before its time ends.",
    ),
    PlantedFault(
        "time-ends-before-the-answer-is-read",
        "kraftctl/server/process/sockets_first.py",
        "        timer = loop.call_at(deadline, call_after_sockets, loop, expire)\n",
        "        timer = loop.call_at(deadline, expire)\n",
        (SOCKETS,),
        "A controller that was suspended closes its connections to the others.",
    ),
    PlantedFault(
        "downloads-end-the-fetch-timeout",
        "kraftctl/raft/download_snapshot.py",
        "        state.restart_fetch_timer(core.fetch_deadline_ms())\n",
        "",
        ("tests/raft/test_snapshot_download.py",),
        "A voter that has just downloaded a large snapshot looks for another leader.",
    ),
    PlantedFault(
        "downloads-are-decoded-in-the-end",
        "kraftctl/server/process/snapshot_downloads.py",
        "        self._check.take(data)\n",
        "",
        ("tests/server/process/test_snapshot_downloads.py",),
        "A replica neither votes nor fetches for seconds after it has downloaded a large snapshot.",
    ),
    PlantedFault(
        "a-download-is-checked-from-its-second-batch-on",
        "kraftctl/storage/download_check.py",
        "        return self._is_sound and not self._unfinished\n",
        "        return not self._unfinished\n",
        ("tests/storage/test_download_check.py", "tests/server/process/test_snapshot_downloads.py"),
        "A record that cannot be decoded takes the place of the log.",
    ),
    PlantedFault(
        "requests-of-all-sockets-in-one-turn",
        "kraftctl/server/loop/waiting_requests.py",
        "        has_turn = not busy and not self._requests and self._spent_ns < TURN_NS\n",
        "        has_turn = True\n",
        (WAITING,),
        "KAFKA-17793: a heartbeat waits for the requests of a hundred brokers.",
    ),
    PlantedFault(
        "heartbeats-wait-like-other-requests",
        "kraftctl/server/loop/waiting_requests.py",
        "    return request.context.api.key in URGENT_API_KEYS\n",
        "    return request.context.api.key in RAFT_API_KEYS\n",
        (WAITING,),
        "KAFKA-17793: they stand behind the requests of administrators.",
    ),
    PlantedFault(
        "waiting-requests-overtake-each-other",
        "kraftctl/server/loop/waiting_requests.py",
        "        has_turn = not busy and not self._requests and",
        "        has_turn = not busy and",
        (WAITING,),
        "The one that has waited longest may wait for ever.",
    ),
    PlantedFault(
        "waiting-requests-of-closed-connections-stay",
        "kraftctl/server/loop/node_loop.py",
        "        elif not isinstance(event, events.RequestCancelled) or not self._waiting.remove("
        "event.request_id):\n",
        "        else:\n",
        (WAITING,),
        "A client that connects again and again fills the memory with requests.",
    ),
    PlantedFault(
        "effects-are-held-until-the-next-event",
        "kraftctl/server/loop/node_loop.py",
        "        self._effects = NO_EFFECTS\n        if may_stop(self._node):\n",
        "        if may_stop(self._node):\n",
        (NODE_LOOP,),
        "The last answer before a quiet time stays in memory.",
    ),
    PlantedFault(
        "requests-that-waited-for-a-disk-have-no-turn",
        "kraftctl/server/loop/node_loop.py",
        "        self._drain(None)\n        if self._waiting:\n            self._ask_for_turn()\n",
        "        self._drain(None)\n",
        (WAITING,),
        "They wait until another request comes.",
    ),
)
