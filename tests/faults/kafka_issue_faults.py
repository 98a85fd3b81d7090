"""Planted faults that Kafka's controller once had: brokers, ISRs, reassignments and configs, by issue."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

REPLICATION = "kraftctl/controller/replication_control"
REGISTER = "kraftctl/controller/cluster_control/register_broker.py"
ELIGIBILITY = f"{REPLICATION}/isr_eligibility.py"
REASSIGNMENT = f"{REPLICATION}/partition_reassignment.py"

CREATE_TOPICS = f"{REPLICATION}/create_topics.py"
CONFIGURATION = "kraftctl/controller/configuration_control"
ELR_CONFIGS = f"{CONFIGURATION}/elr_configs.py"
INCREMENTAL = f"{CONFIGURATION}/incremental_alter_configs.py"

CONFIG_BUGS = "tests/kafkas_bugs/test_configs.py"
KIP_841 = "tests/kips/test_kip_841.py"
REGISTRATION_BUGS = "tests/kafkas_bugs/test_registrations.py"
REPLICA_BUGS = "tests/kafkas_bugs/test_replicas.py"

FAULTS = (
    PlantedFault(
        "standby-replays-at-the-base-offset",
        "kraftctl/controller/committed_replay.py",
        "            replay(self.image, record, as_of)\n",
        "            replay(self.image, record, as_of - int(cursor.index))\n",
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
        "        if (broker.fenced or not broker.in_controlled_shutdown) and",
        "        if not broker.fenced and",
        (f"{REGISTRATION_BUGS}::test_after_a_failover_fenced_brokers_that_sent_no_heartbeat_get_replicas",),
        "KAFKA-13841: no topic can be created while brokers are restarted.",
    ),
    PlantedFault(
        "no-replicas-on-brokers-that-have-shut-down",
        f"{REPLICATION}/replica_assignment.py",
        "        if (broker.fenced or not broker.in_controlled_shutdown) and",
        "        if not broker.in_controlled_shutdown and",
        (
            "tests/controller/test_create_topics.py::test_a_broker_that_has_shut_down_gets_replicas_of_new_topics",
        ),
        "With three brokers, no topic can be created while one of them is restarted.",
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
    PlantedFault(
        "elr-outlives-its-min-insync-replicas",
        ELR_CONFIGS,
        "isinstance(record, ConfigRecord) and record.name == MIN_INSYNC_REPLICAS:\n",
        "isinstance(record, ConfigRecord) and not record.name:\n",
        (f"{CONFIG_BUGS}::test_a_change_of_min_insync_replicas_clears_the_elr_that_it_was_decided_by",),
        "KAFKA-16540: a replica is elected cleanly that was eligible under another min.insync.replicas.",
    ),
    PlantedFault(
        "clearing-an-elr-clears-all",
        ELR_CONFIGS,
        '            topic = record.resource_name if record.resource_type == TOPIC else ""\n',
        '            topic = ""\n',
        (f"{CONFIG_BUGS}::test_a_change_of_min_insync_replicas_clears_the_elr_that_it_was_decided_by",),
        "KAFKA-16540: a config of one topic takes eligible leaders from the others.",
    ),
    PlantedFault(
        "clearing-elrs-changes-every-partition",
        "kraftctl/image/topics_image.py",
        "                if partition.elr or partition.last_known_elr:\n",
        "                if partition.elr or partition.leader >= 0:\n",
        (f"{CONFIG_BUGS}::test_clearing_the_elr_leaves_partitions_that_have_none_as_they_are",),
        "KAFKA-16540: the image has other partition epochs than those of the brokers.",
    ),
    PlantedFault(
        "enabling-elr-leaves-single-brokers-their-min-insync-replicas",
        ELR_CONFIGS,
        "        if MIN_INSYNC_REPLICAS in configurations.config(BROKER, name)\n",
        "        if name == CLUSTER_DEFAULT\n",
        (f"{CONFIG_BUGS}::test_enabling_elr_takes_min_insync_replicas_from_single_brokers",),
        "KAFKA-16540: brokers disagree about which partitions are below min.insync.replicas.",
    ),
    PlantedFault(
        "min-insync-replicas-of-the-cluster-can-be-removed",
        ELR_CONFIGS,
        "    if value is None:\n",
        "    if value == name:\n",
        (f"{CONFIG_BUGS}::test_with_elr_all_brokers_have_one_min_insync_replicas",),
        "KAFKA-16540: each broker falls back to its own properties file.",
    ),
    PlantedFault(
        "null-configs-of-a-new-topic-are-empty-ones",
        CREATE_TOPICS,
        "        if nulls:\n",
        "        if nulls and not nulls[0]:\n",
        ("tests/controller/test_create_topics.py::test_refusals",),
        "KAFKA-13863: a topic is created with a config that was not asked for.",
    ),
    PlantedFault(
        "who-may-create-any-topic-may-create-kafkas-own",
        CREATE_TOPICS,
        "    if may_create_any and METADATA_TOPIC not in names:\n",
        "    if may_create_any:\n",
        ("tests/controller/test_create_topics.py::test_refusals",),
        "A topic has the name of the metadata log.",
    ),
    PlantedFault(
        "several-appended-items-are-one",
        INCREMENTAL,
        "    for item in _named_items(value):\n",
        "    for item in [value]:\n",
        (CONFIG_BUGS, "tests/controller/test_changed_lists.py"),
        "KAFKA-13862: items that are there already are appended again.",
    ),
    PlantedFault(
        "empty-items-at-the-end-are-appended",
        INCREMENTAL,
        '    kept = value.rstrip(",")\n',
        "    kept = value\n",
        (CONFIG_BUGS, "tests/controller/test_changed_lists.py"),
        "A list that Kafka accepts is refused, or stored with an empty item.",
    ),
    PlantedFault(
        "later-synonyms-count-first",
        "kraftctl/controller/state/effective_configs.py",
        "        for name, factor in synonyms:\n",
        "        for name, factor in reversed(synonyms):\n",
        (f"{CONFIG_BUGS}::test_log_flush_interval_ms_can_be_set_and_is_what_topics_inherit",),
        "KAFKA-13807: log.flush.interval.ms has no effect.",
    ),
    PlantedFault(
        "create-partitions-though-only-validated",
        f"{REPLICATION}/create_partitions.py",
        "[] if self._validates_only and not self.rehearsing else",
        "",
        ("tests/controller/test_create_partitions.py::test_validate_only_writes_nothing",),
        "KAFKA-13861: what was to be tried out is done.",
    ),
    PlantedFault(
        "create-topics-though-only-validated",
        CREATE_TOPICS,
        "[] if self._validates_only and not self.rehearsing else",
        "",
        ("tests/controller/test_create_topics.py::test_validate_only_checks_everything_and_writes_nothing",),
        "KAFKA-13324: what was to be tried out is done.",
    ),
    PlantedFault(
        "only-the-first-prefix-counts",
        "kraftctl/image/acl_index.py",
        "            if length <= name_length:\n",
        "            if length <= name_length and len(found) < 1:\n",
        ("tests/kafkas_bugs/test_controller.py::test_no_rule_hides_another_one_and_each_goes_alone",),
        "KAFKA-14265: a DENY for a shorter prefix is hidden by another pattern.",
    ),
)
