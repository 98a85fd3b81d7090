"""Planted faults of writing snapshots beside other work, and of keeping them while they are read."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

WRITING = "kraftctl/server/loop/snapshot_writing.py"
STORE = "kraftctl/storage/snapshots.py"
PARTS = "tests/server/loop/test_snapshot_writing.py"
DOWNLOADS = "tests/node/test_slow_downloads.py"
PACE = "kraftctl/server/process/turn_pace.py"
WRITER = "kraftctl/image/image_writer.py"
SLICES = "tests/image/test_image_writer.py"
TURNS = "tests/server/process/test_turn_pace.py"

FAULTS = (
    PlantedFault(
        "old-values-are-freed-in-one-turn",
        "kraftctl/image/undo_journal.py",
        "                if count_max <= 0:\n                    return True\n",
        "",
        ("tests/image/test_image_writer.py",),
        "The end of a snapshot of millions of partitions that have changed meanwhile holds up heartbeats.",
    ),
    PlantedFault(
        "a-turn-takes-no-share-of-the-time",
        PACE,
        "        return min(max(minimum_ns, share_ns), TURN_NS_MAX)\n",
        "        return minimum_ns\n",
        (f"{TURNS}::test_a_turn_takes_a_share_of_the_time_since_the_last_one",),
        "Beside many requests a snapshot is never complete, and a restart replays all that was written.",
    ),
    PlantedFault(
        "other-work-begins-with-the-pace-of-the-last",
        PACE,
        "            self.units = self.spent = UNITS\n",
        "            self.units, self.spent = self.units, self.spent\n",
        (f"{TURNS}::test_other_work_begins_no_faster_than_at_first",),
        "The first turn of a snapshot encodes 20,000 records: heartbeats wait for up to 180 ms.",
    ),
    PlantedFault(
        "freeing-costs-as-much-as-writing",
        "kraftctl/node/snapshot_generation.py",
        "        if self._writer.free_some(FREED_PER_UNIT * count_max):\n",
        "        if self._writer.free_some(count_max):\n",
        ("tests/node/test_units.py",),
        "The units of a turn double with each turn that only frees.",
    ),
    PlantedFault(
        "requests-begin-with-the-units-of-the-last-work",
        "kraftctl/node/sliced_turns.py",
        "        units = UNITS_BESIDE_WORK if self._controller.has_work else UNITS\n",
        "        units = UNITS_BESIDE_WORK if self._controller.has_work else self.units\n",
        ("tests/node/test_long_work.py::test_what_begins_beside_long_work_does_little_at_first",),
        "A heartbeat that unfences a broker makes as many records as partitions were looked at before.",
    ),
    PlantedFault(
        "an-overdue-snapshot-yields",
        PACE,
        "            if now_ns - state.since_ns >= DEADLINE_NS:\n",
        "            if False:\n",
        (TURNS,),
        "A snapshot keeps old values for minutes, and memory grows.",
    ),
    PlantedFault(
        "the-time-between-two-snapshots-is-measured",
        PACE,
        "        if effect.spent == 0:\n",
        "        if effect.spent == 0 and state.began_ns is None:\n",
        (f"{TURNS}::test_the_time_between_two_works_is_not_measured",),
        "Each snapshot begins with the slowest pace.",
    ),
    PlantedFault(
        "removed-partitions-are-not-in-the-snapshot",
        "kraftctl/image/topics_image.py",
        "            indexes += [index for index in members if index not in partitions]\n",
        "            pass\n",
        ("tests/image/test_replay.py::test_a_snapshot_is_consistent_while_the_image_changes",),
        "A topic that is removed while a snapshot is written is in it without partitions.",
    ),
    PlantedFault(
        "a-slice-ends-with-a-topic-only",
        WRITER,
        "        while len(values) < count_max:\n",
        "        while len(values) < count_max or values[-1][1] != TopicRecord.API_KEY:\n",
        (SLICES,),
        "A topic of 200,000 partitions blocks the loop for a third of a second.",
    ),
    PlantedFault(
        "a-part-of-a-snapshot-is-skipped",
        WRITING,
        "            batches += last.batches\n",
        "            batches = list(last.batches)\n",
        (PARTS,),
        "A snapshot lacks some partitions, and once the log is trimmed, they are gone.",
    ),
    PlantedFault(
        "a-torn-snapshot-counts",
        STORE,
        "            for batch in batches:\n                writer.append(batch)\n",
        "            for batch in batches:\n                writer.append(batch)\n"
        "            writer._path.replace(self.path(snapshot_id))\n",
        (PARTS,),
        "A process that is killed leaves half a snapshot, which takes the place of a log.",
    ),
    PlantedFault(
        "parts-of-snapshots-wait-in-memory",
        WRITING,
        "        if self._waiting_bytes <= WAITING_BYTES_MAX:\n            call()\n",
        "        if True:\n            call()\n",
        (PARTS,),
        "On a slow disk the whole snapshot is in memory, 250 MB for two million partitions.",
    ),
    PlantedFault(
        "abandoned-snapshots-stay-unfinished",
        WRITING,
        "            self._run(self._storage.abandon_snapshot, 0)\n            return\n",
        "            self._begin()\n            return\n",
        (PARTS,),
        "A file of 250 MB stays on the disk until the next start.",
    ),
    PlantedFault(
        "a-snapshot-is-deleted-while-it-is-downloaded",
        "kraftctl/storage/retention.py",
        "    kept = next((snapshot_id for snapshot_id in ids[:-1] if snapshot_id in held), None)\n",
        "    kept = None\n",
        (DOWNLOADS,),
        "A slow observer starts over with each snapshot, and never has one.",
    ),
    PlantedFault(
        "deleted-snapshots-are-still-served",
        "kraftctl/raft/raft_node.py",
        "            core.log.remove_snapshots(event.deleted)\n",
        "            pass\n",
        (DOWNLOADS,),
        "A leader that is asked for one cannot read its file, and resigns.",
    ),
    PlantedFault(
        "snapshots-that-were-downloaded-stay",
        "kraftctl/server/loop/retention.py",
        "            self._calls.scheduler.call_later(READING_MS / 1000, self._again)\n",
        "            pass\n",
        (f"{DOWNLOADS}::test_when_it_is_no_longer_fetched_it_is_deleted",),
        "The log is kept until the next snapshot, which may be hours later.",
    ),
    PlantedFault(
        "a-snapshot-is-held-for-ever",
        "kraftctl/server/loop/snapshot_reads.py",
        " < HELD_MS_MAX\n",
        " >= 0\n",
        ("tests/storage/test_retention.py",),
        "An observer that never comes to an end fills the disk of the leader.",
    ),
    PlantedFault(
        "the-log-behind-a-held-snapshot-is-cut",
        "kraftctl/storage/metadata_partition.py",
        "            oldest = ids[1] if doomed == ids[0] else ids[0]\n",
        "            oldest = ids[-1]\n",
        ("tests/storage/test_snapshots.py", DOWNLOADS),
        "The replica that has fetched the snapshot has to fetch the next one, and so on.",
    ),
    PlantedFault(
        "tagged-fields-of-partitions-are-left-out",
        "kraftctl/metadata/partition_encoding.py",
        "        if partition.leader_recovery_state != 0 or partition.elr or partition.last_known_elr:\n",
        "        if partition.leader_recovery_state != 0:\n",
        ("tests/image/test_partition_encoding.py",),
        "KIP-966: once the log is trimmed, eligible leader replicas are gone.",
    ),
)
