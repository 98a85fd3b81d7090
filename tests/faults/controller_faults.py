"""Planted faults on the way from a handler's records to its response: node and controller."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

NODE = "tests/node/test_node.py"

FAULTS = (
    PlantedFault(
        "a-shutdown-is-allowed-before-it-is-committed",
        "kraftctl/controller/quorum_controller.py",
        "        if not self.active or self._last_change_offset <= stable_offset:\n",
        '        if getattr(response, "should_shut_down", False):\n'
        "            return False\n"
        "        if not self.active or self._last_change_offset <= stable_offset:\n",
        ("tests/node/test_what_waits.py::test_a_shutdown_that_an_uncommitted_fencing_allows_waits_for_it",),
        "A broker stops while one still names it as a leader, whose fencing was lost with the leadership.",
    ),
    PlantedFault(
        "a-fenced-broker-may-stop-whatever-is-not-committed",
        "kraftctl/controller/quorum_controller.py",
        "        if api.waits_for == WaitsFor.READS and not _may_stop(response):\n",
        "        if api.waits_for == WaitsFor.READS:\n",
        ("tests/node/test_what_waits.py::test_a_fenced_broker_that_may_stop_waits_for_changes_of_others",),
        "It stops for what may be lost with the leadership.",
    ),
    PlantedFault(
        "heartbeats-announce-what-is-not-committed",
        "kraftctl/controller/request_handlers.py",
        "    return [image.cluster.brokers], request.broker_id\n",
        "    return [], request.broker_id\n",
        ("tests/node/test_what_waits.py",),
        "A broker begins to serve clients, and the next controller has it fenced.",
    ),
    PlantedFault(
        "heartbeats-wait-for-changes-of-other-brokers",
        "kraftctl/controller/request_handlers.py",
        "    return [image.cluster.brokers], request.broker_id\n",
        "    return [image.cluster.brokers], EVERY_KEY\n",
        ("tests/node/test_what_waits.py::test_a_heartbeat_waits_for_no_change_of_another_broker",),
        "While a hundred brokers are fenced, each heartbeat waits for the flush of a thousand records.",
    ),
    PlantedFault(
        "a-read-waits-for-all-before-it",
        "kraftctl/controller/quorum_controller.py",
        "            offset = changed\n",
        "            offset = self._last_change_offset\n",
        (
            "tests/node/test_what_waits.py::test_a_heartbeat_waits_for_nothing_behind_the_change_of_its_broker",
        ),
        "A heartbeat waits for the flush of slices that have nothing to do with its broker.",
    ),
    PlantedFault(
        "the-session-of-a-removed-broker-stays-the-oldest",
        "kraftctl/controller/state/broker_heartbeat_manager.py",
        "        self._brokers.pop(broker_id, None)\n        self._oldest = None\n",
        "        self._brokers.pop(broker_id, None)\n",
        (
            "tests/controller/test_broker_heartbeat.py::TestManager::test_the_oldest_session_ends_with_its_incarnation",
        ),
        "While a broker that is gone counts as the oldest, silent ones are not fenced.",
    ),
    PlantedFault(
        "slices-of-one-work-follow-each-other",
        "kraftctl/controller/sliced_works.py",
        "self._works.append(work)",
        "self._works.appendleft(work)",
        ("tests/node/test_long_work.py",),
        "A small request waits until a broker with very many partitions is fenced.",
    ),
    PlantedFault(
        "slices-outlive-the-leadership",
        "kraftctl/controller/sliced_works.py",
        "        self._works.clear()\n",
        "",
        ("tests/node/test_long_work.py",),
        "A later leadership continues work that was planned on a state that is undone.",
    ),
    PlantedFault(
        "a-failed-slice-is-tried-for-ever",
        "kraftctl/controller/quorum_controller.py",
        "            work.failed(moment)\n",
        "            self._works.add(progress)\n            work.failed(moment)\n",
        ("tests/node/test_long_work.py",),
        "The request is refused again and again, and the loop has no rest.",
    ),
    PlantedFault(
        "answer-before-commit",
        "kraftctl/node/response_delivery.py",
        "        if not self._controller.park(pending, now_ms):\n            self.respond(pending)\n",
        "        self.respond(pending)\n",
        (NODE,),
        "A response confirms a topic that a failover removes again.",
    ),
    PlantedFault(
        "no-controller-is-named-during-an-election",
        "kraftctl/controller/quorum_controller.py",
        "        if leader_id >= 0:\n            self.state.leader_id = leader_id\n",
        "        self.state.leader_id = leader_id\n",
        ("tests/node/test_quorum.py::test_an_admin_client_is_sent_to_the_last_leader_during_an_election",),
        "An admin client waits for a minute, long after a leader was elected.",
    ),
    PlantedFault(
        "undo-journal-is-not-replayed",
        "kraftctl/controller/quorum_controller.py",
        "        self.image.journal.rollback_to(self._committed_end)\n",
        "",
        ("tests/node/test_quorum.py::test_what_a_deposed_leader_could_not_commit_is_gone_and_refused",),
        "KAFKA-13148: a former leader keeps in its image what was never committed.",
    ),
    PlantedFault(
        "parked-answers-are-released-too-early",
        "kraftctl/controller/results/deferred_event_queue.py",
        "self._offsets[end] <= offset:\n",
        "self._offsets[end] <= offset + 1:\n",
        ("tests/controller/test_deferred_event_queue.py",),
        "A response leaves one commit before its own records are committed.",
    ),
    PlantedFault(
        "parked-answers-are-not-refused",
        "kraftctl/controller/quorum_controller.py",
        "            pending.refuse(Errors.NOT_CONTROLLER)\n",
        "            pass\n",
        ("tests/node/test_quorum.py::test_what_a_deposed_leader_could_not_commit_is_gone_and_refused",),
        "A controller that loses leadership acknowledges what it could not commit.",
    ),
    PlantedFault(
        "broker-epoch-of-another-offset",
        "kraftctl/controller/cluster_control/register_broker.py",
        "        record.broker_epoch = moment.next_offset\n",
        "        record.broker_epoch = moment.next_offset - 1\n",
        ("tests/controller/test_register_broker.py",),
        "KAFKA-15213: a broker's epoch is the offset of its registration, or the broker waits forever.",
    ),
    PlantedFault(
        "snapshot-inside-a-transaction",
        "kraftctl/node/snapshot_generation.py",
        "        if controller.last_stable_offset + 1 != end_offset:\n",
        "        if controller.last_stable_offset + 1 > end_offset:\n",
        (NODE,),
        "KAFKA-17713: a node that loads the snapshot applies half of a transaction.",
    ),
    PlantedFault(
        "elected-in-a-directory-that-fails",
        "kraftctl/controller/replication_control/leader_elections.py",
        "        updates = PartitionUpdates(state, added=added, offline=self._offline)\n",
        "        updates = PartitionUpdates(state, added=added)\n",
        ("tests/controller/test_broker_heartbeat.py",),
        "Partitions stay offline, led by a broker that cannot serve them.",
    ),
)
