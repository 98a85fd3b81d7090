"""Planted faults in `kraftctl/storage`, the loop and the executor that the simulator has to notice."""

from __future__ import annotations

from tests.faults.simulated_fault import SimulatedFault, known, planted

LOOP = "kraftctl/server/loop/node_loop.py"
CALLS = "kraftctl/server/loop/storage_calls.py"
LOG = "kraftctl/storage/metadata_log.py"
PARTITION = "kraftctl/storage/metadata_partition.py"
CONTRADICTIONS = "kraftctl/storage/contradictions.py"

FAULTS: tuple[SimulatedFault, ...] = (
    known("loop-writes-quorum-state-last"),
    known("small-files-without-fsync"),
    known("rename-without-fsync-of-the-directory"),
    known("snapshot-without-fsync"),
    known("end-of-recovery-is-not-stored", "disks"),
    known("epoch-of-the-log-start-is-that-of-its-first-record", "quorum"),
    known("effects-follow-a-failure", "disks"),
    known("recovery-ends-before-the-flush", "disks"),
    known("quorum-state-of-a-later-version", "rot"),
    known("damage-in-the-middle-is-cut", "rot"),
    known("missing-segment-is-accepted", "rot"),
    known("log-start-without-snapshot", "rot"),
    known("downloaded-snapshot-is-not-verified", "rot"),
    known("checksum-is-not-compared", "rot"),
    known("what-a-killed-process-wrote-is-not-forced", "rot"),
    known("a-stop-leaves-the-recovery-point-behind", "rot"),
    known("a-flush-takes-promises-back", "rot"),
    known("quorum-state-is-written-again-without-the-vote", "supervised"),
    known("that-it-was-elected-is-not-remembered", "supervised"),
    known("a-start-forgets-the-vote", "supervised"),
    known("an-adopted-directory-with-its-votes-recovers", "rot"),
    planted(
        "recovery-point-is-not-lowered",
        PARTITION,
        "                self.recovery_point.note_cut(log.epoch_at(kept_end_offset - 1), kept_end_offset)\n",
        "                pass\n",
        "After a crash the truncated log is taken for an older copy: the start is refused.",
        "cuts",
    ),
    planted(
        "recovery-point-is-lowered-after-the-truncation",
        PARTITION,
        "                self.recovery_point.note_cut(log.epoch_at(kept_end_offset - 1), kept_end_offset)\n"
        "            log.truncate_to(end_offset)\n",
        "                log.truncate_to(end_offset)\n"
        "                self.recovery_point.note_cut(log.epoch_at(kept_end_offset - 1), kept_end_offset)\n"
        "            log.truncate_to(end_offset)\n",
        "The same, after a crash in between.",
        "cuts",
    ),
    planted(
        "recovery-point-before-the-flush",
        PARTITION,
        "        end_offset = self.log.flush()\n"
        "        with self._cutting:\n"
        "            self._note_durable()\n",
        "        end_offset = self.log.end_offset\n"
        "        with self._cutting:\n"
        "            self.recovery_point.note_durable(self.log.epoch_at(end_offset - 1), end_offset)\n"
        "        end_offset = self.log.flush()\n",
        "After a crash in between, what was never flushed is taken for lost: the start is refused.",
    ),
    planted(
        "older-log-is-accepted",
        CONTRADICTIONS,
        "        if end >= (point.log_epoch, point.end_offset) or latest.offset >= point.end_offset:\n",
        "        if end >= (0, 0) or latest.offset >= point.end_offset:\n",
        "A voter on a log from a backup elects a leader that lacks what it had acknowledged.",
        "rot",
    ),
    planted(
        "older-epoch-is-accepted",
        CONTRADICTIONS,
        "        if election.epoch < point.quorum_epoch:\n",
        "        if election.epoch < 0:\n",
        "A voter on a quorum-state from a backup has forgotten its votes.",
        "rot",
    ),
    planted(
        "missing-vote-is-accepted",
        CONTRADICTIONS,
        "        if election.epoch == point.quorum_epoch and vote_is_missing:\n",
        "        if election.epoch < point.quorum_epoch and vote_is_missing:\n",
        "The same, in the epoch of the backup.",
        "rot",
    ),
    planted(
        "voters-are-known-by-their-ids-alone",
        "kraftctl/raft/replica_key.py",
        "    return known.id == key.id and known.directory_id in (NO_DIRECTORY_ID, key.directory_id)\n",
        "    return known.id == key.id\n",
        "KIP-853: an observer with an empty disk takes the place of the voter that it was before.",
        "disks",
    ),
    planted(
        "older-log-stays-beside-a-newer-snapshot",
        PARTITION,
        "        if latest is not None and _is_beyond(latest, log.last_epoch, log.end_offset):\n",
        "        if latest is not None and _is_beyond(latest, log.last_epoch, 1 << 62):\n",
        "A log that a snapshot has replaced is read.",
        "cuts",
    ),
    planted(
        "next-effect-while-one-is-stored",
        CALLS,
        "        self.paused = True\n        what = self._begin(effect)\n        stored = ",
        "        what = self._begin(effect)\n        stored = ",
        "The response with a vote leaves while the storage thread writes the vote.",
    ),
    planted(
        "next-event-while-one-is-stored",
        LOOP,
        "        return self._draining or is_paused(self._executor)\n",
        "        return self._draining\n",
        "An event is processed before the effects that wait for the disk.",
    ),
    planted(
        "stored-event-waits-in-line",
        LOOP,
        "            self._inbox.appendleft(next_event)\n",
        "            self._inbox.append(next_event)\n",
        "Other events are processed between the end of a download and its use.",
    ),
    planted(
        "flush-reports-more-than-it-wrote",
        "kraftctl/server/loop/effect_executor.py",
        "self._calls.flush(storage.flush)\n",
        "self._calls.flush(lambda: max(storage.flush(), storage.log.end_offset))\n",
        "What was appended during the flush is acknowledged.",
    ),
    planted(
        "failed-fsync-is-ignored",
        LOG,
        "            try:\n"
        "                self._force(end_offset)\n"
        "            except StorageError as error:\n"
        '                raise self._out_of_service(f"fsync failed: {error}") from error\n'
        "            self.durable_end_offset",
        "            try:\n"
        "                self._force(end_offset)\n"
        "            except StorageError:\n"
        "                pass\n"
        "            self.durable_end_offset",
        "What the disk did not confirm is acknowledged.",
        "disks",
    ),
    planted(
        "flush-without-fsync",
        "kraftctl/storage/segment.py",
        "                os.fdatasync(self.descriptor)\n",
        "                pass\n",
        "Acknowledged records are in a page cache only.",
    ),
    planted(
        "new-segment-without-fsync-of-the-directory",
        LOG,
        "        self._set_segments([*self._segments, segment])\n        self._directory_changed = True\n",
        "        self._set_segments([*self._segments, segment])\n",
        "A power failure takes the name of a segment, and with it acknowledged records.",
    ),
    planted(
        "durable-end-survives-a-truncation",
        LOG,
        "                self.durable_end_offset = min(self.durable_end_offset, end_offset)\n",
        "",
        "The recovery point names records that were truncated: the next start is refused.",
    ),
    planted(
        "recovery-point-before-quorum-state",
        PARTITION,
        "        self.quorum_state.write(state)\n"
        "        self.recovery_point.note_election(state, elected=state.leader_id == self._node_id)\n",
        "        self.recovery_point.note_election(state, elected=state.leader_id == self._node_id)\n"
        "        self.quorum_state.write(state)\n",
        "After a crash in between, quorum-state is taken for an older copy.",
    ),
    planted(
        "name-of-a-snapshot-is-not-forced",
        "kraftctl/storage/snapshots.py",
        "            os.fsync(self._directory_descriptor)\n",
        "            pass\n",
        "The log below a snapshot is gone, and a power failure takes the snapshot, too.",
        "disks",
    ),
    planted(
        "snapshot-at-the-log-start-is-deleted",
        PARTITION,
        "            self.snapshots.delete([doomed])\n",
        "            self.snapshots.delete([doomed, oldest])\n",
        "Off by one: nothing has the records below the start of the log.",
    ),
    planted(
        "log-is-cut-behind-its-snapshot",
        PARTITION,
        "                self.log.delete_segments_before(oldest.offset)\n",
        "                self.log.delete_segments_before(oldest.offset + 1)\n",
        "Off by one: nothing has the first record above the snapshot.",
    ),
    planted(
        "truncation-keeps-a-batch",
        LOG,
        "        last.truncate_to(offset)\n",
        "        last.truncate_to(offset + 1)\n",
        "Off by one: the log on disk has a batch more than the log of the core.",
    ),
)
