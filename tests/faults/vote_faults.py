"""Planted faults around a quorum-state that is deleted: who may write it again, and with what."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

CONTRADICTIONS = "kraftctl/storage/contradictions.py"
RECOVERY_POINT = "kraftctl/storage/recovery_point.py"
PARTITION = "kraftctl/storage/metadata_partition.py"
COMMAND = "kraftctl/storage/end_of_recovery.py"
DELETED = "tests/storage/test_deleted_quorum_state.py"
END = "tests/cli/test_end_recovery.py"
LOST_MEMORY = "tests/raft/test_lost_memory.py"
FORMER = "tests/storage/test_former_replica.py"

FAULTS = (
    PlantedFault(
        "votes-are-written-again-after-another-controller",
        CONTRADICTIONS,
        "        if not self._is_witnessed:\n",
        "        if self._point.recovering:\n",
        (f"{DELETED}::test_in_doubt_it_does_not_vote",),
        "Kafka's controller has voted on this directory, and the same vote is given again.",
    ),
    PlantedFault(
        "a-longer-log-after-a-stop-raises-no-doubt",
        CONTRADICTIONS,
        "        if missing is None and point.stopped and log.end_offset != point.end_offset:\n",
        "        if missing is None and point.stopped and log.end_offset < point.end_offset:\n",
        (f"{DELETED}::test_in_doubt_it_does_not_vote",),
        "Another program has written to the log, and what it has voted is not known.",
    ),
    PlantedFault(
        "a-later-epoch-raises-no-doubt",
        CONTRADICTIONS,
        "        if max(epochs) > point.quorum_epoch:\n",
        "        if max(epochs) < 0:\n",
        (f"{DELETED}::test_in_doubt_it_does_not_vote",),
        "An old recovery point beside a newer log brings back an old vote.",
    ),
    PlantedFault(
        "quorum-state-is-written-again-without-the-vote",
        RECOVERY_POINT,
        "            voted_id=self.voted_id,\n            voted_directory_id=self.voted_directory_id,\n",
        "",
        (f"{DELETED}::test_it_is_written_again_with_what_it_said",),
        "A voter votes twice in an epoch, once before and once after quorum-state was deleted.",
    ),
    PlantedFault(
        "that-it-was-elected-is-not-remembered",
        RECOVERY_POINT,
        "        return later._replace(elected=True) if elected else later\n",
        "        return later\n",
        (f"{DELETED}::test_it_is_written_again_with_what_it_said",),
        "A former leader is a candidate of its own epoch again, and leads twice in it (KAFKA-10527).",
    ),
    PlantedFault(
        "a-start-forgets-the-vote",
        PARTITION,
        "            known = known.with_election(state, elected=state.leader_id == self._node_id)\n"
        "        end_offset",
        "            known = known._replace(quorum_epoch=state.epoch, voted_id=state.voted_id)\n"
        "            known = known._replace(elected=False)\n"
        "        end_offset",
        (f"{DELETED}::test_a_restart_in_between_forgets_nothing",),
        "quorum-state of a leader names no vote: after a restart, the recovery point knows of none, either.",
    ),
    PlantedFault(
        "the-directory-of-a-vote-is-not-remembered",
        RECOVERY_POINT,
        "later = later._replace(voted_id=state.voted_id, voted_directory_id=state.voted_directory_id)\n",
        "later = later._replace(voted_id=state.voted_id)\n",
        (f"{DELETED}::test_it_is_written_again_with_what_it_said",),
        "KIP-853: the vote for a replica is given again to another one with its node id.",
    ),
    PlantedFault(
        "an-adopted-directory-with-its-votes-recovers",
        CONTRADICTIONS,
        "        votes_are_gone = self._election is None and ",
        "        votes_are_gone = (self._election is None or self._is_adopted) and ",
        ("tests/simulator/test_rot.py::test_a_directory_without_a_recovery_point_that_has_votes",),
        "A quorum of directories of Kafka's controllers has all its votes, and no voter.",
    ),
    PlantedFault(
        "a-recovery-point-of-another-replica-is-replaced",
        PARTITION,
        "    return has_been_used or (static_voters.is_voter(replica) and former.has_taken_part)\n",
        "    return False\n",
        (
            f"{FORMER}::test_it_does_not_vote_before_it_has_recovered",
            f"{LOST_MEMORY}::test_a_recovery_point_of_another_replica_does_not_let_an_older_log_vote",
        ),
        "An older log, beside promises that are not its own, elects a leader without committed records.",
    ),
    PlantedFault(
        "a-static-voter-is-new-in-a-directory-with-another-id",
        PARTITION,
        "    return has_been_used or (static_voters.is_voter(replica) and former.has_taken_part)\n",
        "    return has_been_used\n",
        (f"{FORMER}::test_without_a_log_only_a_static_voter_has_promised_anything",),
        "Its node id alone identifies it: it votes twice in an epoch, and without its log.",
    ),
    PlantedFault(
        "a-directory-is-adopted-before-it-is-judged",
        PARTITION,
        "                recovery_point.expect(adopted)\n",
        "                recovery_point.begin(adopted)\n",
        (f"{FORMER}::test_a_power_failure_during_the_start_is_no_proof_either",),
        "Power fails during the start, and the next one votes: the file is its own by then.",
    ),
    PlantedFault(
        "the-only-voter-is-advised-to-replace-itself",
        "kraftctl/storage/only_voter.py",
        "    if voters.is_only_voter(replica):\n",
        "    if len(static_voters) == 1:\n",
        ("tests/storage/test_only_voter.py::test_the_only_voter_is_not_advised_to_replace_itself",),
        "The operator moves the only log away, and waits for a leader that cannot come.",
    ),
    PlantedFault(
        "a-copied-log-votes",
        CONTRADICTIONS,
        "        if former_id is None:\n",
        "        if former is None:\n",
        (f"{FORMER}::test_a_log_that_another_replica_left_is_no_proof",),
        "A log that was copied from another directory brings votes along that are not its own.",
    ),
    PlantedFault(
        "the-witness-is-a-leftover",
        "kraftctl/storage/recovery.py",
        " and path.name != WITNESS\n",
        "\n",
        (f"{DELETED}::test_the_witness_is_durable_before_the_first_vote",),
        "A crash during a start takes the proof away, and a quorum recovers for ever.",
    ),
    PlantedFault(
        "votes-again-in-an-epoch-that-is-known",
        COMMAND,
        "    epoch = known_epoch + EPOCHS_PASSED\n",
        "    epoch = known_epoch\n",
        (f"{END}::test_it_votes_again_in_later_epochs_alone",),
        "The operator's command lets a replica vote twice in an epoch.",
    ),
    PlantedFault(
        "recovery-ends-behind-quorum-state",
        COMMAND,
        "    known_epoch = point.quorum_epoch ",
        "    known_epoch = partition.recovering_epoch or 0 ",
        (f"{END}::test_it_does_not_go_back_behind_the_votes_of_another_controller",),
        "The operator's command takes back a vote that another controller has given.",
    ),
    PlantedFault(
        "recovery-ends-though-the-log-is-lost",
        COMMAND,
        "    if point.log_is_whole is False:\n",
        "    if known_epoch < 0:\n",
        (f"{END}::test_refused",),
        "A leader is elected that lacks what it has acknowledged.",
    ),
    PlantedFault(
        "recovery-ends-though-the-log-may-be-lost",
        COMMAND,
        "    if point.log_is_whole is None and not log_is_whole:\n",
        "    if known_epoch < 0:\n",
        (f"{END}::test_it_asks_where_an_earlier_release_began_to_recover",),
        "The same, where an earlier release did not note what was lost.",
    ),
)
