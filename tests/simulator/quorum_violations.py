"""What no quorum may do, as scripts: each breaks the invariant it is listed with."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.node.events import WriteSnapshot
from kraftctl.raft.effects import (
    FlushLog,
    Halt,
    NoteRecovered,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import LogFlushed, LogStartChanged
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.errors import CorruptLogError
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated import fetch_response, vote_response
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.simulator.cluster.scripted_quorum import (
    IDS,
    LEADER,
    METADATA_VERSION,
    NODES,
    OTHER,
    OTHER_IDS,
    THIRD,
    ScriptedQuorum,
    control_batch,
    data_batch,
    key,
    voter_set,
)

Violation = Callable[[ScriptedQuorum], object]


def two_votes_in_one_epoch(quorum: ScriptedQuorum) -> None:
    """The second one after a restart that has lost the first one."""
    quorum.other.become("Unattached", 5, voted_id=LEADER)
    quorum.other.carry_out()
    quorum.other.partition.election = ElectionState(epoch=5)
    quorum.other.restart()


def another_vote_in_one_epoch(quorum: ScriptedQuorum) -> None:
    quorum.other.become("Unattached", 5, voted_id=LEADER)
    quorum.other.become("Unattached", 5, voted_id=THIRD)


def vote(quorum: ScriptedQuorum, asked: PartitionData) -> None:
    """Node 2 grants it."""
    request = VoteRequest(topics=[TopicData(partitions=[asked])])
    quorum.other.do(quorum.other.request(request, 1))
    granted = vote_response.PartitionData(vote_granted=True)
    quorum.other.respond(
        1, vote_response.VoteResponse(topics=[vote_response.TopicData(partitions=[granted])])
    )


def vote_that_is_not_stored(quorum: ScriptedQuorum) -> None:
    vote(quorum, PartitionData(replica_epoch=5, replica_id=LEADER, last_offset=1, last_offset_epoch=1))


def repeated_vote_for_a_shorter_log(quorum: ScriptedQuorum) -> None:
    """Node 1 had all records when it got the vote; then its log was lost."""
    quorum.other.become("Unattached", 5, voted_id=LEADER)
    for end_offset, epoch in ((1, 1), (0, 0)):
        vote(
            quorum,
            PartitionData(
                replica_epoch=5, replica_id=LEADER, last_offset=end_offset, last_offset_epoch=epoch
            ),
        )


def pre_vote_for_an_older_log(quorum: ScriptedQuorum) -> None:
    quorum.leader.append(IDS)
    quorum.other.copy_from(quorum.leader)
    vote(
        quorum,
        PartitionData(replica_epoch=1, replica_id=THIRD, last_offset=1, last_offset_epoch=1, pre_vote=True),
    )


def pre_vote_that_raises_the_epoch(quorum: ScriptedQuorum) -> None:
    asked = PartitionData(replica_epoch=5, replica_id=THIRD, pre_vote=True)
    quorum.leader.raft.epoch = 5
    quorum.leader.raft.state_name = "Unattached"
    quorum.leader.do(quorum.leader.request(VoteRequest(topics=[TopicData(partitions=[asked])]), 1))


def two_leaders(quorum: ScriptedQuorum) -> None:
    quorum.other.lead(1)


def leads_again_after_a_restart(quorum: ScriptedQuorum) -> None:
    restarted = quorum.leader.restart()
    restarted.raft.state_name = "Leader"
    restarted.carry_out()


def leader_without_committed_records(quorum: ScriptedQuorum) -> None:
    quorum.leader.append(IDS)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    quorum.leader.commit(2)
    quorum.third.lead(2)


def commit_before_a_record_of_the_own_epoch(quorum: ScriptedQuorum) -> None:
    """KAFKA-12619: a majority on old records commits nothing."""
    quorum.leader.append(IDS)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    quorum.other.lead(2)
    quorum.other.commit(2)


def claim_of_what_is_not_flushed(quorum: ScriptedQuorum) -> None:
    batch = quorum.leader.append(IDS)
    fetch = FetchPartition(current_leader_epoch=1, fetch_offset=2, last_fetched_epoch=1)
    request = FetchRequest(topics=[FetchTopic(partitions=[fetch])])
    quorum.other.carry_out(batch, FlushLog(2), SendRequest(1, LEADER, "host", 1, ApiKey.FETCH, request))


def flush_that_began_before_a_truncation(quorum: ScriptedQuorum) -> None:
    """Node 2 claims what it appended after a truncation, when only the flush before has ended."""
    batch = quorum.leader.append(IDS)
    quorum.other.carry_out(batch, FlushLog(2))
    quorum.third.lead(2)
    quorum.other.become("Follower", 2, leader_id=THIRD)
    quorum.other.carry_out(TruncateLog(1), control_batch(1, 2))
    fetch = FetchPartition(current_leader_epoch=2, fetch_offset=2, last_fetched_epoch=2)
    request = FetchRequest(topics=[FetchTopic(partitions=[fetch])])
    quorum.other.do(LogFlushed(2), SendRequest(1, THIRD, "host", 1, ApiKey.FETCH, request))


def flush_that_forced_less(quorum: ScriptedQuorum) -> None:
    quorum.leader.append(IDS)
    quorum.leader.partition.log.not_forced = 1
    quorum.leader.flush()


def leader_that_has_removed_itself(quorum: ScriptedQuorum) -> None:
    leader = quorum.leader
    voters = voter_set(OTHER, THIRD)
    leader.carry_out(control_batch(1, 1, voters))
    leader.raft.voter_set = voters
    quorum.replicate()


def another_batch_at_the_same_offset_and_epoch(quorum: ScriptedQuorum) -> None:
    quorum.leader.append(IDS)
    quorum.other.carry_out(data_batch(1, 1, OTHER_IDS))


def gap_in_the_log(quorum: ScriptedQuorum) -> None:
    quorum.leader.carry_out(data_batch(5, 1, IDS))


def file_with_other_records(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    quorum.other.partition.log.batches[-1] = data_batch(1, 1, IDS)
    quorum.checks.checkpoint(quorum.processes)


def log_start_of_another_epoch(quorum: ScriptedQuorum) -> None:
    """Retention removes the first record, of epoch 1."""
    other = quorum.other
    other.partition.log.batches[0] = control_batch(0, 2)
    other.partition.log.start_offset = other.raft.log_start_offset = 1
    other.partition.snapshots.found = [OffsetAndEpoch(1, 1)]
    other.do(LogStartChanged(1))


def batch_without_a_leader(quorum: ScriptedQuorum) -> None:
    quorum.other.carry_out(data_batch(1, 1, IDS))


def two_opinions_of_what_is_committed(quorum: ScriptedQuorum) -> None:
    """Node 3 leads an epoch and considers its own record committed, where nodes 1 and 2 have another one."""
    quorum.leader.append(IDS)
    quorum.third.lead(2)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    quorum.leader.commit(2)
    quorum.third.commit(2)


def high_watermark_that_falls(quorum: ScriptedQuorum) -> None:
    quorum.other.commit(0)


def answer(quorum: ScriptedQuorum, high_watermark: int) -> None:
    """To a Fetch."""
    partition = fetch_response.PartitionData(high_watermark=high_watermark)
    topic = fetch_response.FetchableTopicResponse(partitions=[partition])
    quorum.leader.respond(9, fetch_response.FetchResponse(responses=[topic]))


def answers_whose_high_watermark_falls(quorum: ScriptedQuorum) -> None:
    quorum.leader.append(IDS)
    quorum.replicate()
    answer(quorum, 2)
    answer(quorum, 1)


def answer_with_what_is_not_committed(quorum: ScriptedQuorum) -> None:
    answer(quorum, 2)


def snapshot_with_other_voters(quorum: ScriptedQuorum) -> None:
    """All that it lacks is the removal of a voter."""
    quorum.leader.carry_out(control_batch(1, 1, voter_set(LEADER, OTHER)))
    quorum.replicate()
    header = SnapshotBatches(1, 0).header(0, 1, voter_set(LEADER, OTHER, THIRD).to_record())
    quorum.leader.carry_out(WriteSnapshot(OffsetAndEpoch(2, 1), [header]))


def snapshot_that_is_written_again(quorum: ScriptedQuorum) -> None:
    quorum.leader.partition.snapshots.found = [OffsetAndEpoch(1, 1)]
    quorum.leader.carry_out(WriteSnapshot(OffsetAndEpoch(1, 1), []))


def epoch_that_falls(quorum: ScriptedQuorum) -> None:
    quorum.other.become("Unattached", 3)
    quorum.other.carry_out(WriteQuorumState(ElectionState(epoch=2)))


def epoch_that_is_not_stored(quorum: ScriptedQuorum) -> None:
    asked = PartitionData(replica_epoch=9, replica_id=OTHER)
    request = VoteRequest(topics=[TopicData(partitions=[asked])])
    quorum.other.carry_out(SendRequest(1, LEADER, "host", 1, ApiKey.VOTE, request))


def commit_without_a_majority(quorum: ScriptedQuorum) -> None:
    """The others have the record, and one has begun to flush it."""
    batch = quorum.leader.append(IDS)
    quorum.leader.flush()
    quorum.other.carry_out(batch, FlushLog(2))
    quorum.leader.commit(2)


def commit_without_a_majority_beside_a_lost_log(quorum: ScriptedQuorum) -> None:
    """What the lost log never held does not count."""
    quorum.checks.ended(quorum.other)
    quorum.checks.forgot(key(OTHER), log=True, votes=False)
    quorum.leader.append(IDS)
    quorum.leader.flush()
    quorum.leader.commit(2)


def two_lost_logs(quorum: ScriptedQuorum) -> None:
    for process in (quorum.other, quorum.third):
        quorum.checks.ended(process)
        quorum.checks.replaced(process.key)


def truncation_of_what_is_committed(quorum: ScriptedQuorum) -> None:
    """Node 2 does not know that it is committed; the checks do."""
    quorum.leader.append(IDS)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    quorum.leader.commit(2)
    quorum.other.carry_out(TruncateLog(1))


def record_that_a_restart_lost(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    quorum.other.partition.log.truncate_to(1)
    quorum.other.restart()


def record_that_damage_took(quorum: ScriptedQuorum) -> None:
    quorum.checks.damaged(key(OTHER), "00000000000000000000.log")
    quorum.other.partition.log.truncate_to(0)
    quorum.other.restart()


def recovery_without_a_loss(quorum: ScriptedQuorum) -> None:
    """Damage to another file is no reason."""
    quorum.checks.damaged(key(OTHER), "leader-epoch-checkpoint")
    quorum.other.partition.recovering_epoch = 1
    quorum.other.restart()


def vote_that_damage_changed(quorum: ScriptedQuorum) -> None:
    quorum.checks.damaged(key(OTHER), "quorum-state")
    quorum.other.partition.election = ElectionState(epoch=1, leader_id=THIRD)
    quorum.other.restart()


def effect_after_a_failure(quorum: ScriptedQuorum) -> None:
    quorum.checks.ended(quorum.other)
    quorum.checks.before(quorum.other, FlushLog(1))


def record_that_was_flushed_by_a_stop(quorum: ScriptedQuorum) -> None:
    batch = quorum.leader.append(IDS)
    quorum.other.carry_out(batch)
    quorum.checks.ended(quorum.other)
    quorum.checks.stopped(quorum.other)
    quorum.other.partition.log.truncate_to(1)
    quorum.checks.started(quorum.other)


def recovery_that_ends_too_early(quorum: ScriptedQuorum) -> None:
    """What was lost is fetched, but not flushed."""
    quorum.checks.ended(quorum.other)
    quorum.checks.forgot(key(OTHER), log=True, votes=False)
    quorum.other.partition.log.truncate_to(0)
    quorum.other.partition.recovering_epoch = 1
    quorum.checks.started(quorum.other)
    quorum.other.carry_out(*quorum.leader.partition.log.batches, NoteRecovered())


def epoch_of_an_older_copy(quorum: ScriptedQuorum) -> None:
    quorum.checks.forgot(key(OTHER), log=False, votes=True)
    quorum.other.partition.election = ElectionState(epoch=0)
    quorum.other.restart()


def vote_that_an_older_copy_lacks(quorum: ScriptedQuorum) -> None:
    quorum.other.become("Unattached", 5, voted_id=LEADER)
    quorum.other.carry_out()
    quorum.checks.forgot(key(OTHER), log=False, votes=True)
    quorum.other.partition.election = ElectionState(epoch=5)
    quorum.other.restart()


def start_without_the_snapshot_before_it(quorum: ScriptedQuorum) -> None:
    quorum.other.partition.log.start_offset = 1
    quorum.other.restart()


def start_with_a_log_before_the_snapshot(quorum: ScriptedQuorum) -> None:
    quorum.other.partition.snapshots.found = [OffsetAndEpoch(2, 1)]
    quorum.other.restart()


def log_with_a_hole(quorum: ScriptedQuorum) -> None:
    """It cannot even be read."""

    def read(offset: int, max_bytes: int, /) -> bytes:
        raise CorruptLogError("00000000000000000000.log", 0, offset, "no batch is found")

    quorum.other.partition.log.read = read  # type: ignore[method-assign]
    quorum.other.restart()


def answer_before_the_commit(quorum: ScriptedQuorum) -> None:
    request = quorum.leader.request(AllocateProducerIdsRequest(), 7)
    quorum.leader.do(request, data_batch(1, 1, IDS))
    quorum.leader.flush()
    quorum.leader.respond(7, AllocateProducerIdsResponse())


def candidate_that_is_no_voter(quorum: ScriptedQuorum) -> None:
    quorum.third.raft.voter_set = voter_set(LEADER, OTHER)
    quorum.third.become("Candidate", 2, voted_id=THIRD)


def candidate_that_recovers(quorum: ScriptedQuorum) -> None:
    quorum.checks.ended(quorum.third)
    quorum.checks.forgot(key(THIRD), log=True, votes=False)
    quorum.third.partition.log.truncate_to(0)
    quorum.third.partition.recovering_epoch = 1
    third = quorum.third
    third.checks.started(third)
    third.become("Prospective", 1)


def two_voters_added(quorum: ScriptedQuorum) -> None:
    quorum.leader.carry_out(control_batch(1, 1, voter_set(*NODES, 4, 5)))


def voter_without_a_directory(quorum: ScriptedQuorum) -> None:
    nameless = VoterNode(ReplicaKey(THIRD), {"CONTROLLER": ("host", THIRD)})
    voters = voter_set(*NODES).updated_voter_by_id(nameless)
    quorum.leader.carry_out(control_batch(1, 1, voters))


def voter_that_joins_again(quorum: ScriptedQuorum) -> None:
    key = quorum.third.key
    request = AddRaftVoterRequest(voter_id=key.id, voter_directory_id=key.directory_id)
    quorum.third.carry_out(SendRequest(1, LEADER, "host", 1, request.API_KEY, request))


def node_that_joins_beside_its_former_directory(quorum: ScriptedQuorum) -> None:
    quorum.third.raft.voter_set = VoterSet([VoterNode(ReplicaKey(THIRD, bytes(15) + b"x"), {})])
    voter_that_joins_again(quorum)


def two_uncommitted_changes(quorum: ScriptedQuorum) -> None:
    quorum.leader.carry_out(control_batch(1, 1, voter_set(*NODES, 4)))
    quorum.leader.carry_out(control_batch(2, 1, voter_set(*NODES)))


def change_before_the_first_commit_of_the_epoch(quorum: ScriptedQuorum) -> None:
    quorum.other.lead(2)
    quorum.other.carry_out(control_batch(2, 2, voter_set(*NODES, 4)))


def log_without_its_past(quorum: ScriptedQuorum) -> None:
    quorum.other.raft.log_start_offset = 1
    quorum.other.do(LogStartChanged(1))


def leader_that_loads_a_snapshot(quorum: ScriptedQuorum) -> None:
    quorum.leader.carry_out(StartOver(OffsetAndEpoch(1, 1)))


def two_lost_tails(quorum: ScriptedQuorum) -> None:
    """Of the same committed record, on two of three disks."""
    quorum.commit(METADATA_VERSION)
    for process in (quorum.other, quorum.third):
        quorum.checks.ended(process)
        quorum.checks.lost_tail(process.key, 1)


def node_that_halts(quorum: ScriptedQuorum) -> None:
    quorum.other.carry_out(Halt("it cannot continue"))


QUORUM_VIOLATIONS: list[tuple[str, Violation]] = [
    ("ElectionSafety", two_votes_in_one_epoch),
    ("ElectionSafety", another_vote_in_one_epoch),
    ("ElectionSafety", vote_that_is_not_stored),
    ("LeaderCompleteness", repeated_vote_for_a_shorter_log),
    ("LeaderCompleteness", pre_vote_for_an_older_log),
    ("StableLeadership", pre_vote_that_raises_the_epoch),
    ("SingleLeader", two_leaders),
    ("SingleLeader", leads_again_after_a_restart),
    ("LeaderCompleteness", leader_without_committed_records),
    ("LeaderCompleteness", commit_before_a_record_of_the_own_epoch),
    ("LeaderCompleteness", claim_of_what_is_not_flushed),
    ("LeaderCompleteness", flush_that_began_before_a_truncation),
    ("LogMatching", another_batch_at_the_same_offset_and_epoch),
    ("LogMatching", gap_in_the_log),
    ("LogMatching", file_with_other_records),
    ("LogMatching", log_start_of_another_epoch),
    ("NoLogDivergence", batch_without_a_leader),
    ("ConsistentCommittedData", two_opinions_of_what_is_committed),
    ("MonotonicHighWatermark", high_watermark_that_falls),
    ("MonotonicHighWatermark", answers_whose_high_watermark_falls),
    ("ConsistentCommittedData", answer_with_what_is_not_committed),
    ("SnapshotEqualsLog", snapshot_with_other_voters),
    ("SnapshotEqualsLog", snapshot_that_is_written_again),
    ("OnlyVotersLead", leader_that_has_removed_itself),
    ("MonotonicEpoch", epoch_that_falls),
    ("MonotonicEpoch", epoch_that_is_not_stored),
    ("MajorityReachedHighWatermark", commit_without_a_majority),
    ("MajorityReachedHighWatermark", commit_without_a_majority_beside_a_lost_log),
    ("Durability", two_lost_logs),
    ("Durability", two_lost_tails),
    ("Durability", flush_that_forced_less),
    ("Durability", truncation_of_what_is_committed),
    ("AckedValueNotLost", record_that_a_restart_lost),
    ("AckedValueNotLost", record_that_damage_took),
    ("AckedValueNotLost", record_that_was_flushed_by_a_stop),
    ("AckedValueNotLost", effect_after_a_failure),
    ("Durability", recovery_that_ends_too_early),
    ("ElectionSafety", epoch_of_an_older_copy),
    ("ElectionSafety", vote_that_an_older_copy_lacks),
    ("SnapshotAtLogStart", start_without_the_snapshot_before_it),
    ("SnapshotAtLogStart", start_with_a_log_before_the_snapshot),
    ("LogMatching", log_with_a_hole),
    ("Durability", recovery_without_a_loss),
    ("ElectionSafety", vote_that_damage_changed),
    ("AckedValueNotLost", answer_before_the_commit),
    ("ObserversNeverVote", candidate_that_is_no_voter),
    ("ObserversNeverVote", candidate_that_recovers),
    ("NextVoterSetOverlaps", two_voters_added),
    ("VotersHaveDirectories", voter_without_a_directory),
    ("ObserversJoinOnce", voter_that_joins_again),
    ("ObserversJoinOnce", node_that_joins_beside_its_former_directory),
    ("AtMostOneUncommittedVoterChange", two_uncommitted_changes),
    ("AtMostOneUncommittedVoterChange", change_before_the_first_commit_of_the_epoch),
    ("SnapshotAtLogStart", log_without_its_past),
    ("LeaderNeverLoadSnapshot", leader_that_loads_a_snapshot),
    ("NoIllegalState", node_that_halts),
]
