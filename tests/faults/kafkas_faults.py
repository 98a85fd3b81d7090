"""Planted faults: defects that Kafka's controllers had, each with its issue, and the tests named after it."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

FORMATTING = "tests/kafkas_bugs/test_format.py"
RAFT = "tests/kafkas_bugs/test_raft.py"
NODE = "tests/kafkas_bugs/test_node.py"
CONTROLLER = "tests/kafkas_bugs/test_controller.py"
FEATURES = "tests/controller/test_feature_control.py"
TIMERS = "tests/controller/test_quorum_controller.py::TestTimers"

FAULTS = (
    PlantedFault(
        "observers-do-not-flush",
        "kraftctl/raft/append.py",
        "    if core.log.wants_flush():\n",
        "    if core.key.id not in core.voters.voter_ids():\n"
        "        core.log.flushed(core.log.end_offset)\n"
        "    if core.log.wants_flush():\n",
        (f"{RAFT}::test_an_observer_fetches_from_an_offset_once_it_has_flushed_what_is_before",),
        "KAFKA-17332: an observer that is made a voter acknowledges what it has in memory only.",
    ),
    PlantedFault(
        "observers-ask-their-leader-alone",
        "kraftctl/raft/peer_requests.py",
        "            _send_fetch_to_any_bootstrap(core, but=endpoint)\n        return\n",
        "            assert state.has_leader()\n        return\n",
        (f"{RAFT}::test_an_observer_cut_off_from_its_leader_tries_every_server",),
        "KAFKA-20514: an observer that does not reach its leader never asks another server.",
    ),
    PlantedFault(
        "observers-ask-any-server-although-they-know-the-leader",
        "kraftctl/raft/peer_requests.py",
        "    if leader.is_backing_off():\n        recently_ms",
        "    if leader.backoff_until_ms >= 0:\n        recently_ms",
        (f"{RAFT}::test_an_observer_cut_off_from_its_leader_tries_every_server",),
        "KAFKA-19354: an observer fetches from servers that have nothing for it.",
    ),
    PlantedFault(
        "stale-brokers-are-fenced-together",
        "kraftctl/controller/cluster_control/fence_stale_brokers.py",
        "        result = fencing.next_slice(moment)\n",
        "        result = fencing.next_slice(moment)\n"
        "        self._state.heartbeats.end_session(*incarnation)\n"
        "        while (other := self._next_stale(moment.now_ms)) is not None:\n"
        "            result.records += BrokerFencing(self._state, *other).next_slice(moment).records\n"
        "            self._state.heartbeats.end_session(*other)\n",
        (f"{CONTROLLER}::test_brokers_whose_sessions_end_together_are_fenced_one_after_the_other",),
        "KAFKA-13173: of two brokers that stop together one leads what the other led.",
    ),
    PlantedFault(
        "refused-heartbeats-do-not-count",
        "kraftctl/controller/cluster_control/process_broker_heartbeat.py",
        "    state.heartbeats.update_contact_time(request.broker_id, request.broker_epoch, moment.now_ms)\n",
        "    if _why_directories_refused(request) is None:\n"
        "        state.heartbeats.update_contact_time("
        "request.broker_id, request.broker_epoch, moment.now_ms)\n",
        (f"{CONTROLLER}::test_a_heartbeat_counts_whatever_it_leads_to",),
        "KAFKA-17793: a broker that sends heartbeats is fenced, because the controller cannot use them.",
    ),
    PlantedFault(
        "heartbeats-of-any-incarnation-count",
        "kraftctl/controller/state/broker_heartbeat_manager.py",
        "        state = self._incarnation(broker_id, broker_epoch)\n        if state is not None:\n"
        "            state.contact_ms = now_ms\n",
        "        state = self._brokers.get(broker_id)\n        if state is not None:\n"
        "            state.contact_ms = now_ms\n",
        (f"{CONTROLLER}::test_a_heartbeat_counts_whatever_it_leads_to",),
        "A broker that was replaced keeps the session of its successor alive.",
    ),
    PlantedFault(
        "brokers-are-fenced-before-they-are-heard",
        "kraftctl/controller/cluster_control/stalls.py",
        "        if now_ms - due_ms > STALLED_MS and (not self._ends_ms or self._ends_ms[-1] < now_ms):\n",
        "        if now_ms < due_ms:\n",
        (f"{TIMERS}::test_after_a_stall_of_this_process_brokers_are_heard_first",),
        "KAFKA-17793: all brokers are fenced when one event of the controller takes long.",
    ),
    PlantedFault(
        "caught-up-means-at-the-end-of-the-log",
        "kraftctl/controller/cluster_control/process_broker_heartbeat.py",
        "    registration_offset = state.image.cluster.registration_offsets[request.broker_id]\n",
        "    registration_offset = moment.next_offset - 1\n",
        (f"{CONTROLLER}::test_a_broker_is_unfenced_though_the_log_never_rests",),
        "KAFKA-13959: a broker is never unfenced while the log grows as fast as it reads.",
    ),
    PlantedFault(
        "sessions-of-an-aborted-transaction-stay",
        "kraftctl/controller/quorum_controller.py",
        "                self.state.begin_sessions(self.state.heartbeats.activated_ms)\n",
        "                pass\n",
        (
            "tests/controller/test_quorum_controller.py::TestClaim::test_a_transaction_that_is_aborted_leaves_the_sessions_of_before",
        ),
        "KAFKA-18138: a broker whose fencing was undone with the transaction is never fenced again.",
    ),
    PlantedFault(
        "unfenced-brokers-have-no-session-after-a-failover",
        "kraftctl/controller/state/broker_heartbeat_manager.py",
        "            if not registration.fenced:\n                self.update_contact_time(",
        "            if registration.fenced and not registration.fenced:\n"
        "                self.update_contact_time(",
        ("tests/node/test_node.py::TestRestart::test_a_broker_that_died_during_the_restart_is_fenced",),
        "KAFKA-18138: a broker that died during a failover is never fenced.",
    ),
    PlantedFault(
        "fenced-brokers-have-a-session-after-a-failover",
        "kraftctl/controller/state/broker_heartbeat_manager.py",
        "            if not registration.fenced:\n                self.update_contact_time(",
        "            if registration.id >= 0:\n                self.update_contact_time(",
        (
            "tests/controller/test_quorum_controller.py::TestClaim::test_sessions_start_with_unfenced_brokers_only",
        ),
        "KAFKA-19130: a broker that is restarted with its controller waits for nine seconds.",
    ),
    PlantedFault(
        "sessions-outlive-a-controlled-shutdown",
        "kraftctl/controller/cluster_control/process_broker_heartbeat.py",
        "            heartbeats.end_session(request.broker_id, request.broker_epoch)\n",
        "            pass\n",
        ("tests/controller/test_register_broker.py::test_a_broker_that_shut_down_may_come_back_immediately",),
        "KAFKA-19047: a broker that is restarted quickly is a duplicate of itself for nine seconds.",
    ),
    PlantedFault(
        "features-are-set-that-a-broker-cannot-run",
        "kraftctl/controller/features/feature_control.py",
        '            reason = _why_not_in_range(f"Broker {broker_id}", offered, level)\n',
        "            reason = None\n",
        (f"{FEATURES}::test_a_registered_broker_that_cannot_run_the_level_blocks_it_even_when_dead",),
        "strimzi#10735: a broker of the former release ends at a record that it does not know.",
    ),
    PlantedFault(
        "features-are-set-that-a-controller-cannot-run",
        "kraftctl/controller/features/feature_control.py",
        '            reason = _why_not_in_range(f"Controller {controller_id}", offered, level)\n',
        "            reason = None\n",
        (f"{CONTROLLER}::test_a_registered_controller_that_cannot_run_a_level_blocks_it",),
        "strimzi#10735: a controller of the former release ends at a record that it does not know.",
    ),
    PlantedFault(
        "a-removed-leader-continues-after-its-last-record",
        "kraftctl/controller/quorum_controller.py",
        "        self._next_replay_offset = self._committed_end\n"
        "        self._last_change_offset = NO_OFFSET\n",
        "        self._next_replay_offset = self._last_change_offset + 1\n"
        "        self._last_change_offset = NO_OFFSET\n",
        (f"{CONTROLLER}::test_a_controller_that_removed_itself_keeps_what_is_committed",),
        "KAFKA-17608: KRaftVoters is committed behind the last record that the controller has replayed.",
    ),
    PlantedFault(
        "a-former-leader-counts-bytes-anew",
        "kraftctl/node/controller_node.py",
        "                    self._responses.release(self._controller.renounce())\n",
        "                    self._responses.release(self._controller.renounce())\n"
        "                    self._generator._policy.began(now_ms)\n",
        (
            f"{NODE}::test_leaders_of_short_epochs_still_take_snapshots",
            f"{NODE}::test_voters_that_lead_in_turn_all_take_snapshots",
        ),
        "KAFKA-14300: while leaders change, no snapshot is taken, and the log grows.",
    ),
    PlantedFault(
        "followers-do-not-count-what-they-read",
        "kraftctl/node/metadata_loader.py",
        "                    self._generator.note(header.size_bytes)\n",
        "",
        (f"{NODE}::test_voters_that_lead_in_turn_all_take_snapshots",),
        "KAFKA-14300: a voter that seldom leads keeps its whole log.",
    ),
    PlantedFault(
        "batches-of-a-snapshot-of-any-size",
        "kraftctl/metadata/snapshot_batches.py",
        "size_bytes + len(value) > BATCH_BYTES_MAX // 2\n",
        "size_bytes + len(value) > BATCH_BYTES_MAX * 8\n",
        (f"{NODE}::test_no_batch_of_a_snapshot_is_larger_than_a_reader_s_buffer",),
        "KAFKA-14222: no buffer of Kafka's readers takes a batch of the snapshot.",
    ),
    PlantedFault(
        "batches-of-any-number-of-records",
        "kraftctl/controller/results/batch_limits.py",
        "(index - start >= RECORDS_PER_BATCH_MAX or size + record_size > BATCH_BYTES_MAX)",
        "size + record_size > BATCH_BYTES_MAX",
        (f"{NODE}::test_a_long_result_is_appended_in_batches",),
        "KAFKA-14204: a batch that is too large costs the leader its leadership.",
    ),
    PlantedFault(
        "an-empty-batch-follows-the-last-whole-one",
        "kraftctl/controller/results/batch_limits.py",
        "    if index > 0:\n        ends.append(index)\n",
        "    if index > 0:\n        ends.append(index)\n"
        "    if index > 0 and index % RECORDS_PER_BATCH_MAX == 0:\n        ends.append(index)\n",
        (f"{NODE}::test_a_long_result_is_appended_in_batches",),
        "KAFKA-21129: raft takes no empty batch, and the leader loses its leadership.",
    ),
    PlantedFault(
        "what-no-batch-can-hold-is-an-unknown-error",
        "kraftctl/controller/results/excessive_requests.py",
        '    return excessive(context, request, f"more than {RECORDS_PER_BATCH_MAX} records are needed")\n',
        '    raise OverflowError(f"more than {RECORDS_PER_BATCH_MAX} records are needed")\n',
        (f"{NODE}::test_a_request_for_more_than_a_batch_is_refused",),
        "KAFKA-14996: clients get UNKNOWN_SERVER_ERROR, and repeat the request.",
    ),
    PlantedFault(
        "standalone-is-accepted-in-a-static-quorum",
        "kraftctl/cli/format_storage.py",
        "        if args.standalone or args.initial_controllers is not None:\n",
        "        if args.initial_controllers is not None:\n",
        (f"{FORMATTING}::test_no_node_is_formatted_for_two_kinds_of_quorums",),
        "KAFKA-19489: the flag has no effect, and an operator takes the node for a quorum of its own.",
    ),
    PlantedFault(
        "a-dynamic-quorum-without-any-voters",
        "kraftctl/cli/format_storage.py",
        "    if not args.no_initial_controllers:\n",
        "    if args.no_initial_controllers and args.standalone:\n",
        (f"{FORMATTING}::test_no_node_is_formatted_for_two_kinds_of_quorums",),
        "KAFKA-17794: no node has voters, and the controllers wait for a leader for ever.",
    ),
    PlantedFault(
        "kraft-version-1-in-a-static-quorum",
        "kraftctl/storage/formatter.py",
        "    if asked > 0 and not has_dynamic_quorum:\n",
        "    if asked > 1 and not has_dynamic_quorum:\n",
        (f"{FORMATTING}::test_no_node_is_formatted_for_two_kinds_of_quorums",),
        "KAFKA-19489: a level that the log of a static quorum does not have.",
    ),
)
