"""Planted faults in `kraftctl/storage` and in the loop: what has to be on disk, and in which order."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

CRASH = "tests/storage/test_crash.py"
POWER = "tests/storage/test_power_failure.py::test_power_fails_at_every_call[only-flushed]"

FAULTS = (
    PlantedFault(
        "loop-writes-quorum-state-last",
        "kraftctl/server/node_loop.py",
        "self._node.step(event, self._clock.now_ms(), self._clock.wall_ms())",
        "sorted(self._node.step(event, self._clock.now_ms(), self._clock.wall_ms()),"
        " key=lambda effect: type(effect).__name__ == 'WriteQuorumState')",
        ("tests/server/test_effect_order.py",),
        "The answer that carries a vote leaves before the vote is on disk.",
    ),
    PlantedFault(
        "effects-follow-a-failure",
        "kraftctl/server/node_loop.py",
        "                if executor.paused or self.ended:\n",
        "                if executor.paused:\n",
        ("tests/server/test_node_loop.py",),
        "After a failure, the rest of a step is still carried out.",
    ),
    PlantedFault(
        "quorum-state-of-a-later-version",
        "kraftctl/storage/quorum_state_store.py",
        "    if not 0 <= version <= VERSION_MAX:\n",
        "    if version < 0:\n",
        ("tests/storage/test_stores.py::test_quorum_state_that_is_not_understood_is_refused",),
        "KAFKA-15412: a vote in an unknown format is guessed or ignored.",
    ),
    PlantedFault(
        "small-files-without-fsync",
        "kraftctl/storage/durable_files.py",
        "            write_all(descriptor, content)\n            os.fsync(descriptor)\n",
        "            write_all(descriptor, content)\n",
        (POWER,),
        "After a power failure quorum-state is empty under its final name.",
    ),
    PlantedFault(
        "rename-without-fsync-of-the-directory",
        "kraftctl/storage/durable_files.py",
        "    fsync_directory(path.parent)\n\n\ndef write_all(",
        "\n\ndef write_all(",
        (POWER,),
        "After a power failure the quorum-state from before the vote is back.",
    ),
    PlantedFault(
        "snapshot-without-fsync",
        "kraftctl/storage/snapshots.py",
        "            os.fsync(self._descriptor)\n",
        "",
        (POWER,),
        "The log below a snapshot is deleted while the snapshot is in memory only.",
    ),
    PlantedFault(
        "damage-in-the-middle-is-cut",
        "kraftctl/storage/recovery.py",
        " or find_intact_batch(rest, offset, start=1) is not None:",
        ":",
        (f"{CRASH}::test_zeros_in_the_middle_are_refused",),
        "Committed records after a damaged one are dropped as if they were never flushed.",
    ),
    PlantedFault(
        "missing-segment-is-accepted",
        "kraftctl/storage/recovery.py",
        "        if at > 0 and segment.base_offset != segments[at - 1].end_offset:\n",
        "        if at > 0 and segment.base_offset < segments[at - 1].end_offset:\n",
        (f"{CRASH}::test_missing_segment_is_refused",),
        "A log with a hole is served.",
    ),
    PlantedFault(
        "log-start-without-snapshot",
        "kraftctl/storage/metadata_partition.py",
        "        if log.start_offset > 0 and (latest is None or latest.offset < log.start_offset):\n",
        "        if log.start_offset > 0 and latest is not None and latest.offset < log.start_offset:\n",
        ("tests/storage/test_snapshots.py::test_log_start_without_snapshot_is_refused",),
        "KAFKA-14240: a log that has lost its start is taken for complete.",
    ),
    PlantedFault(
        "downloaded-snapshot-is-not-verified",
        "kraftctl/server/snapshot_downloads.py",
        "            writer.verify()\n",
        "            pass\n",
        ("tests/server/test_snapshot_downloads.py",),
        "A damaged download replaces the log.",
    ),
    PlantedFault(
        "checksum-is-not-compared",
        "protocol/kraftctl_protocol/batch_framing.py",
        "        if actual_crc(buffer, at, size_bytes) != stated_crc(buffer, at):\n",
        "        if stated_crc(buffer, at) == 0:\n",
        ("tests/protocol/test_batch_framing.py", f"{CRASH}::test_zeros_in_the_middle_are_refused"),
        "Damaged records are replayed.",
    ),
    PlantedFault(
        "what-a-killed-process-wrote-is-not-forced",
        "kraftctl/storage/metadata_log.py",
        "            segment.needs_flush = True  #",
        "            #",
        ("tests/storage/test_log_flush.py",),
        "A start reports as durable what a power failure still takes.",
    ),
    PlantedFault(
        "end-of-recovery-is-not-stored",
        "kraftctl/server/effect_executor.py",
        "                self._store(effect, storage.note_recovered)\n",
        "                pass\n",
        ("tests/server/test_effect_order.py",),
        "A voter that has recovered and voted recovers again after a restart, with its vote forgotten.",
    ),
    PlantedFault(
        "a-stop-leaves-the-recovery-point-behind",
        "kraftctl/storage/metadata_partition.py",
        "                self._note_durable()\n                stopped = True",
        "                stopped = True",
        ("tests/storage/test_recovery_point.py::test_a_stop_notes_what_it_flushes",),
        "Damage in what was flushed last is cut after a clean stop.",
    ),
    PlantedFault(
        "epoch-of-the-log-start-is-that-of-its-first-record",
        "kraftctl/storage/metadata_log.py",
        "start_epoch = self.epoch_at(offset - 1)",
        "start_epoch = self.epoch_at(offset)",
        ("tests/storage/test_snapshots.py",),
        "A log that is cut back to its snapshot is refused at the next start.",
    ),
    PlantedFault(
        "unreadable-truncation-stays-in-service",
        "kraftctl/storage/metadata_log.py",
        "                except (OSError, StorageError) as error:\n",
        "                except OSError as error:\n",
        ("tests/storage/test_recovery_point.py",),
        "A stop notes the end that the log had before; no start is possible any more.",
    ),
    PlantedFault(
        "waiting-requests-prolong-the-backoff",
        "kraftctl/server/peers.py",
        "            return None\n        try:\n",
        "            self._failed(TimeoutError())\n            return None\n        try:\n",
        ("tests/server/test_peers.py",),
        "A voter with short election timeouts is never heard again.",
    ),
)
