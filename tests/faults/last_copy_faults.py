"""Planted faults in what is known to be committed after a restart, in halts, in the blocks of the file."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

RECOVERY_POINT = "kraftctl/storage/recovery_point.py"
PARTITION = "kraftctl/storage/metadata_partition.py"
POINT_TESTS = "tests/storage/test_recovery_point.py"
END_TESTS = "tests/storage/test_committed_end.py"
AGAIN_TESTS = "tests/storage/test_formatted_again.py"
LAST_COPY = "tests/raft/test_last_copy.py::test_a_restart_does_not_truncate_what_was_committed[killed-{}]"

FAULTS = (
    PlantedFault(
        "restart-forgets-what-is-committed",
        "kraftctl/server/controller_server.py",
        "        stored_committed_end=partition.committed_end,\n",
        "",
        (LAST_COPY.format("log"),),
        "A follower that its supervisor has started again truncates the last copy of committed records.",
    ),
    PlantedFault(
        "a-snapshot-replaces-what-was-committed-before-a-restart",
        "kraftctl/raft/download_snapshot.py",
        "    if snapshot_id.offset < core.committed_floor():\n",
        "    if snapshot_id.offset < core.high_watermark:\n",
        (LAST_COPY.format("snapshot"),),
        "The same, by a snapshot in the place of the log.",
    ),
    PlantedFault(
        "halts-end-with-the-process",
        "kraftctl/raft/fetching.py",
        "            is_lasting=True,\n",
        "",
        ("tests/raft/test_last_copy.py::test_a_supervisor_that_starts_it_again_gets_the_same_reason",),
        "A supervisor starts a halted controller again and again, which disturbs the quorum each time.",
    ),
    PlantedFault(
        "what-is-not-flushed-is-noted-as-committed",
        PARTITION,
        "        committed_end = min(self.committed_end, end_offset)\n",
        "        committed_end = self.committed_end\n",
        (f"{END_TESTS}::test_what_is_not_flushed_is_not_noted",),
        "A power failure takes the end of the log, and the start is refused as if it had been changed.",
    ),
    PlantedFault(
        "an-end-is-committed-whatever-its-epoch",
        "kraftctl/storage/committed_end.py",
        "    return end <= log.end_offset and log.epoch_at(end - 1) == point.committed_epoch\n",
        "    return end <= log.end_offset\n",
        (f"{END_TESTS}::test_it_is_stale_where_another_controller_has_replaced_the_records",),
        "Records that another controller has replaced are defended against a leader that has the right ones.",
    ),
    PlantedFault(
        "a-changed-log-is-always-another-controller-s",
        "kraftctl/storage/contradictions.py",
        '        if self._witness.is_there():\n            raise StorageError(\n                f"{repl',
        '        if False:\n            raise StorageError(\n                f"{repl',
        (f"{END_TESTS}::test_a_log_that_was_changed_without_another_controller_is_refused",),
        "A log whose committed records were changed on the disk is used without a word about that.",
    ),
    PlantedFault(
        "lost-votes-forget-what-is-committed",
        "kraftctl/storage/contradictions.py",
        "            self.committed = known\n",
        "            self.committed = self.committed if self._point.recovering else known\n",
        (f"{END_TESTS}::test_a_replica_that_lost_its_votes_keeps_it",),
        "A replica that recovers its votes truncates what it knew to be committed, after its next restart.",
    ),
    PlantedFault(
        "what-is-committed-may-fall",
        RECOVERY_POINT,
        "            if committed_end <= point.committed_end:\n",
        "            if committed_end < 0:\n",
        (f"{POINT_TESTS}::test_what_is_committed_never_falls",),
        "After a note of less, a restart knows less to be committed than it did.",
    ),
    PlantedFault(
        "lines-share-a-block",
        RECOVERY_POINT,
        "BLOCK_BYTES = 4096\n",
        "BLOCK_BYTES = 1024\n",
        (POINT_TESTS,),
        "A torn write of 4,096 bytes takes both lines: the start is refused.",
    ),
    PlantedFault(
        "files-of-one-block-are-damaged",
        RECOVERY_POINT,
        "LINE_POSITIONS: Final = (0, LINE_BYTES, BLOCK_BYTES)\n",
        "LINE_POSITIONS: Final = (0, BLOCK_BYTES)\n",
        (f"{POINT_TESTS}::test_a_file_of_two_lines_in_one_block_is_read_and_made_anew",),
        "After an upgrade the newer of two lines of an earlier release is not found.",
    ),
    PlantedFault(
        "any-committed-line-counts",
        RECOVERY_POINT,
        "    return (epoch, end) if _committed_line(epoch, end) == line else (0, 0)\n",
        "    return (epoch, end)\n",
        (f"{POINT_TESTS}::test_every_flipped_byte_of_a_committed_line_is_noticed",),
        "A flipped bit makes a replica defend what was never committed.",
    ),
    PlantedFault(
        "the-first-block-has-an-older-vote",
        RECOVERY_POINT,
        "            write_all_at(self._descriptor, self._lines, self._free_block * BLOCK_BYTES)\n"
        "        except OSError as error:\n"
        "            raise self._not_written(error) from error\n"
        "        self._forced_ms",
        "        except OSError as error:\n"
        "            raise self._not_written(error) from error\n"
        "        self._forced_ms",
        (f"{POINT_TESTS}::test_an_earlier_release_finds_the_last_vote_in_the_first_block",),
        "After a return to an earlier release a deleted quorum-state is restored without the last vote.",
    ),
    PlantedFault(
        "halts-of-an-earlier-replica-are-ignored",
        "kraftctl/storage/halt.py",
        '        if owner not in ("", self._directory_id) and not shows_partition(self._log_dir):\n',
        "        if owner != self._directory_id:\n",
        (f"{END_TESTS}::test_a_directory_that_was_formatted_anew_has_not_halted",),
        "With another directory.id in meta.properties a halted log is used, and truncated.",
    ),
    PlantedFault(
        "halts-of-an-earlier-replica-return",
        "kraftctl/storage/halt.py",
        "            rename(self.path, former)\n",
        "",
        (f"{END_TESTS}::test_the_halt_of_an_earlier_replica_does_not_return",),
        "A directory that was formatted again starts once, and halts with the old reason after that.",
    ),
    PlantedFault(
        "a-full-disk-prevents-the-halt",
        PARTITION,
        '            reason = f"{reason} What is committed could not be written down: {error}"\n',
        "            raise\n",
        (f"{END_TESTS}::test_a_halt_is_one_where_what_is_committed_cannot_be_noted",),
        "Without room for the recovery point nothing says why the controller ended, and it starts again.",
    ),
    PlantedFault(
        "promises-of-a-lost-log-are-not-kept",
        "kraftctl/storage/contradictions.py",
        "            keep_former(self._file.path)\n",
        "            pass\n",
        (f"{AGAIN_TESTS}::test_with_its_log_and_its_recovery_point_it_votes",),
        "A log that was moved away comes back, and its replica never votes again.",
    ),
    PlantedFault(
        "a-log-that-was-given-up-is-to-come-back",
        "kraftctl/storage/contradictions.py",
        "        if log_is_whole is False and has_given_up(",
        "        if log_is_whole is True and has_given_up(",
        ("tests/cli/test_end_halt.py::test_it_gives_up_its_log",),
        "An operator is advised to undo a decision on which the other voters have built.",
    ),
    PlantedFault(
        "a-log-is-given-up-with-its-votes",
        "kraftctl/storage/end_of_halt.py",
        "quorum_epoch=epoch, recovering=True, log_is_whole=False)",
        "quorum_epoch=epoch)",
        ("tests/cli/test_end_halt.py::test_it_gives_up_its_log",),
        "A replica without its log votes for a leader that lacks what it had acknowledged.",
    ),
    PlantedFault(
        "a-halt-is-any-failure",
        "kraftctl/cli/start.py",
        "        return refuse([str(halted)], HALTED_STATUS)\n",
        "        return refuse([str(halted)])\n",
        ("tests/cli/test_end_halt.py::test_a_start_ends_with_a_status_of_its_own",),
        "A supervisor cannot distinguish a halt from a failure that a restart may end.",
    ),
)
