"""Planted faults in node, controller and image that the simulator has to notice."""

from __future__ import annotations

from tests.faults.simulated_fault import SimulatedFault, known, planted

NODE = "kraftctl/node/controller_node.py"
CONTROLLER = "kraftctl/controller/quorum_controller.py"
REPLICATION = "kraftctl/controller/replication_control"
CLUSTER = "kraftctl/controller/cluster_control"
BUILDER = f"{REPLICATION}/partition_change_builder.py"
TRANSITIONS = f"{REPLICATION}/broker_transitions.py"
ALTER_PARTITION = f"{REPLICATION}/alter_partition.py"
JOURNAL = "kraftctl/image/undo_journal.py"

FAULTS: tuple[SimulatedFault, ...] = (
    known("answer-before-commit"),
    known("undo-journal-is-not-replayed"),
    known("parked-answers-are-released-too-early"),
    known("parked-answers-are-not-refused"),
    known("broker-epoch-of-another-offset", "brokers"),
    known("stale-brokers-are-fenced-together", "brokers"),
    known("a-removed-leader-continues-after-its-last-record", "membership"),
    known("unfenced-brokers-have-no-session-after-a-failover", "brokers"),
    planted(
        "claims-before-it-has-read-the-log",
        NODE,
        "        loaded = self._controller.next_replay_offset\n        if loaded <=",
        "        loaded = self._raft.end_offset\n        if loaded <=",
        "KAFKA-14275: a controller is active without committed records.",
    ),
    planted(
        "former-leader-skips-what-it-has-undone",
        CONTROLLER,
        "        self._next_replay_offset = self._committed_end\n"
        "        self._last_change_offset = NO_OFFSET\n",
        "        self._last_change_offset = NO_OFFSET\n",
        "KAFKA-13148: what is committed after all is missing in the image of a former leader.",
    ),
    known("standby-replays-at-the-base-offset", "brokers"),
    planted(
        "unfencing-is-not-replayed-by-a-standby",
        "kraftctl/controller/committed_replay.py",
        "            replay(self.image, record, as_of)\n",
        '            if getattr(record, "fenced", 0) != -1:\n'
        "                replay(self.image, record, as_of)\n",
        "The images of the active controller and of the standbys differ.",
        "brokers",
    ),
    planted(
        "journal-forgets-a-record-too-many",
        JOURNAL,
        "        while start < count and self._offsets[start] < limit:\n",
        "        while start < count and self._offsets[start] <= limit:\n",
        "Off by one: the first record above the high watermark cannot be undone.",
    ),
    planted(
        "rollback-leaves-the-indexes",
        "kraftctl/image/topics_image.py",
        "        topic.partitions.put(index, old)\n        self._update_indexes(topic, current, old)\n",
        "        topic.partitions.put(index, old)\n",
        "A former leader does not find the partitions of a broker.",
        "brokers",
    ),
    planted(
        "view-keeps-the-last-old-value",
        JOURNAL,
        "            self.changes(container).setdefault(key, old)\n",
        "            self.changes(container)[key] = old\n",
        "A snapshot has a value that was never committed at its end.",
    ),
    planted(
        "snapshot-has-uncommitted-changes",
        "kraftctl/node/snapshot_generation.py",
        "        self._writer = ImageWriter(image, snapshot_id.offset)\n",
        "        self._writer = ImageWriter(image, 1 << 62)\n",
        "A node that loads the snapshot keeps what a failover has undone.",
    ),
    planted(
        "a-slice-of-a-snapshot-lacks-its-last-record",
        "kraftctl/node/snapshot_generation.py",
        "            self._batches += self._encoder.values(values)\n",
        "            self._batches += self._encoder.values(values[:-1])\n",
        "Once the log is trimmed, some partitions are gone.",
    ),
    planted(
        "snapshot-without-quotas",
        "kraftctl/image/client_quotas_image.py",
        "        for parts, quotas in view.items(self.quotas, self.quotas):\n",
        "        for parts, quotas in list(view.items(self.quotas, self.quotas))[:0]:\n",
        "Once the log is trimmed, quotas are gone.",
    ),
    planted(
        "isr-change-of-an-earlier-partition-epoch",
        ALTER_PARTITION,
        "    if data.partition_epoch < partition.partition_epoch:\n",
        "    if data.partition_epoch < 0:\n",
        "KIP-497: a leader that missed a change undoes it.",
        "brokers",
    ),
    known("fenced-replica-joins", "isrs"),
    known("replica-that-shuts-down-joins", "isrs"),
    known("replica-of-a-former-process-joins", "isrs"),
    planted(
        "elections-are-answered-before-the-commit",
        "kraftctl/apis/api_table.py",
        "ApiKey.ELECT_LEADERS, 0, 2, Owner.ACTIVE, AclOperation.ALTER, forwardable",
        "ApiKey.ELECT_LEADERS, 0, 2, Owner.ACTIVE, AclOperation.ALTER, WaitsFor.NOTHING, forwardable",
        "An election is confirmed that a failover undoes.",
        "isrs",
    ),
    planted(
        "unclean-leader-need-not-recover",
        BUILDER,
        "            if self._partition.leader_recovery_state != RECOVERING:\n"
        "                record.leader_recovery_state = RECOVERING\n",
        "",
        "KIP-704: an unclean leader is taken for a clean one.",
        "brokers",
    ),
    planted(
        "leader-epoch-stays",
        "kraftctl/metadata/partition_registration.py",
        "        return self.leader_epoch if change.leader == NO_LEADER_CHANGE else self.leader_epoch + 1\n",
        "        return self.leader_epoch if change.leader != NO_LEADER else self.leader_epoch + 1\n",
        "Two brokers lead a partition in one leader epoch.",
        "brokers",
    ),
    planted(
        "partition-epoch-stays",
        "kraftctl/metadata/partition_registration.py",
        "            partition_epoch=self.partition_epoch + 1,\n",
        "            partition_epoch=self.partition_epoch + (change.isr is not None),\n",
        "KIP-497: a leader does not see that its view is old.",
        "brokers",
    ),
    planted(
        "fenced-while-it-leads",
        f"{REPLICATION}/partition_updates.py",
        "            removed=removed,\n            added=added,\n",
        "            added=added,\n",
        "KIP-841: a broker that is being fenced is elected.",
        "brokers",
    ),
    planted(
        "fencing-forgets-the-isrs",
        TRANSITIONS,
        "        if not is_out:\n            begins = DepartureBegins(",
        "        updates.records.clear()\n        if False:\n            begins = DepartureBegins(",
        "KIP-841: a fenced broker stays in its ISRs.",
        "brokers",
    ),
    planted(
        "unclean-restart-counts-as-clean",
        f"{CLUSTER}/register_broker.py",
        "    return stored_epoch == request.previous_broker_epoch\n",
        "    return stored_epoch != request.previous_broker_epoch or existing is not None\n",
        "KAFKA-15586, KIP-966: a broker that lost the tails of its logs stays eligible.",
        "brokers",
    ),
    planted(
        "replica-stays-eligible-after-an-unclean-restart",
        BUILDER,
        "        candidates.discard(self.unclean_shutdown_replica)\n",
        "",
        "KIP-966: the same, while the ISR is too small.",
        "brokers",
    ),
    planted(
        "elr-beside-a-large-enough-isr",
        BUILDER,
        "        if len(self.target_isr) >= self._min_isr:\n",
        "        if len(self.target_isr) > self._min_isr:\n",
        "KIP-966: replicas stay eligible although committing does not need them.",
        "brokers",
    ),
    planted(
        "last-known-leader-is-not-remembered",
        BUILDER,
        "        if record.leader == NO_LEADER and not known:\n",
        "        if record.leader == NO_LEADER and known:\n",
        "KIP-966: a partition that lost all replicas has no best guess.",
        "brokers",
    ),
    planted(
        "a-leader-that-may-stay-makes-way",
        BUILDER,
        "        if self._can_lead_cleanly(leader):\n            return ElectionResult(leader, False)\n",
        "",
        "Clients look for another leader each time that anything changes in a partition.",
        "brokers",
    ),
    planted(
        "any-live-replica-is-elected-cleanly",
        BUILDER,
        "            eligible = replica in self._target_elr\n",
        "            eligible = replica in self.target_replicas\n",
        "A replica without acknowledged records leads, and no broker learns of the loss.",
        "brokers",
    ),
    planted(
        "any-election-may-be-unclean",
        BUILDER,
        "        if self.election == ELECT_UNCLEAN:\n            for",
        "        if self.election >= ELECT_PREFERRED:\n            for",
        "A topic that forbids unclean elections loses acknowledged records.",
        "brokers",
    ),
    planted(
        "removed-replicas-stay-in-the-isr",
        BUILDER,
        "            self.target_isr = completed.isr\n",
        "",
        "KIP-455: after a reassignment the ISR has brokers that are no replicas.",
        "brokers",
    ),
    planted(
        "producer-ids-are-given-twice",
        "kraftctl/controller/cluster_control/producer_id_control.py",
        "        next_producer_id=start + PRODUCER_ID_BLOCK_SIZE,\n",
        "        next_producer_id=start + PRODUCER_ID_BLOCK_SIZE - 1,\n",
        "Two producers share an id.",
        "brokers",
    ),
    planted(
        "no-node-is-known-that-is-configured",
        "kraftctl/controller/configuration_control/validate_configs.py",
        "        if not known and node_id not in voter_ids:\n",
        "        if node_id not in voter_ids:\n",
        "An administrator cannot set a config of a broker that runs.",
        "mixed",
    ),
)
