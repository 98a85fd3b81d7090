"""Planted faults in what gives a cluster back what it had."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

COMMAND = "tests/spark/restore/test_restore_command.py"
COMPARISON = "tests/spark/restore/test_comparison.py"
DESCRIBED = "tests/spark/restore/test_described_values.py"
HIDDEN = "tests/spark/restore/test_hidden_topics.py"
PLAN = "tests/spark/restore/test_plan_file.py"
RESTORE = "spark/kraftctl_spark/restore"

FAULTS = (
    PlantedFault(
        "a-restore-does-not-ask-which-cluster-it-is",
        "spark/kraftctl_spark/commands/restore.py",
        "if options.cluster_id not in (None, live.cluster_id):",
        "if options.cluster_id == 0:",
        ("tests/spark/restore/test_restore_command.py",),
        "A plan for a new cluster is carried out in the one that is in use.",
    ),
    PlantedFault(
        "a-restore-plans-internal-topics",
        f"{RESTORE}/plan.py",
        "        if topic.replicas and name not in INTERNAL_TOPICS\n    ]",
        "        if topic.replicas\n    ]",
        (f"{COMPARISON}::test_internal_topics_stay_as_they_are",),
        "Offsets of groups are looked for in other partitions than those that have them.",
    ),
    PlantedFault(
        "a-restore-changes-a-topic-that-has-data",
        f"{RESTORE}/comparison.py",
        "    if live.is_in_use:\n",
        "    if isinstance(operation, CreateAcl):\n",
        (f"{COMPARISON}::test_what_differs_is_changed_only_on_request",),
        "A retention is set on topics that have data, which is deleted.",
    ),
    PlantedFault(
        "a-topic-of-another-client-counts-as-restored",
        "spark/kraftctl_spark/commands/restore.py",
        "        left = found.without(to_do).left(change_existing=False)\n",
        "",
        (f"{COMMAND}::test_a_topic_that_another_client_has_created_meanwhile_is_compared",),
        "A topic with too few partitions and replicas is done.",
    ),
    PlantedFault(
        "a-stopped-broker-has-lost-its-configs",
        f"{RESTORE}/difference.py",
        "if _broker_of(config) not in unknown}",
        "if config}",
        (f"{COMPARISON}::test_configs_of_a_stopped_broker_are_not_known",),
        "A difference lists configs as removed that are there.",
    ),
    PlantedFault(
        "a-topic-that-was-created-again-is-the-same",
        f"{RESTORE}/difference.py",
        "        if old.topic_id != new.topic_id:\n",
        "        if old is None:\n",
        (f"{COMPARISON}::test_a_topic_that_was_created_again_or_moved_is_a_change",),
        "A difference is empty although all data of a topic is gone.",
    ),
    PlantedFault(
        "a-restore-executes-without-being-asked-to",
        "spark/kraftctl_spark/commands/restore.py",
        "    if options.execute:\n        done",
        "    if not options.change_existing:\n        done",
        (f"{COMMAND}::test_a_dry_run_changes_nothing",),
        "A dry run changes the cluster.",
    ),
    PlantedFault(
        "a-plan-has-secrets",
        f"{RESTORE}/past_state.py",
        "    is_shown = number is not None and is_readable(number, config.key)\n",
        "    is_shown = number is not None\n",
        (f"{COMMAND}::test_a_plan_has_no_secrets_even_if_the_export_has_them",),
        "A password that was exported on purpose is in a file that is passed around.",
    ),
    PlantedFault(
        "a-reassignment-is-restored-with-too-many-replicas",
        f"{RESTORE}/past_state.py",
        '            adding = set(row["adding_replicas"] or ())',
        "            adding: set[int] = set()",
        (f"{COMMAND}::test_the_plan_has_what_was_so_at_that_point",),
        "A topic that was being moved has a replica more for good.",
    ),
    PlantedFault(
        "a-batch-counts-in-part",
        "spark/kraftctl_spark/history/past_point.py",
        '        begun = pc.coalesce(rows.column("batch_offset"), offsets)\n',
        "        begun = offsets\n",
        (f"{COMMAND}::test_within_a_batch_the_whole_batch_counts",),
        "A topic is restored with the partitions that precede the offset.",
    ),
    PlantedFault(
        "what-is-not-known-is-planned-silently",
        "spark/kraftctl_spark/commands/past_flags.py",
        "    if past.unknown and not options.accept_unknown:\n",
        "    if False:\n",
        (f"{COMMAND}::test_what_is_not_known_is_refused_unless_it_is_accepted",),
        "ACLs of another time are restored as if they were those of the asked one.",
    ),
    PlantedFault(
        "one-refused-quota-refuses-its-entity",
        f"{RESTORE}/changes.py",
        "            if error != Errors.NONE and len(group) > 1:\n",
        "            if error != Errors.NONE and len(group) > 100:\n",
        (f"{COMMAND}::test_one_refused_quota_does_not_refuse_those_of_its_entity",),
        "One key that a cluster does not know leaves out all others of its resource.",
    ),
    PlantedFault(
        "a-moved-controller-fails-a-restore",
        f"{RESTORE}/changes.py",
        "    return (moved if moved in set(codes) else Errors.NONE), None\n",
        "    return Errors.NONE, None\n",
        (f"{COMMAND}::test_a_request_is_sent_again_when_the_controller_has_moved",),
        "A restore that meets an election lists everything as refused.",
    ),
    PlantedFault(
        "a-long-restore-is-one-request",
        f"{RESTORE}/changes.py",
        "        if some and (records + size > RECORDS_PER_REQUEST",
        "        if some and (records + size > 100 * RECORDS_PER_REQUEST",
        (f"{COMMAND}::test_added_partitions_and_configs_are_cut_by_their_records",),
        "A controller refuses a request for more than 10,000 partitions.",
    ),
    PlantedFault(
        "a-cluster-with-many-partitions-cannot-be-described",
        "protocol/kraftctl_protocol/peer_limits.py",
        "LISTING_MEMORY_PER_BYTE: Final = 32\n",
        "LISTING_MEMORY_PER_BYTE: Final = 1\n",
        (f"{COMMAND}::test_thousands_of_partitions_are_described",),
        "A restore and a difference fail for each cluster but small ones.",
    ),
    PlantedFault(
        "a-plan-drops-what-it-does-not-know",
        f"{RESTORE}/plan_file.py",
        "            entry.check_empty()\n",
        "",
        (f"{PLAN}::test_a_wrong_entry_is_named",),
        "A line with a typing error is applied without what it was to say.",
    ),
    PlantedFault(
        "a-restore-compares-texts-of-values",
        f"{RESTORE}/comparison.py",
        "live.described(config, present) != live.described(config, one.value)",
        "present != one.value",
        (f"{DESCRIBED}::test_a_restore_of_such_values_is_done_once",),
        "A restore is never done: it sets 0.50, and a broker describes 0.5.",
    ),
    PlantedFault(
        "a-difference-compares-texts-of-values",
        f"{RESTORE}/difference.py",
        "NOT_SHOWN if value is None else state.described(config, value)",
        "NOT_SHOWN if value is None else value",
        (f"{DESCRIBED}::test_what_is_described_otherwise_than_it_was_set_is_no_difference",),
        "A difference lists changes that never happened.",
    ),
    PlantedFault(
        "a-cluster-whose-topics-are-hidden-is-empty",
        "spark/kraftctl_spark/commands/restore.py",
        "    check_all_are_shown(client, live, found.missing)\n",
        "",
        (f"{HIDDEN}::test_a_cluster_whose_topics_are_hidden_is_in_use",),
        "A cluster in use is given retentions, ACLs and quotas, because its topics are not visible.",
    ),
    PlantedFault(
        "a-hidden-topic-counts-as-restored",
        "spark/kraftctl_spark/commands/restore.py",
        "                done.remove(operation)\n",
        "",
        (f"{HIDDEN}::test_a_topic_that_exists_and_is_not_shown_is_refused",),
        "A topic of another client, of any form, is what the plan has.",
    ),
    PlantedFault(
        "a-plan-is-overwritten",
        "spark/kraftctl_spark/commands/restore.py",
        "    if options.plan is not None and options.plan.exists():\n",
        "    if options.plan is not None and options.plan.is_dir():\n",
        (f"{COMMAND}::test_a_plan_is_never_overwritten",),
        "What an operator has edited is lost.",
    ),
)
