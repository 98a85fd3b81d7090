"""Planted faults: undone as a default, cached under too little, counted too early, appended untried."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

DEFAULTS = "tests/image/test_default_values.py"
UNDONE = f"{DEFAULTS}::test_it_is_undone_to_what_it_was"
VIEWED = f"{DEFAULTS}::test_a_snapshot_has_it_while_it_changes"
REFUSED = "tests/controller/test_refused_records.py"
COUNTED = "tests/raft/test_counted_too_early.py"
KEPT = "tests/server/loop/test_read_cache.py"
OWN_REPLAY = "kraftctl/controller/own_replay.py"

FAULTS = (
    PlantedFault(
        "empty-configs-are-undone-as-absent",
        "kraftctl/image/configurations_image.py",
        "        self._put(resource, name, old if isinstance(old, str) else None)\n",
        "        self._put(resource, name, (old if isinstance(old, str) else None) or None)\n",
        (UNDONE,),
        "A config with an empty value is gone after a change of leaders.",
    ),
    PlantedFault(
        "empty-configs-are-remembered-as-absent",
        "kraftctl/image/configurations_image.py",
        "        self._journal.remember(self, (resource, name), MISSING if old is None else old)\n",
        "        self._journal.remember(self, (resource, name), old or MISSING)\n",
        (UNDONE,),
        "The same, one step earlier.",
    ),
    PlantedFault(
        "producer-id-zero-is-undone-as-none",
        "kraftctl/image/producer_ids_image.py",
        "        self._journal.remember(self, None, self.next_producer_id)\n",
        "        self._journal.remember(self, None, self.next_producer_id or -1)\n",
        (UNDONE,),
        "The first block of producer ids is given out twice.",
    ),
    PlantedFault(
        "quotas-of-zero-are-undone-as-absent",
        "kraftctl/image/undo_journal.py",
        "            if isinstance(container, Restorable):\n                container.restore(key, old)\n"
        "                continue\n",
        "            if isinstance(container, Restorable):\n                container.restore(key, old)\n"
        "                continue\n            if not old:\n                old = MISSING\n",
        (f"{DEFAULTS}", "tests/image/test_undo_journal.py"),
        "A registration offset or a level of 0 is gone after a change of leaders.",
    ),
    PlantedFault(
        "clearing-an-elr-leaves-the-last-known-leaders",
        "kraftctl/image/topics_image.py",
        "                        last_known_elr=[],\n",
        "",
        ("tests/image/test_clear_elr.py",),
        "A broker that is not known to have everything is elected after ELR was cleared.",
    ),
    PlantedFault(
        "partitions-with-a-last-known-leader-alone-are-not-cleared",
        "kraftctl/image/topics_image.py",
        "                if partition.elr or partition.last_known_elr:\n",
        "                if partition.elr:\n",
        ("tests/image/test_clear_elr.py",),
        "The same, where only the last known leader is left.",
    ),
    PlantedFault(
        "views-of-standbys-are-not-kept-for-partitions",
        "kraftctl/image/undo_journal.py",
        "        return self.enabled or self._transaction_start is not None or len(self._views) > 0\n",
        "        return self.enabled or self._transaction_start is not None\n",
        (VIEWED,),
        "A snapshot of a standby has partitions as they are later.",
    ),
    PlantedFault(
        "views-of-standbys-are-not-kept-for-removals",
        "kraftctl/image/undo_journal.py",
        "            if self.enabled or self._transaction_start is not None or self._views:\n"
        "                self._append(container, key, container[key])\n",
        "            if self.enabled or self._transaction_start is not None:\n"
        "                self._append(container, key, container[key])\n",
        (VIEWED,),
        "A snapshot of a standby lacks what was removed while it was written.",
    ),
    PlantedFault(
        "views-of-standbys-are-not-kept-for-configs",
        "kraftctl/image/undo_journal.py",
        "        if self.enabled or self._transaction_start is not None or self._views:\n"
        "            self._append(container, key, old)\n\n    def put(",
        "        if self.enabled or self._transaction_start is not None:\n"
        "            self._append(container, key, old)\n\n    def put(",
        (VIEWED,),
        "A snapshot of a standby has configs as they are later.",
    ),
    PlantedFault(
        "same-incarnation-registers-again-unfenced",
        "kraftctl/controller/cluster_control/register_broker.py",
        "            record.fenced = existing.fenced\n",
        "            record.fenced = False\n",
        ("tests/controller/test_register_broker.py",),
        "A fenced broker that repeats its registration leads partitions before it has caught up.",
    ),
    PlantedFault(
        "same-incarnation-registers-again-as-staying",
        "kraftctl/controller/cluster_control/register_broker.py",
        "            record.in_controlled_shutdown = existing.in_controlled_shutdown\n",
        "",
        ("tests/controller/test_register_broker.py",),
        "A broker that is leaving gets leaderships again.",
    ),
    PlantedFault(
        "slices-of-any-snapshot-are-the-same",
        "kraftctl/server/loop/read_cache.py",
        "        return self._get(wanted, 0, read)\n",
        "        return self._get((wanted[1], wanted[2]), 0, read)\n",
        (KEPT,),
        "A replica loads a snapshot made of two, and stops at its footer.",
    ),
    PlantedFault(
        "slices-of-snapshots-are-kept-without-their-epoch",
        "kraftctl/server/loop/read_cache.py",
        "        return self._find(wanted, 0)\n",
        "        return self._find((OffsetAndEpoch(wanted[0].offset, 1), wanted[1], wanted[2]), 0)\n",
        (KEPT,),
        "The same, of two snapshots that end at one offset.",
    ),
    PlantedFault(
        "records-that-a-wiped-voter-lost-still-count",
        "kraftctl/raft/handle_fetch.py",
        "    voter.end_offset = fetch.fetch_offset\n",
        "",
        (COUNTED,),
        "What only the leader has is committed, and lost with it.",
    ),
    PlantedFault(
        "what-a-replica-claims-beyond-the-log-counts",
        "kraftctl/raft/handle_fetch.py",
        "    kind, place = _compare_logs(core, fetch)\n",
        "    _note_progress(core, leader, fetch)\n    kind, place = _compare_logs(core, fetch)\n",
        (COUNTED,),
        "Records of another epoch at the same offsets count as those of this leader.",
    ),
    PlantedFault(
        "records-are-appended-before-they-are-replayed",
        "kraftctl/controller/quorum_controller.py",
        "            self._replay_ahead(prepared, moment.next_offset)\n        except Exception:\n",
        "        except Exception:\n",
        (f"{REFUSED}::test_it_fails_its_request_and_leaves_the_image_as_it_was",),
        "A record that does not fit ends one controller after the other.",
    ),
    PlantedFault(
        "records-of-a-slice-are-appended-before-they-are-replayed",
        "kraftctl/controller/quorum_controller.py",
        "            self._replay_ahead(prepared, moment.next_offset)\n        except Exception as error:",
        "        except Exception as error:",
        ("tests/node/test_containment.py::TestReplay",),
        "The same, of long work.",
    ),
    PlantedFault(
        "records-of-a-task-are-appended-before-they-are-replayed",
        "kraftctl/controller/quorum_controller.py",
        "                if prepared is not None:\n"
        "                    self._replay_ahead(prepared, moment.next_offset)\n",
        "",
        ("tests/node/test_containment.py::TestReplay",),
        "The same, of a timer: without a client that asks again, after each change of leaders.",
    ),
    PlantedFault(
        "what-was-replayed-before-a-misfit-stays",
        OWN_REPLAY,
        "        except Exception:\n            self._undo(image, base_offset)\n            raise\n",
        "        except Exception:\n            raise\n",
        (f"{REFUSED}::test_it_fails_its_request_and_leaves_the_image_as_it_was",),
        "The image has records that the log has not: its snapshots contradict those of others.",
    ),
    PlantedFault(
        "levels-that-others-refuse-are-appended",
        OWN_REPLAY,
        "            assert reason is None, reason\n",
        "            pass\n",
        (f"{REFUSED}::test_it_fails_its_request_and_leaves_the_image_as_it_was",),
        "Each standby ends at the level of a feature that it does not know.",
    ),
    PlantedFault(
        "an-image-that-was-not-restored-goes-on",
        OWN_REPLAY,
        "            self.undo_failure = error\n",
        "            pass\n",
        ("tests/node/test_containment.py::TestReplay",),
        "A controller answers from an image that is not what the log says.",
    ),
    PlantedFault(
        "what-is-appended-with-topics-is-taken-for-one",
        OWN_REPLAY,
        "                        self._are_topics = False\n",
        "",
        (f"{REFUSED}::test_a_registration_that_a_later_record_of_the_batch_removes_is_followed",),
        "The sessions of brokers do not follow their registrations.",
    ),
    PlantedFault(
        "records-behind-those-that-are-replayed-are-taken-for-replayed",
        OWN_REPLAY,
        "        assert self._next_offset <= self._end_offset,",
        "        assert True,",
        ("tests/controller/test_own_replay.py",),
        "A topic is in the log and in no image.",
    ),
    PlantedFault(
        "alterations-that-wait-keep-their-partitions",
        "kraftctl/node/controller_node.py",
        "        pending.forget_partitions()\n",
        "",
        ("tests/node/test_forgotten_partitions.py",),
        "What brokers have in flight pushes the image out of the processor's cache.",
    ),
    PlantedFault(
        "every-request-that-waits-is-emptied",
        "kraftctl/controller/pending_request.py",
        "        if type(self.request) is AlterPartitionRequest:\n",
        "        if True:\n",
        ("tests/node/test_forgotten_partitions.py",),
        "A request whose changes are undone is refused without the names of its topics.",
    ),
    PlantedFault(
        "registrations-are-followed-as-they-end",
        OWN_REPLAY,
        "            return self._registrations.pop(0)\n",
        "            return image.cluster.brokers[record.broker_id]\n",
        (f"{REFUSED}::test_a_registration_that_a_later_record_of_the_batch_removes_is_followed",),
        "A batch that changes and removes a broker ends the controller after it was appended.",
    ),
    PlantedFault(
        "audit-entries-have-the-values-after",
        "kraftctl/node/controller_node.py",
        "                self._responses.begin(pending, pending.context, pending.request)\n"
        "                has_begun = True\n",
        "",
        ("tests/node/test_audit_trail.py::test_configurations_have_the_value_that_is_replaced",),
        "The audit log says that a value was replaced by itself.",
    ),
)
