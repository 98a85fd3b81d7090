"""Planted faults: kept under too little, a default that is a value, undone in part, counted and not given back."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

TOPICS = "kraftctl/image/topics_image.py"
JOURNAL = "kraftctl/image/undo_journal.py"
TUPLES = "kraftctl/metadata/interned_tuples.py"
QUOTA = "kraftctl/controller/state/mutation_quota.py"
HEARTBEATS = "kraftctl/controller/state/broker_heartbeat_manager.py"
LEAVING = "kraftctl/controller/state/leaving_brokers.py"
RECENT = "kraftctl/storage/recent_batches.py"
READS = "kraftctl/server/loop/read_cache.py"

SETTINGS = "tests/controller/test_topic_settings.py"
UNDO = "tests/image/test_undo_journal.py"
REPLAY = "tests/image/test_replay.py"
VALUES = "tests/image/test_default_values.py"

FAULTS = (
    # Caches.
    PlantedFault(
        "unclean-elections-stay-as-they-were-inherited",
        "kraftctl/controller/state/effective_configs.py",
        "            self._min_isr = None\n            self._unclean = None\n\n",
        "            self._min_isr = None\n\n",
        (SETTINGS,),
        "Unclean elections go on after the operator has forbidden them for the cluster.",
    ),
    PlantedFault(
        "what-is-undone-in-broker-configs-is-obeyed",
        "kraftctl/image/configurations_image.py",
        "        self._put(resource, name, value)\n\n"
        "    def _put(self, resource: Resource, name: str, value: str | None) -> None:\n"
        "        if resource[0] == BROKER:\n            self.broker_changes += 1\n",
        "        self._put(resource, name, value)\n"
        "        if resource[0] == BROKER:\n            self.broker_changes += 1\n\n"
        "    def _put(self, resource: Resource, name: str, value: str | None) -> None:\n",
        (SETTINGS,),
        "A min.insync.replicas that was never committed is obeyed until the next change of a broker config.",
    ),
    PlantedFault(
        "partitions-have-the-elr-of-the-one-before",
        "kraftctl/image/partition_records.py",
        "        if lists.directories is not directories or lists.tagged is not tagged:\n",
        "        if lists.directories is not directories:\n",
        (REPLAY, "tests/image/test_partition_encoding.py"),
        "A restarted controller elects a replica that lacks acknowledged records.",
    ),
    PlantedFault(
        "last-known-leaders-are-those-of-others",
        TUPLES,
        "            elr,\n            last_known_elr,\n            recovery_state,\n",
        "            elr,\n            recovery_state,\n",
        (REPLAY, "tests/image/test_partition_encoding.py"),
        "A partition without a leader elects the last leader of another partition.",
    ),
    PlantedFault(
        "recovery-states-are-those-of-others",
        TUPLES,
        "            last_known_elr,\n            recovery_state,\n            directories,\n",
        "            last_known_elr,\n            directories,\n",
        (REPLAY, "tests/image/test_partition_encoding.py"),
        "A partition that is reassigned takes the state of an unclean election elsewhere.",
    ),
    PlantedFault(
        "a-last-known-leader-is-nothing-special",
        TUPLES,
        "            and not (removing_replicas or adding_replicas or elr or last_known_elr)\n",
        "            and not (removing_replicas or adding_replicas or elr)\n",
        (REPLAY,),
        "A partition that lost its last replica waits for an unclean election by hand.",
    ),
    PlantedFault(
        "what-is-read-again-counts-twice",
        READS,
        "        self._drop(wanted)\n        while self._kept_bytes",
        "        while self._kept_bytes",
        ("tests/server/loop/test_read_cache.py",),
        "The room for slices shrinks with each replica that reads on, until nothing is kept.",
    ),
    PlantedFault(
        "joined-batches-are-known-by-their-offset-alone",
        RECENT,
        "        key = (self._base_offsets[start], size_bytes)\n",
        "        key = (self._base_offsets[start], 0)\n",
        ("tests/storage/test_recent_batches.py",),
        "An observer gets batches that are not committed, which a voter has asked for before.",
    ),
    PlantedFault(
        "a-snapshot-is-held-for-its-first-readers-alone",
        "kraftctl/server/loop/snapshot_reads.py",
        "                self._held_since_ms.pop(snapshot_id, None)\n",
        "",
        ("tests/storage/test_retention.py", "tests/server/loop"),
        "The snapshot that a broker fetches ten minutes later is deleted under it.",
    ),
    PlantedFault(
        "one-topic-hides-the-unusable-values-of-others",
        "kraftctl/controller/state/unusable_values.py",
        "        reported = (resource, key, shown)\n",
        '        reported = ("", key, shown)\n',
        ("tests/controller/test_unusable_values.py",),
        "The log names one of a hundred topics whose min.insync.replicas is not obeyed.",
    ),
    PlantedFault(
        "configs-of-a-snapshot-are-those-before",
        "kraftctl/node/committed_configs.py",
        "        if changes != self._broker_changes or image is not self._image:\n",
        "        if changes != self._broker_changes:\n",
        ("tests/node/test_committed_configs.py",),
        "A controller that was behind obeys the limits of connections from before.",
    ),
    PlantedFault(
        "the-log-is-replayed-into-the-image-before",
        "kraftctl/node/metadata_loader.py",
        "        if self._log_replay is None or self._log_replay.image is not image:\n",
        "        if self._log_replay is None:\n",
        ("tests/node/test_loading.py", "tests/node/test_quorum.py"),
        "After a snapshot a standby counts records as loaded that are not in its image.",
    ),
    PlantedFault(
        "the-authorizer-keeps-the-image-before",
        "kraftctl/controller/quorum_controller.py",
        "        self.state.authorizer.follow_image(image)\n",
        "",
        ("tests/node/test_loading.py", "tests/node/test_rights.py", "tests/node/test_quorum.py"),
        "Rights that were removed are still there after a standby has loaded a snapshot.",
    ),
    PlantedFault(
        "observers-get-as-much-as-the-first-of-them-asked-for",
        "kraftctl/raft/respond_fetch.py",
        "            wanted = (fetch.fetch_offset, fetch.max_bytes, fetch.version, fetch.listener_name)\n",
        "            wanted = (fetch.fetch_offset, 0, fetch.version, fetch.listener_name)\n",
        ("tests/raft/test_observer_wakes.py",),
        "A broker with a small limit gets a response that it has no memory for.",
    ),
    PlantedFault(
        "observers-are-told-the-listener-of-the-first-of-them",
        "kraftctl/raft/respond_fetch.py",
        "            wanted = (fetch.fetch_offset, fetch.max_bytes, fetch.version, fetch.listener_name)\n",
        '            wanted = (fetch.fetch_offset, fetch.max_bytes, fetch.version, "")\n',
        ("tests/raft/test_observer_wakes.py",),
        "A broker is sent to the leader's address on a network that it does not reach.",
    ),
    # Defaults.
    PlantedFault(
        "a-client-without-an-id-shares-the-bucket-of-its-user",
        QUOTA,
        "        key = (context.principal.name if per_user else None, client_id if per_client else None)\n",
        '        key = (context.principal.name if per_user else None, client_id if per_client else "")\n',
        ("tests/controller/test_mutation_quota.py",),
        "Clients without an id take the tokens of all others of their user.",
    ),
    PlantedFault(
        "levels-of-zero-stay-finalized",
        "kraftctl/image/features_image.py",
        "        elif record.feature_level == 0:\n            self._journal.remove(self.finalized, record.name)\n",
        "",
        (REPLAY, "tests/controller/test_feature_control.py", "tests/image/test_image_writer.py"),
        "A feature that was switched off is in each snapshot, and in each ApiVersions response.",
    ),
    PlantedFault(
        "a-raised-quota-keeps-its-burst",
        QUOTA,
        "            bucket.rate = rate\n            bucket.burst = burst\n",
        "            bucket.rate = rate\n",
        ("tests/controller/test_mutation_quota.py",),
        "A client whose quota was raised is throttled as before.",
    ),
    PlantedFault(
        "time-before-a-change-of-quota-counts-at-the-new-rate",
        QUOTA,
        "            bucket.refill(now_ms)\n            bucket.rate = rate\n",
        "            bucket.rate = rate\n",
        ("tests/controller/test_mutation_quota.py",),
        "A client whose quota is raised may do all that it could have done since it last asked.",
    ),
    # Undo.
    PlantedFault(
        "the-epoch-of-features-is-not-undone",
        "kraftctl/image/features_image.py",
        "        self.metadata_version, self.last_change_offset = old\n",
        "        self.metadata_version, _ = old\n",
        (VALUES, UNDO),
        "Brokers take features of an epoch that was never committed for newer than those after it.",
    ),
    PlantedFault(
        "registration-offsets-are-not-undone",
        "kraftctl/image/cluster_image.py",
        "        self._journal.put(self.registration_offsets, record.broker_id, offset)\n",
        "        self.registration_offsets[record.broker_id] = offset\n",
        (VALUES, UNDO),
        "A broker has caught up, and stays fenced until the log is longer than a part that was lost.",
    ),
    PlantedFault(
        "counts-of-tokens-are-not-undone",
        "kraftctl/image/delegation_tokens_image.py",
        "        self._journal.put(self._counts, token.owner, self.count_of(token.owner) + 1)\n",
        "        self._counts[token.owner] = self.count_of(token.owner) + 1\n",
        (UNDO, "tests/controller/test_token_limits.py"),
        "A user has fewer and fewer tokens with each change of leaders, until it may create none.",
    ),
    PlantedFault(
        "secrets-of-removed-tokens-are-known",
        "kraftctl/image/delegation_tokens_image.py",
        "            self._journal.remove(self._ids, self._secrets.digest_of(token_id))\n",
        "            self._secrets.digest_of(token_id)\n",
        ("tests/controller/test_delegation_tokens.py",),
        "A request with the secret of a token that has ended fails, and counts as a defect.",
    ),
    PlantedFault(
        "a-removed-topic-takes-names-that-collide-along",
        TOPICS,
        "            if names:\n                self._journal.put(self.names_by_unified_name, unified, names)\n"
        "            else:\n                self._journal.remove(self.names_by_unified_name, unified)\n",
        "            self._journal.remove(self.names_by_unified_name, unified)\n            del names\n",
        (REPLAY, "tests/controller/test_create_topics.py", "tests/controller/test_delete_topics.py"),
        "A topic is created whose metrics have the name of those of another.",
    ),
    PlantedFault(
        "names-that-collide-are-not-undone",
        TOPICS,
        "            self._journal.put(self.names_by_unified_name, unified, tuple(sorted((*names, name))))\n",
        "            self.names_by_unified_name[unified] = tuple(sorted((*names, name)))\n",
        (UNDO, REPLAY),
        "A name stays refused because of a topic that was never committed.",
    ),
    PlantedFault(
        "reassignments-of-a-large-removed-topic-stay",
        TOPICS,
        "        for counts in (self.leaderless_counts, self.imbalanced_counts, self.reassigning_counts):\n",
        "        for counts in (self.leaderless_counts, self.imbalanced_counts):\n",
        (REPLAY, UNDO, "tests/controller/test_delete_topics.py"),
        "Each list of reassignments fails: it looks for a topic that is gone.",
    ),
    PlantedFault(
        "partitions-without-leader-of-a-large-removed-topic-stay",
        TOPICS,
        "        for counts in (self.leaderless_counts, self.imbalanced_counts, self.reassigning_counts):\n",
        "        for counts in (self.imbalanced_counts, self.reassigning_counts):\n",
        (REPLAY, UNDO, "tests/controller/test_delete_topics.py"),
        "Each election of leaders fails: it looks for a topic that is gone.",
    ),
    PlantedFault(
        "leaderships-of-a-large-removed-topic-stay",
        TOPICS,
        "            left = self.leader_counts[leader] - count\n",
        "            left = self.leader_counts[leader] - min(count, 1)\n",
        (REPLAY, UNDO, "tests/controller/test_delete_topics.py"),
        "A broker that is to stop waits for leaderships that are gone.",
    ),
    PlantedFault(
        "an-isr-of-one-with-a-new-leader-counts-as-before",
        TOPICS,
        "        if old.isr is not new.isr or old.leader != new.leader:\n            self._change_isr(",
        "        if old.isr is not new.isr:\n            self._change_isr(",
        (REPLAY, UNDO),
        "A fenced broker stays in ISRs of partitions that had no leader before.",
    ),
    PlantedFault(
        "a-removed-prefix-hides-others-of-its-length",
        "kraftctl/image/acl_index.py",
        "            if left:\n                self._prefix_counts[len(name)] = left\n"
        "            else:\n                del self._prefix_counts[len(name)]\n",
        "            del self._prefix_counts[len(name)], left\n",
        ("tests/image/test_acl_index.py",),
        "A DENY on one prefix is ignored after the entries of another one were removed.",
    ),
    PlantedFault(
        "an-undone-end-of-a-transaction-stays",
        JOURNAL,
        "        if old is not None:\n            self._ended_transactions.pop()\n",
        "",
        (UNDO,),
        "Old values are kept, and responses wait, for a transaction that is open again.",
    ),
    PlantedFault(
        "a-transaction-is-stable-one-record-early",
        JOURNAL,
        "            if end >= committed_end:\n",
        "            if end > committed_end:\n",
        (UNDO, "tests/controller/test_quorum_controller.py"),
        "A snapshot has a transaction whose end is not committed.",
    ),
    PlantedFault(
        "values-before-a-transaction-are-forgotten-one-record-early",
        JOURNAL,
        "self._ended_transactions[0][1] < end_offset:\n",
        "self._ended_transactions[0][1] <= end_offset:\n",
        (UNDO, "tests/controller/test_quorum_controller.py"),
        "A transaction whose end was never committed cannot be taken back.",
    ),
    PlantedFault(
        "a-read-does-not-wait-for-the-first-record-behind-the-commit",
        JOURNAL,
        "            if offset < start_offset:\n                return None\n",
        "            if offset <= start_offset:\n                return None\n",
        (UNDO, "tests/node/test_what_waits.py"),
        "A description shows a change that may never be committed.",
    ),
    PlantedFault(
        "views-lack-entries-that-are-removed-meanwhile",
        JOURNAL,
        "        removed = [key for key in changes if key not in entries]\n",
        "        removed: list[Any] = []\n",
        (UNDO, "tests/image/test_image_writer.py"),
        "An ACL that is removed while a snapshot is written is missing in it, also where that is undone.",
    ),
    PlantedFault(
        "a-former-leader-waits-for-what-it-has-undone",
        "kraftctl/controller/quorum_controller.py",
        "        self._next_replay_offset = self._committed_end\n"
        "        self._last_change_offset = NO_OFFSET\n",
        "        self._next_replay_offset = self._committed_end\n",
        ("tests/controller/test_quorum_controller.py", "tests/node/test_what_waits.py"),
        "When it leads again, its responses wait until the log is longer than a part that was lost.",
    ),
    # Sizes and counts.
    PlantedFault(
        "truncated-batches-are-still-to-be-written",
        RECENT,
        "        self.unwritten_bytes -= unwritten_dropped_bytes\n",
        "",
        ("tests/storage/test_recent_batches.py", "tests/storage/test_metadata_log.py"),
        "After many truncations a log takes no appends: too much seems to wait for the disk.",
    ),
    PlantedFault(
        "truncated-batches-count-as-written",
        RECENT,
        "        self._written_bytes -= dropped_bytes - unwritten_dropped_bytes\n",
        "",
        ("tests/storage/test_recent_batches.py", "tests/storage/test_metadata_log.py"),
        "After many truncations nothing is kept in memory, and each Fetch reads files.",
    ),
    PlantedFault(
        "a-snapshot-that-failed-once-is-tried-for-ever",
        "kraftctl/node/snapshot_generation.py",
        '        """The snapshot is complete."""\n        self._failure_count = 0\n',
        '        """The snapshot is complete."""\n',
        ("tests/node/test_snapshot_policy.py", "tests/node/test_containment.py"),
        "After a failure one snapshot follows the other as long as the process runs.",
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
        "leaving-brokers-are-known-by-their-ids-alone",
        LEAVING,
        "        return epochs is not None and broker_epoch in epochs\n",
        "        return epochs is not None\n",
        ("tests/controller/test_sliced_transitions.py", "tests/controller/test_long_transitions.py"),
        "A restarted broker joins no ISR and leads nothing until its former process is out of all of them.",
    ),
    PlantedFault(
        "one-of-two-works-ends-the-departure-of-a-directory",
        LEAVING,
        "        self._directories[directory] = self._directories.get(directory, 0) + 1\n",
        "        self._directories[directory] = 1\n",
        ("tests/controller/test_sliced_transitions.py", "tests/controller/test_long_transitions.py"),
        "The second work fails at its end, and elects leaders in a failed directory until then.",
    ),
    PlantedFault(
        "one-of-two-works-ends-the-departure-of-a-broker",
        LEAVING,
        "        epochs.remove(broker_epoch)\n        if not epochs:\n",
        "        epochs.remove(broker_epoch)\n        if epochs is not None:\n",
        ("tests/controller/test_sliced_transitions.py", "tests/controller/test_long_transitions.py"),
        "A broker returns to ISRs that one of two works is taking it out of, and the other one fails.",
    ),
    PlantedFault(
        "the-session-of-a-former-process-stays-the-oldest",
        HEARTBEATS,
        "            self._brokers[broker_id] = BrokerHeartbeatState(broker_epoch, fenced)\n"
        "            self._oldest = None\n",
        "            self._brokers[broker_id] = BrokerHeartbeatState(broker_epoch, fenced)\n",
        ("tests/controller/test_fence_stale_brokers.py", "tests/controller/test_register_broker.py"),
        "After a broker that died has registered again, no broker is fenced any more.",
    ),
    PlantedFault(
        "controlled-shutdowns-wait-for-fenced-brokers",
        HEARTBEATS,
        " for state in self._brokers.values() if state.active]\n",
        " for state in self._brokers.values() if not state.shutting_down]\n",
        ("tests/controller/test_broker_heartbeat.py",),
        "No broker can stop in order while another one is down.",
    ),
)
