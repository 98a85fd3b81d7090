"""Planted faults in transitions of brokers that are cut into slices."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

REPLICATION = "kraftctl/controller/replication_control"
CLUSTER = "kraftctl/controller/cluster_control"
SLICED = "tests/controller/test_sliced_transitions.py"
IN_BETWEEN = "tests/controller/test_slices_in_between.py"
LONG = "tests/controller/test_long_transitions.py"
STALE = "tests/controller/test_fence_stale_brokers.py"

TRANSITIONS = "tests/controller/test_broker_transitions.py"

FAULTS = (
    PlantedFault(
        "an-assignment-ends-a-reassignment-twice",
        "kraftctl/controller/replication_control/offline_directories.py",
        "partition if change is None else partition.merge(change, tuples)",
        "partition",
        (
            "tests/controller/test_assign_replicas_to_dirs.py::test_what_ends_with_an_assignment_does_not_end_twice",
        ),
        "Epochs of a partition rise though nothing changes: its followers truncate and fetch again.",
    ),
    PlantedFault(
        "reassignments-and-elrs-without-leader-never-end",
        f"{REPLICATION}/partition_walk.py",
        "        if partition.reassigning or (partition.elr and not self._keeps_elrs):\n",
        "        if False:\n",
        (TRANSITIONS,),
        "The log differs from that of Kafka's controller.",
    ),
    PlantedFault(
        "partitions-change-twice-with-an-unfencing-and-a-failed-directory",
        f"{REPLICATION}/partition_walk.py",
        " or (self._offline and self._leaves(partition)):\n",
        ":\n",
        ("tests/controller/test_broker_heartbeat.py::test_a_partition_changes_once_with_an_unfencing",),
        "Both records are of the state before the first: the leader epoch rises by two.",
    ),
    PlantedFault(
        "directories-out-of-isrs-move-leaders",
        f"{REPLICATION}/partition_walk.py",
        "        return broker_id in partition.isr and partition.directory",
        "        return partition.directory",
        (TRANSITIONS,),
        "A leader that has lost nothing loses its partition, which has no leader then.",
    ),
    PlantedFault(
        "last-members-are-visited-twice",
        f"{REPLICATION}/partition_walk.py",
        " and (self._last or not partition.waits_for_last_member)\n",
        "\n",
        (f"{TRANSITIONS}::test_each_partition_changes_once",),
        "Both records are of the state before the first: the leader epoch rises by two.",
    ),
    PlantedFault(
        "last-members-are-not-visited-without-elr",
        f"{REPLICATION}/memberships.py",
        "        elif not self._has_visited_last and ",
        "        elif False and ",
        (TRANSITIONS,),
        "A partition stays without leader, though an unclean election is allowed and a replica is active.",
    ),
    PlantedFault(
        "rest-of-a-transition-is-skipped-after-a-failover",
        "kraftctl/controller/periodic_tasks.py",
        'PeriodicTask("elect leaders where there are none", now_ms, self._elect_leaderless)',
        'PeriodicTask("elect leaders where there are none", NEVER, self._elect_leaderless)',
        (LONG,),
        "Partitions stay without leader: the controller that unfenced their broker is gone.",
    ),
    PlantedFault(
        "shutdown-is-taken-for-finished-after-a-failover",
        f"{REPLICATION}/broker_transitions.py",
        "        if not is_out:\n            return ControllerResult.begun(updates.records, self)\n",
        "        if not is_out and not registration.in_controlled_shutdown:\n"
        "            return ControllerResult.begun(updates.records, self)\n",
        (SLICED, LONG),
        "A broker that shuts down is released while it leads partitions.",
    ),
    PlantedFault(
        "slice-is-repeated",
        f"{REPLICATION}/partition_walk.py",
        "            self._next_index += 1\n            partition",
        "            self._next_index += 1 if budget.spent else 0\n            partition",
        (SLICED,),
        "The first partition of each slice changes twice, or the work never ends.",
    ),
    PlantedFault(
        "work-resumes-at-a-stale-place",
        f"{REPLICATION}/memberships.py",
        "        return is_all\n",
        "        return True\n",
        (SLICED, IN_BETWEEN),
        "A broker is fenced although it came back into an ISR behind the place of the work.",
    ),
    PlantedFault(
        "fenced-with-the-first-slice",
        f"{REPLICATION}/broker_transitions.py",
        "        if not is_out:\n            begins",
        "        if not is_out and False:\n            begins",
        (SLICED, STALE),
        "KIP-841: a fenced broker is in ISRs.",
    ),
    PlantedFault(
        "last-members-stay-with-elr",
        f"{REPLICATION}/memberships.py",
        "        if image.features.elr_enabled:\n",
        "        if not image.features.elr_enabled:\n",
        (SLICED,),
        "KIP-966: a broker that was fenced before ELR was enabled stays in ISRs for ever.",
    ),
    PlantedFault(
        "leaving-broker-is-let-back-in",
        f"{REPLICATION}/isr_eligibility.py",
        "    if leaving.has(member.broker_id, registration.epoch):\n",
        "    if leaving.has(member.broker_id, -1):\n",
        (STALE,),
        "ISRs change to and fro, and the fencing of a broker that fetches may not end.",
    ),
    PlantedFault(
        "leaving-broker-is-elected",
        f"{REPLICATION}/leader_acceptor.py",
        "    return registration.active and not leaving.has(registration.id, registration.epoch)\n",
        "    return registration.active\n",
        (STALE,),
        "Leaders change twice: to a broker that is about to be fenced, and away from it.",
    ),
    PlantedFault(
        "leaving-never-ends",
        "kraftctl/controller/state/leaving_brokers.py",
        "            self._leaving.end(*self._broker)\n",
        "",
        (SLICED, IN_BETWEEN),
        "A broker that registered again joins no ISR.",
    ),
    PlantedFault(
        "released-before-the-last-slice",
        f"{CLUSTER}/process_broker_heartbeat.py",
        "    last_offset = SHUTDOWN_UNDER_WAY if under_way else moment.next_offset + len(records) - 1\n",
        "    last_offset = moment.next_offset + len(records) - 1\n",
        (LONG,),
        "A broker stops while others still follow it.",
    ),
    PlantedFault(
        "fenced-broker-is-named-before-it-is",
        f"{CLUSTER}/process_broker_heartbeat.py",
        "        following = current\n",
        "        pass\n",
        (LONG,),
        "A broker stops before it has left its ISRs.",
    ),
    PlantedFault(
        "each-heartbeat-begins-a-fencing",
        f"{CLUSTER}/process_broker_heartbeat.py",
        "    if is_leaving and current",
        "    if not is_leaving and current",
        (LONG,),
        "A broker that sends heartbeats is taken out of its ISRs many times over.",
    ),
    PlantedFault(
        "registration-is-checked-once",
        f"{CLUSTER}/register_broker.py",
        "        refusal = why_refused(state, request, moment.now_ms)\n        if refusal is not None:\n",
        "        refusal = why_refused(state, request, moment.now_ms)\n"
        "        if refusal is not None and not self._memberships._walks:\n",
        (SLICED,),
        "Two processes with one broker id are registered one after the other.",
    ),
    PlantedFault(
        "restarted-broker-is-unregistered",
        f"{CLUSTER}/unregister_broker.py",
        "        if incarnation_of(state, broker_id, self._broker_epoch) is None:\n",
        "        if state.image.cluster.broker(broker_id) is None:\n",
        (SLICED,),
        "A broker that has just come back is stopped until its next restart.",
    ),
)
