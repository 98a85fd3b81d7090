"""Faults of probes and metrics."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

DRIVER = "tests/server/controllers/test_driver.py"

FAULTS = [
    PlantedFault(
        "ready-without-a-leader-from-the-start",
        "kraftctl/raft/progress.py",
        "    if core.progress.has_progressed and lasts_ms < grace_ms(core):\n",
        "    if lasts_ms < grace_ms(core):\n",
        ("tests/raft/test_readiness_of_quorums.py::test_it_is_not_ready_before_there_was_a_leader",),
        "A pod is ready before its controller has found a leader.",
    ),
    PlantedFault(
        "an-election-is-no-grace",
        "kraftctl/raft/progress.py",
        "    if core.progress.has_progressed and lasts_ms < grace_ms(core):\n",
        "    if core.progress.has_progressed and lasts_ms < 0:\n",
        ("tests/raft/test_readiness_of_quorums.py::test_a_clean_election_makes_nobody_unready",),
        "Each restart of a leader makes all controllers unready.",
    ),
    PlantedFault(
        "metrics-of-what-is-not-committed",
        "kraftctl/operate/committed_counts.py",
        "        if controller.active and counts.end_offset > high_watermark:\n",
        "        if controller.active and counts.end_offset < 0:\n",
        ("tests/operate/test_committed_counts.py::test_what_is_not_committed_is_not_counted",),
        "Dashboards show topics that are never created (KAFKA-14457).",
    ),
    PlantedFault(
        "counts-of-a-former-leader-are-used",
        "kraftctl/operate/committed_counts.py",
        "waiting.epoch == epoch and waiting.end_offset <= high_watermark:\n",
        "waiting.end_offset <= high_watermark + 10:\n",
        ("tests/operate/test_committed_counts.py::test_what_a_former_leader_had_counted_is_dropped",),
        "Dashboards show what was undone with a leadership.",
    ),
    PlantedFault(
        "a-restart-needs-no-majority",
        "kraftctl/operate/restart.py",
        "    needed = len(voters) // 2 + 1\n",
        "    needed = len(others) // 2 + 1\n",
        ("tests/operate/test_restart.py::test_the_others_have_to_be_a_majority",),
        "A rolling restart of four voters stops the quorum.",
    ),
    PlantedFault(
        "silent-connections-keep-probes-out",
        "kraftctl/operate/listener.py",
        "            oldest = next(iter(self._connections))\n",
        "            accepted.close()\n            return\n",
        ("tests/operate/test_hostile_requests.py::test_silent_connections_keep_no_probe_out",),
        "Thirty-two connections that say nothing have a live controller restarted.",
    ),
    PlantedFault(
        "a-flood-is-accepted-without-a-pause",
        "kraftctl/operate/listener.py",
        "            await asyncio.sleep(0)\n",
        "",
        ("tests/operate/test_hostile_requests.py::test_a_full_backlog_keeps_to_the_limit",),
        "While clients are in the backlog, connections beyond the limit are opened and none of them ends.",
    ),
    PlantedFault(
        "calls-pile-up-on-a-stuck-loop",
        "kraftctl/operate/loop_calls.py",
        "        self._waiting[kind] = future\n",
        "",
        ("tests/operate/test_loop_calls.py::test_a_stuck_loop_has_one_call_of_a_kind_to_make",),
        "A loop that was stuck for minutes carries out each scrape that was given up.",
    ),
    PlantedFault(
        "a-late-response-reaches-raft",
        "kraftctl/server/driver.py",
        "        if asked is None:\n",
        "        if asked is None or asked.done():\n",
        (f"{DRIVER}::test_the_response_to_a_question_that_was_given_up_is_dropped",),
        "Raft gets the response to a request that it never sent.",
    ),
    PlantedFault(
        "reasons-without-the-token",
        "kraftctl/operate/pages.py",
        "            return _probe_response(name, reasons, shows_reasons=is_bearer)\n",
        "            return _probe_response(name, reasons, shows_reasons=True)\n",
        ("tests/operate/test_hostile_requests.py::test_reasons_are_for_bearers_of_the_token",),
        "Anybody who reaches the probes learns the addresses of all controllers.",
    ),
    PlantedFault(
        "the-total-of-leaderless-partitions-grows",
        "kraftctl/image/topics_image.py",
        "            self.leaderless_count += step\n",
        "            self.leaderless_count += 1\n",
        ("tests/image/test_default_values.py::test_it_is_undone_to_what_it_was",),
        "Boards show offline partitions where there are none.",
    ),
]
