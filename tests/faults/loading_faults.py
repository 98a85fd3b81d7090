"""Planted faults in loading: in parts of a snapshot, in turns, and in adding partitions."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

LOADER = "kraftctl/node/metadata_loader.py"
SNAPSHOT = "kraftctl/node/snapshot_loading.py"
PARTITIONS = "kraftctl/image/partition_records.py"
PARTS = "kraftctl/storage/checkpoint_parts.py"
LOADING = "tests/node/test_loading.py"
REPLAY = "tests/controller/test_committed_replay.py"

FAULTS = (
    PlantedFault(
        "half-an-image-is-used",
        LOADER,
        "        if snapshot.is_whole:\n",
        "        if spent > 0:\n",
        (f"{LOADING}::test_a_snapshot_is_seen_when_it_is_whole",),
        "A standby answers by ACLs of which only the first half is there.",
    ),
    PlantedFault(
        "the-image-is-built-in-place",
        "kraftctl/controller/quorum_controller.py",
        "        return CommittedReplay(image, self._supported_features, snapshot_id.offset - 1)\n",
        "        self.image = self.state.image = image\n"
        "        return CommittedReplay(image, self._supported_features, snapshot_id.offset - 1)\n",
        (f"{LOADING}::test_a_standby_that_starts_over_keeps_its_image_until_the_new_one_is_whole",),
        "A standby that starts over knows no ACLs, users and tokens meanwhile, and takes itself for loaded.",
    ),
    PlantedFault(
        "parts-of-another-load-are-replayed",
        SNAPSHOT,
        "        if event.snapshot_id != self.snapshot_id or event.position != self._next_position:\n"
        "            return\n",
        "",
        (f"{LOADING}::test_what_another_load_asked_for_is_not_used",),
        "A part of a snapshot that was replaced meanwhile is mixed into the one that replaced it.",
    ),
    PlantedFault(
        "a-part-is-replayed-twice",
        SNAPSHOT,
        "event.position != self._next_position:\n",
        "event.position > self._next_position:\n",
        (f"{LOADING}::test_what_another_load_asked_for_is_not_used",),
        "A topic that a snapshot has once exists already, and the process ends.",
    ),
    PlantedFault(
        "what-was-replaced-is-loaded-to-its-end",
        LOADER,
        " and self._snapshot.snapshot_id.offset < raft.log_start_offset:\n",
        " and self._snapshot.snapshot_id.offset < -1:\n",
        (f"{LOADING}::test_a_snapshot_that_is_replaced_meanwhile_is_dropped",),
        "A standby reads a file that is gone, and what follows it in a log that begins later.",
    ),
    PlantedFault(
        "a-turn-replays-all-that-was-read",
        SNAPSHOT,
        "            elif self._replay.replay_some(left):\n",
        "            elif self._replay.replay_some(1 << 30):\n",
        (f"{LOADING}::test_a_snapshot_is_seen_when_it_is_whole",),
        "A batch of 8 MiB in a snapshot of Kafka keeps heartbeats waiting.",
    ),
    PlantedFault(
        "waiting-for-a-read-counts-as-a-turn",
        LOADER,
        "        self._spent = 0  # in no turn\n",
        "",
        (f"{LOADING}::test_a_batch_of_the_log_is_in_the_image_as_a_whole_or_not_at_all",),
        "Turns become short, because the time between two of them is taken for work.",
    ),
    PlantedFault(
        "a-whole-snapshot-is-kept-in-memory",
        SNAPSHOT,
        "or len(self._parts) >= PARTS_MAX:\n",
        "or len(self._parts) >= 1 << 20:\n",
        (f"{LOADING}::test_the_next_part_is_read_while_one_is_replayed",),
        "Reading is faster than replaying: all of a snapshot is in memory twice.",
    ),
    PlantedFault(
        "a-part-is-skipped",
        PARTS,
        "                self._ahead = batch\n",
        "",
        ("tests/storage/test_checkpoint_parts.py::test_parts_are_whole_batches_and_together_the_file",),
        "A controller has not all the topics of its cluster.",
    ),
    PlantedFault(
        "partitions-keep-a-removed-topic",
        PARTITIONS,
        '            self._topic, self._topic_id = None, b""\n',
        "",
        (f"{REPLAY}::test_a_partition_of_a_removed_topic_is_refused",),
        "A partition is added to a topic that is gone.",
    ),
    PlantedFault(
        "directories-for-fewer-replicas",
        PARTITIONS,
        "        if lists.count != directories_count:\n            return False\n",
        "",
        (f"{REPLAY}::test_directories_of_other_replicas_are_refused",),
        "A partition has a replica without a directory.",
    ),
    PlantedFault(
        "a-partition-that-exists-is-added",
        PARTITIONS,
        "        if topic is None or index in topic.partitions:\n",
        "        if topic is None:\n",
        (f"{REPLAY}::test_a_partition_that_exists_is_replaced",),
        "The indexes count a partition twice: a broker never has left all of them.",
    ),
    PlantedFault(
        "a-loader-is-idle-before-all-is-freed",
        "kraftctl/node/metadata_loader.py",
        "            and not self._replaced\n            and self._spent",
        "            and self._spent",
        ("tests/node/test_idle_loader.py",),
        "An image that a snapshot has replaced stays in memory once the node leads.",
    ),
)
