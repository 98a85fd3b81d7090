"""Planted faults that Kafka's controller once had: brokers, ISRs, reassignments and configs, by issue."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

REPLICATION = "kraftctl/controller/replication_control"
REGISTER = "kraftctl/controller/cluster_control/register_broker.py"
ELIGIBILITY = f"{REPLICATION}/isr_eligibility.py"
REASSIGNMENT = f"{REPLICATION}/partition_reassignment.py"

KIP_841 = "tests/kips/test_kip_841.py"
REGISTRATION_BUGS = "tests/node/test_kafkas_registration_bugs.py"
REPLICA_BUGS = "tests/controller/test_kafkas_replica_bugs.py"

FAULTS = (
    PlantedFault(
        "standby-replays-at-the-base-offset",
        "kraftctl/controller/quorum_controller.py",
        "            replay(self.image, record, base_offset + index)\n",
        "            replay(self.image, record, base_offset)\n",
        (f"{REGISTRATION_BUGS}::test_each_controller_replays_a_registration_with_its_own_offset",),
        "KAFKA-15213: records are replayed with another offset than on the leader.",
    ),
    PlantedFault(
        "fenced-replica-joins",
        ELIGIBILITY,
        "    if registration.fenced:\n",
        "    if registration.fenced and registration.in_controlled_shutdown:\n",
        (KIP_841,),
        "KAFKA-13916, KIP-841: a leader that learns late of a fencing takes the replica back into the ISR.",
    ),
    PlantedFault(
        "replica-that-shuts-down-joins",
        ELIGIBILITY,
        "    if registration.in_controlled_shutdown:\n",
        "    if registration.in_controlled_shutdown and registration.fenced:\n",
        (KIP_841,),
        "KAFKA-13916, KIP-841: a broker that is about to go is counted on.",
    ),
    PlantedFault(
        "replica-of-a-former-process-joins",
        ELIGIBILITY,
        "member.broker_epoch != registration.epoch:\n",
        "member.broker_epoch > registration.epoch:\n",
        (
            f"{REPLICA_BUGS}::test_a_replica_that_came_back_with_an_empty_disk_does_not_join_by_former_fetches",
        ),
        "KAFKA-14617, KIP-903: a replica that came back without its records is taken for what it was.",
    ),
    PlantedFault(
        "no-replicas-on-fenced-brokers",
        f"{REPLICATION}/replica_assignment.py",
        "        if not broker.in_controlled_shutdown and",
        "        if not broker.fenced and",
        (f"{REGISTRATION_BUGS}::test_after_a_failover_fenced_brokers_that_sent_no_heartbeat_get_replicas",),
        "KAFKA-13841: no topic can be created while brokers are restarted.",
    ),
    PlantedFault(
        "reassignment-does-not-wait-for-what-it-adds",
        REASSIGNMENT,
        "    if not _contains_all(kept_isr, adding):\n",
        "    if not kept_isr:\n",
        (REPLICA_BUGS,),
        "KIP-455: the replicas with the data are removed while the new ones are empty.",
    ),
    PlantedFault(
        "shrinking-reassignment-does-not-wait-for-what-stays",
        REASSIGNMENT,
        "    if len(adding) < len(removing) and",
        "    if False and",
        (REPLICA_BUGS,),
        "KAFKA-15665: a partition with three replicas in sync is left with one.",
    ),
    PlantedFault(
        "reassignment-waits-for-all-replicas",
        REASSIGNMENT,
        "    if len(adding) < len(removing) and",
        "    if",
        (REPLICA_BUGS,),
        "KAFKA-19975: a broker that is down keeps a reassignment from ever completing.",
    ),
    PlantedFault(
        "broker-of-another-cluster-is-registered",
        REGISTER,
        "    if request.cluster_id != state.cluster_id:\n",
        "    if not request.cluster_id:\n",
        ("tests/controller/test_register_broker.py::test_refused",),
        "KAFKA-13528: a broker that was sent to the wrong controllers takes part in their cluster.",
    ),
    PlantedFault(
        "kraft-version-is-not-asked-of-brokers",
        REGISTER,
        "    finalized[features.KRAFT_VERSION] = state.kraft_version\n",
        "",
        (f"{REGISTRATION_BUGS}::test_a_broker_has_to_support_the_kraft_version_that_raft_has",),
        "KAFKA-17305: a broker is registered that cannot read the voters in the log.",
    ),
)
