"""Planted faults in requests that are carried out in slices."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

SLICED = "kraftctl/controller/results/sliced_request.py"
REPLICATION = "kraftctl/controller/replication_control"
TESTS = "tests/controller/test_sliced_requests.py"
DRAFTS = "tests/controller/test_topic_drafts.py"
CREATION = "tests/controller/test_create_topics.py"

FAULTS = (
    PlantedFault(
        "work-goes-on-for-a-client-that-left",
        "kraftctl/node/response_delivery.py",
        "        is_dropped = self._controller.client_left(request_id)\n",
        "        is_dropped = False\n",
        ("tests/node/test_sliced_requests.py::test_work_that_has_changed_nothing_ends_with_its_connection",),
        "A client that times out and asks again adds the same work again and again.",
    ),
    PlantedFault(
        "work-that-has-begun-ends-with-its-connection",
        "kraftctl/controller/sliced_works.py",
        "pending.id == request_id and not progress.has_begun:\n",
        "pending.id == request_id:\n",
        ("tests/node/test_long_work.py::test_a_client_that_is_gone_does_not_stop_the_work",),
        "Half of what a client asked for is done, because it did not wait for the response.",
    ),
    PlantedFault(
        "slices-outrun-the-commits",
        "kraftctl/node/sliced_turns.py",
        "        return self._raft.end_offset - self._raft.high_watermark > UNCOMMITTED_RECORDS_MAX\n",
        "        return self._raft.end_offset - self._raft.high_watermark > 100 * UNCOMMITTED_RECORDS_MAX\n",
        ("tests/node/test_sliced_requests.py::test_no_slice_begins_behind_many_uncommitted_records",),
        "The heartbeat that waits for the last record of a shutdown waits for the flush of all of them.",
    ),
    PlantedFault(
        "a-slice-before-a-wait-is-not-measured",
        "kraftctl/node/sliced_turns.py",
        "        if self.spent == 0 and self._is_behind:\n",
        "        if self._is_behind:\n            self.spent = 0\n",
        ("tests/node/test_long_work.py::test_the_last_slice_before_a_wait_for_commits_is_measured_too",),
        "Turns grow without being measured, and block the loop for more than 100 ms.",
    ),
    PlantedFault(
        "each-beginning-has-a-whole-turn",
        "kraftctl/node/sliced_turns.py",
        " if self._controller.has_work else UNITS\n",
        " if False else UNITS\n",
        ("tests/node/test_long_work.py::test_what_begins_beside_long_work_does_little_at_first",),
        "A hundred brokers that return together block the loop for 400 ms.",
    ),
    PlantedFault(
        "an-answer-before-the-last-slice",
        SLICED,
        "        while self.rehearsing or self.has_next():\n",
        "        while self.rehearsing or (self.has_next() and self.spent < moment.units):\n",
        (f"{TESTS}::test_slices_change_neither_answer_nor_image",),
        "A client is answered after the first slice, and the rest of what it asked for is never done.",
    ),
    PlantedFault(
        "a-slice-begins-a-list-anew",
        SLICED,
        "            self.first = self.end\n",
        "            self.first = 0\n",
        (f"{TESTS}::test_slices_change_neither_answer_nor_image",),
        "What the slice before has decided on is decided on again, and is answered twice.",
    ),
    PlantedFault(
        "a-slice-loses-what-it-decided-last",
        SLICED,
        "                self._has_written = True\n                records += decided\n",
        "                self._has_written = True\n"
        "                records += decided if self.has_next() or not self._has_slices else []\n",
        (f"{TESTS}::test_slices_change_neither_answer_nor_image",),
        "The response says that something is done which is not.",
    ),
    PlantedFault(
        "slices-see-what-the-first-one-saw",
        f"{REPLICATION}/elect_leaders.py",
        "        topic = self._topics.topic_by_name(topic_name)\n        if topic is None:\n"
        "            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f",
        "        topic = self._topics.topics[self._topics.ids_by_name[topic_name]]\n"
        "        if topic is None:\n"
        "            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f",
        (f"{TESTS}::test_leaders_of_a_topic_that_is_deleted_meanwhile_are_not_elected",),
        "A topic that is deleted between two slices fails the whole request.",
    ),
    PlantedFault(
        "isr-of-a-broker-that-is-gone",
        f"{REPLICATION}/alter_partition.py",
        "        if error is not None:\n            response = AlterPartitionResponse(",
        "        if error is not None and self._runs.outer < 0:\n"
        "            response = AlterPartitionResponse(",
        (f"{TESTS}::test_a_broker_that_is_registered_anew_meanwhile_gets_no_results",),
        "The ISRs that an earlier incarnation of a broker asked for are written after it is gone.",
    ),
    PlantedFault(
        "a-new-topic-is-deleted-for-an-old-one",
        f"{REPLICATION}/delete_topics.py",
        "        topic = self._topics.topic(topic_id)\n        if topic is None:\n            by_id",
        "        topic = self._topics.topic_by_name(name)\n"
        "        topic_id = topic_id if topic is None else topic.topic_id\n"
        "        if topic is None:\n            by_id",
        (f"{TESTS}::test_a_topic_that_is_created_anew_meanwhile_is_not_deleted",),
        "A topic that is created while a deletion of its name is carried out is lost with its data.",
    ),
    PlantedFault(
        "names-of-one-request-collide",
        f"{REPLICATION}/create_topics.py",
        "            if colliding not in created:\n",
        "            if colliding:\n",
        (f"{TESTS}::test_names_of_one_request_do_not_collide",),
        "Whether two topics can be created together depends on how busy the controller is.",
    ),
    PlantedFault(
        "inherited-configs-are-encoded-without-their-source",
        "kraftctl/controller/state/inherited_topic_config.py",
        "        super().__init__(name, value, False, config_source, is_sensitive)\n"
        "        writer = Writer()\n"
        "        super().write(writer, version)\n",
        "        super().__init__(name, value)\n"
        "        writer = Writer()\n"
        "        super().write(writer, version)\n"
        "        self.config_source = config_source\n",
        ("tests/controller/test_create_topics.py::test_inherited_configs_are_encoded_as_they_are_listed",),
        "A tool that creates a topic does not know which of its configs are defaults (KIP-525).",
    ),
    PlantedFault(
        "a-draft-of-a-topic-outlives-a-change-of-brokers",
        f"{REPLICATION}/topic_draft.py",
        " and self._brokers == _brokers(\n            image, leaving\n        )\n",
        "\n",
        (f"{DRAFTS}::test_a_broker_that_is_fenced_meanwhile_is_in_no_isr",),
        "A fenced broker leads partitions of a new topic.",
    ),
    PlantedFault(
        "a-name-is-checked-before-the-draft-only",
        f"{REPLICATION}/create_topics.py",
        "        error = self._why_name_refused(topic.name) or self._why_configs_refused(topic)\n"
        "        if error is not None:\n",
        "        error = self._why_name_refused(topic.name) or self._why_configs_refused(topic)\n"
        "        if error is not None and self._draft is None:\n",
        (f"{DRAFTS}::test_a_name_that_is_taken_meanwhile_exists_already",),
        "Two topics have one name, and brokers halt.",
    ),
    PlantedFault(
        "drafts-are-dropped-without-end",
        f"{REPLICATION}/create_topics.py",
        "            self._dropped_drafts += 1\n",
        "",
        (f"{DRAFTS}::test_it_ends_although_brokers_change_again_and_again",),
        "While brokers come back, no large topic can be created.",
    ),
    PlantedFault(
        "half-a-topic-in-a-batch",
        "kraftctl/controller/results/prepared_result.py",
        "[len(values)] if result.is_atomic",
        "[(len(values) + 1) // 2, len(values)] if result.is_atomic",
        (f"{TESTS}::test_a_topic_is_in_one_batch",),
        "After a failover there is a topic with half of its partitions, for ever.",
    ),
    PlantedFault(
        "a-list-does-not-wait-for-what-it-saw",
        "kraftctl/apis/api_table.py",
        "        AclOperation.DESCRIBE,\n        forwardable=True,\n        size=PARTITIONS,\n",
        "        AclOperation.DESCRIBE,\n        WaitsFor.NOTHING,\n        forwardable=True,\n"
        "        size=PARTITIONS,\n",
        ("tests/node/test_sliced_requests.py::test_a_list_waits_for_what_its_slices_saw",),
        "A tool shows a reassignment that a failover has undone.",
    ),
    PlantedFault(
        "too-many-records-are-noticed-too-late",
        f"{REPLICATION}/create_topics.py",
        "rehearses=needed.may_exceed_a_batch(), atomicity",
        "atomicity",
        (f"{TESTS}::test_too_many_records_are_refused_before_the_first_one",),
        "Half of the topics of a request that is refused are created.",
    ),
    PlantedFault(
        "a-rehearsal-takes-from-the-quota",
        "kraftctl/controller/state/mutation_quota.py",
        "        return MutationQuota(copied, strict",
        "        return MutationQuota(bucket, strict",
        (f"{TESTS}::test_a_rehearsal_charges_nobody",),
        "A client is throttled for topics that it has not created.",
    ),
    PlantedFault(
        "a-failed-slice-returns-what-others-were-charged",
        "kraftctl/controller/quorum_controller.py",
        "        work, pending = progress.work, progress.pending\n"
        "        self.state.mutation_quotas.begin_request()\n",
        "        work, pending = progress.work, progress.pending\n",
        (f"{TESTS}::test_a_slice_that_fails_returns_its_own_charge_only",),
        "A client gets back what it was charged for topics that are created.",
    ),
    PlantedFault(
        "a-line-with-the-offsets-of-others",
        "kraftctl/controller/audit/audit_trail.py",
        "        if end_offset > base_offset:\n            if self.first_offset",
        "        if True:\n            if self.first_offset",
        ("tests/node/test_sliced_requests.py::test_a_request_that_writes_nothing_has_no_offsets",),
        "The audit log names records that the request has not written.",
    ),
    PlantedFault(
        "partitions-with-tagged-fields-are-measured-as-others",
        "kraftctl/controller/results/record_checks.py",
        "        or record.eligible_leader_replicas is not None\n",
        "",
        ("tests/controller/test_record_checks.py::test_partitions_of_any_shape_are_encoded",),
        "A PartitionRecord with eligible leader replicas cannot be written.",
    ),
    PlantedFault(
        "names-of-topics-are-measured-in-characters",
        "kraftctl/controller/results/record_checks.py",
        " or not record.name.isascii():\n",
        ":\n",
        ("tests/controller/test_record_checks.py::test_topics_of_any_name_are_encoded",),
        "A TopicRecord with a name that is not in ASCII, of an old log, cannot be written again.",
    ),
    PlantedFault(
        "levels-are-looked-up-once-for-all-records",
        "kraftctl/controller/results/record_checks.py",
        "        self._frames.clear()\n",
        "",
        ("tests/controller/test_record_checks.py::test_a_level_applies_to_types_in_turn",),
        "Records that the finalized metadata.version lacks are appended behind a downgrade.",
    ),
    PlantedFault(
        "a-topic-continues-where-the-last-one-ended",
        "kraftctl/metadata/replica_placement.py",
        "        self._start()\n        return [",
        "        return [",
        ("tests/metadata/test_replica_placement.py::test_each_topic_is_placed_as_by_a_placer_of_its_own",),
        "The topics of one request are placed by the shuffles of those before them.",
    ),
    PlantedFault(
        "inherited-configs-are-kept-for-ever",
        "kraftctl/controller/state/inherited_topic_config.py",
        "        if self._broker_changes != changes or self._version != version:\n",
        "        if self._broker_changes == NEVER or self._version != version:\n",
        (f"{CREATION}::test_inherited_configs_follow_the_version_and_the_brokers_configs",),
        "A tool that creates a topic shows defaults that do not apply any more (KIP-525).",
    ),
    PlantedFault(
        "new-topics-are-named-up-to-the-first-line",
        "kraftctl/controller/results/record_notices.py",
        "    for begin in range(0, len(new_topics), TOPICS_PER_LINE):\n",
        "    for begin in range(0, min(1, len(new_topics)), TOPICS_PER_LINE):\n",
        ("tests/controller/test_record_notices.py::test_every_new_topic_is_named_some_in_a_line",),
        "The log does not say when most topics of a large request were created.",
    ),
    PlantedFault(
        "a-level-is-remembered-for-the-records-behind-another",
        "kraftctl/controller/results/record_checks.py",
        "        self._metadata_version = metadata_version\n        self._kind = None\n",
        "        self._metadata_version = metadata_version\n",
        ("tests/controller/test_record_checks.py::test_a_level_applies_to_a_run_of_one_type",),
        "Records that the finalized metadata.version lacks are appended behind a downgrade.",
    ),
    PlantedFault(
        "long-lists-of-changes-are-measured-as-short-ones",
        "kraftctl/controller/results/record_checks.py",
        "    return 3 + 4 * count if count <= SHORT_TAG_MAX else LONG_TAG\n",
        "    return 3 + 4 * count\n",
        ("tests/controller/test_record_checks.py::test_changes_of_any_shape_are_encoded",),
        "A partition with 32 replicas cannot change.",
    ),
    PlantedFault(
        "members-of-a-removed-topic-are-still-counted",
        "kraftctl/image/topics_image.py",
        "        for members in (self.isr_counts, self.last_member_counts, self.elr_counts):\n",
        "        for members in (self.isr_counts, self.last_member_counts):\n",
        ("tests/image/test_replay.py::test_a_large_topic_is_removed_and_restored_as_a_whole",),
        "A controller looks in a topic that is gone for partitions whose ELR has a broker, and ends.",
    ),
    PlantedFault(
        "a-restored-topic-is-not-counted",
        "kraftctl/image/topics_image.py",
        "            self._count(old, partition, 1)\n\n    def _uncount",
        "            self._count(old, partition, 0)\n\n    def _uncount",
        ("tests/image/test_replay.py::test_a_large_topic_is_removed_and_restored_as_a_whole",),
        "After a deletion that is not committed, brokers are fenced without the partitions of the topic.",
    ),
)
