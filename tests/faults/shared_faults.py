"""Planted faults: kept under too little, a default that is a value, undone in part, counted for ever."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

FAULTS = (
    PlantedFault(
        "unclean-elections-stay-as-they-were-inherited",
        "kraftctl/controller/state/effective_configs.py",
        "            self._min_isr = None\n            self._unclean = None\n\n",
        "            self._min_isr = None\n\n",
        ("tests/controller/test_topic_settings.py",),
        "Unclean elections continue after the operator has forbidden them for the cluster.",
    ),
    PlantedFault(
        "what-is-undone-in-broker-configs-is-obeyed",
        "kraftctl/image/configurations_image.py",
        "        self._put(resource, name, value)\n"
        "\n"
        "    def _put(self, resource: Resource, name: str, value: str | None) -> None:\n"
        "        if resource[0] == BROKER:\n"
        "            self.broker_changes += 1\n",
        "        self._put(resource, name, value)\n"
        "        if resource[0] == BROKER:\n"
        "            self.broker_changes += 1\n"
        "\n"
        "    def _put(self, resource: Resource, name: str, value: str | None) -> None:\n",
        ("tests/controller/test_topic_settings.py",),
        "A min.insync.replicas that was never committed is obeyed until the next change of a broker config.",
    ),
    PlantedFault(
        "last-known-leaders-are-those-of-others",
        "kraftctl/metadata/interned_tuples.py",
        "            elr,\n            last_known_elr,\n            recovery_state,\n",
        "            elr,\n            recovery_state,\n",
        ("tests/image/test_replay.py",),
        "A partition without a leader elects the last leader of another partition.",
    ),
    PlantedFault(
        "recovery-states-are-those-of-others",
        "kraftctl/metadata/interned_tuples.py",
        "            last_known_elr,\n            recovery_state,\n            directories,\n",
        "            last_known_elr,\n            directories,\n",
        ("tests/image/test_replay.py",),
        "A partition that is reassigned takes the state of an unclean election elsewhere.",
    ),
    PlantedFault(
        "what-is-read-again-counts-twice",
        "kraftctl/server/loop/read_cache.py",
        "        self._drop(wanted)\n        while self._kept_bytes",
        "        while self._kept_bytes",
        ("tests/server/loop/test_read_cache.py::test_what_is_read_again_takes_its_own_room",),
        "The room for slices shrinks with each replica that reads on, until nothing is kept.",
    ),
    PlantedFault(
        "joined-batches-are-known-by-their-offset-alone",
        "kraftctl/storage/recent_batches.py",
        "        key = (self._base_offsets[start], size_bytes)\n",
        "        key = (self._base_offsets[start], 0)\n",
        ("tests/storage/test_recent_batches.py",),
        "An observer gets batches that are not committed, which a voter has asked for before.",
    ),
    PlantedFault(
        "a-client-without-an-id-shares-the-bucket-of-its-user",
        "kraftctl/controller/state/mutation_quota.py",
        "        key = (context.principal.name if per_user else None, client_id if per_client else None)\n",
        '        key = (context.principal.name if per_user else None, client_id if per_client else "")\n',
        ("tests/controller/test_mutation_quota.py::test_a_client_without_an_id_has_a_bucket_of_its_own",),
        "Clients without an id take the tokens of all others of their user.",
    ),
    PlantedFault(
        "a-raised-quota-keeps-its-burst",
        "kraftctl/controller/state/mutation_quota.py",
        "            bucket.rate = rate\n            bucket.burst = burst\n",
        "            bucket.rate = rate\n",
        ("tests/controller/test_mutation_quota.py::test_a_bucket_holds_what_a_higher_rate_allows",),
        "A client whose quota was raised is throttled as before.",
    ),
    PlantedFault(
        "time-before-a-change-of-quota-counts-at-the-new-rate",
        "kraftctl/controller/state/mutation_quota.py",
        "            bucket.refill(now_ms)\n            bucket.rate = rate\n",
        "            bucket.rate = rate\n",
        ("tests/controller/test_mutation_quota.py::test_time_before_a_change_counts_at_the_former_rate",),
        "A client whose quota is raised may do all that it could have done since it last asked.",
    ),
    PlantedFault(
        "the-epoch-of-features-is-not-undone",
        "kraftctl/image/features_image.py",
        "        self.metadata_version, self.last_change_offset = old\n",
        "        self.metadata_version, _ = old\n",
        ("tests/image/test_default_values.py::test_it_is_undone_to_what_it_was",),
        "Brokers take features of an epoch that was never committed for newer than those after it.",
    ),
    PlantedFault(
        "registration-offsets-are-not-undone",
        "kraftctl/image/cluster_image.py",
        "        self._journal.put(self.registration_offsets, record.broker_id, offset)\n",
        "        self.registration_offsets[record.broker_id] = offset\n",
        ("tests/image/test_default_values.py::test_the_offset_0_of_a_registration_is_undone_to_it",),
        "A broker has caught up, and stays fenced until the log is longer than a part that was lost.",
    ),
    PlantedFault(
        "counts-of-tokens-are-not-undone",
        "kraftctl/image/delegation_tokens_image.py",
        "        self._journal.put(self._counts, token.owner, self.count_of(token.owner) + 1)\n",
        "        self._counts[token.owner] = self.count_of(token.owner) + 1\n",
        ("tests/image/test_default_values.py::test_it_is_undone_to_what_it_was",),
        "A user has fewer and fewer tokens with each change of leaders, until it may create none.",
    ),
    PlantedFault(
        "names-that-collide-are-not-undone",
        "kraftctl/image/topics_image.py",
        "            self._journal.put(self.names_by_unified_name, unified, tuple(sorted((*names, name))))\n",
        "            self.names_by_unified_name[unified] = tuple(sorted((*names, name)))\n",
        ("tests/image/test_default_values.py::test_it_is_undone_to_what_it_was",),
        "A name stays refused because of a topic that was never committed.",
    ),
    PlantedFault(
        "reassignments-of-a-large-removed-topic-stay",
        "kraftctl/image/topics_image.py",
        "        self.reassigning_count -= self.reassigning_counts.pop(topic_id, 0)\n",
        "        self.reassigning_count -= self.reassigning_counts.get(topic_id, 0)\n",
        ("tests/image/test_default_values.py::test_it_is_undone_to_what_it_was",),
        "Each list of reassignments fails: it looks for a topic that is gone.",
    ),
    PlantedFault(
        "partitions-without-leader-of-a-large-removed-topic-stay",
        "kraftctl/image/topics_image.py",
        "        self.leaderless_count -= self.leaderless_counts.pop(topic_id, 0)\n",
        "        self.leaderless_count -= self.leaderless_counts.get(topic_id, 0)\n",
        ("tests/image/test_default_values.py::test_it_is_undone_to_what_it_was",),
        "Each election of leaders fails: it looks for a topic that is gone.",
    ),
    PlantedFault(
        "leaderships-of-a-large-removed-topic-stay",
        "kraftctl/image/topics_image.py",
        "            left = self.leader_counts[leader] - count\n",
        "            left = self.leader_counts[leader] - min(count, 1)\n",
        ("tests/image/test_default_values.py::test_it_is_undone_to_what_it_was",),
        "A broker that is to stop waits for leaderships that are gone.",
    ),
    PlantedFault(
        "an-isr-of-one-with-a-new-leader-counts-as-before",
        "kraftctl/image/topics_image.py",
        "        if old.isr is not new.isr or old.leader != new.leader:\n            self._change_isr(",
        "        if old.isr is not new.isr:\n            self._change_isr(",
        (
            "tests/image/test_default_values.py::test_who_is_alone_in_an_isr_is_a_member_like_others_once_it_leads",
        ),
        "A fenced broker stays in ISRs of partitions that had no leader before.",
    ),
    PlantedFault(
        "a-removed-prefix-hides-others-of-its-length",
        "kraftctl/image/acl_index.py",
        "            if left:\n"
        "                self._prefix_counts[len(name)] = left\n"
        "            else:\n"
        "                del self._prefix_counts[len(name)]\n",
        "            del self._prefix_counts[len(name)], left\n",
        ("tests/image/test_acl_index.py",),
        "A DENY on one prefix is ignored after the entries of another one were removed.",
    ),
    PlantedFault(
        "an-undone-end-of-a-transaction-stays",
        "kraftctl/image/undo_journal.py",
        "        if old is not None:\n            self._ended_transactions.pop()\n",
        "",
        ("tests/image/test_undo_journal.py",),
        "Old values are kept, and responses wait, for a transaction that is open again.",
    ),
    PlantedFault(
        "a-transaction-is-stable-one-record-early",
        "kraftctl/image/undo_journal.py",
        "            if end >= committed_end:\n",
        "            if end > committed_end:\n",
        ("tests/image/test_undo_journal.py",),
        "A snapshot has a transaction whose end is not committed.",
    ),
    PlantedFault(
        "values-before-a-transaction-are-forgotten-one-record-early",
        "kraftctl/image/undo_journal.py",
        "self._ended_transactions[0][1] < end_offset:\n",
        "self._ended_transactions[0][1] <= end_offset:\n",
        ("tests/image/test_undo_journal.py",),
        "A transaction whose end was never committed cannot be taken back.",
    ),
    PlantedFault(
        "a-read-does-not-wait-for-the-first-record-behind-the-commit",
        "kraftctl/image/undo_journal.py",
        "            if offset < start_offset:\n                return None\n",
        "            if offset <= start_offset:\n                return None\n",
        ("tests/image/test_undo_journal.py",),
        "A description shows a change that may never be committed.",
    ),
    PlantedFault(
        "views-lack-entries-that-are-removed-meanwhile",
        "kraftctl/image/undo_journal.py",
        "        removed = [key for key in changes if key not in entries]\n",
        "        removed: list[Any] = []\n",
        ("tests/image/test_default_values.py::test_a_snapshot_has_it_while_it_changes",),
        "An ACL that is removed while a snapshot is written is missing in it, also where that is undone.",
    ),
    PlantedFault(
        "truncated-batches-are-still-to-be-written",
        "kraftctl/storage/recent_batches.py",
        "        self.unwritten_bytes -= unwritten_dropped_bytes\n",
        "",
        ("tests/storage/test_recent_batches.py",),
        "After many truncations a log takes no appends: too much seems to wait for the disk.",
    ),
    PlantedFault(
        "truncated-batches-count-as-written",
        "kraftctl/storage/recent_batches.py",
        "        self._written_bytes -= dropped_bytes - unwritten_dropped_bytes\n",
        "",
        ("tests/storage/test_recent_batches.py",),
        "After many truncations nothing is kept in memory, and each Fetch reads files.",
    ),
    PlantedFault(
        "bytes-of-the-last-snapshot-count-again",
        "kraftctl/node/snapshot_generation.py",
        "    def began(self, now_ms: int) -> None:\n        self._bytes = 0\n",
        "    def began(self, now_ms: int) -> None:\n",
        ("tests/node/test_snapshot_policy.py",),
        "Once there are enough records for a snapshot, each record makes one.",
    ),
    PlantedFault(
        "a-snapshot-that-failed-once-is-tried-for-ever",
        "kraftctl/node/snapshot_generation.py",
        '        """The snapshot is complete."""\n        self._failure_count = 0\n',
        '        """The snapshot is complete."""\n',
        ("tests/node/test_snapshot_policy.py::test_a_retry_that_succeeds_is_the_last_one",),
        "After a failure one snapshot follows the other as long as the process runs.",
    ),
)
