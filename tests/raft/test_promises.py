"""What a replica claims, grants and counts while disks are slow and peers lose data."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.server.controller_server import open_partition
from kraftctl.storage.errors import StorageError
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.batch_framing import BASE_TIMESTAMP_POSITION
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.effort import seeds
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.scripted_quorum import METADATA_VERSION, data_batch
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]
ELECTION_MS = 15_000
STRANGER_ID = 77


@pytest.mark.prevents("unflushed-claim")
@pytest.mark.parametrize("seed", seeds(12))
def test_a_candidate_does_not_claim_what_a_power_failure_takes(seed: int, start_quorum: StartQuorum) -> None:
    """LeaderCompleteness: C has X in memory only, gets B's vote for it, loses it, and asks again."""
    quorum = start_quorum(seed, VOTERS)
    a = quorum.led()
    b, c = quorum.followers()
    c.hold_flushes()
    quorum.append(a, 1)
    quorum.run_for(200)
    assert a.raft.high_watermark == a.raft.end_offset == c.raft.end_offset
    assert quorum.durable_end(c) < c.raft.end_offset
    quorum.crash(a)
    votes = quorum.checks.quorum.votes
    for _ in range(ELECTION_MS):
        quorum.run_for(1)
        if votes.get((b.key, b.raft.epoch)) == c.node_id:
            quorum.crash(c)
            c.start()
            break
    quorum.run_for(ELECTION_MS)
    c.release_flushes()
    quorum.run_for(ELECTION_MS)
    assert quorum.led() is b


def test_recovery_ends_when_all_is_flushed(start_quorum: StartQuorum) -> None:
    """Otherwise a power failure could lose it again, and this replica would vote without it."""
    quorum = start_quorum(8, VOTERS)
    leader = quorum.led()
    quorum.append(leader, 5)
    quorum.run_for(500)
    victim = quorum.followers()[0]
    quorum.forget(victim)
    victim.hold_flushes()
    committed = leader.raft.high_watermark
    quorum.restart_all()
    quorum.run_for(1_500)
    assert victim.raft.end_offset >= committed
    assert victim.partition.recovering_epoch is not None
    victim.release_flushes()
    quorum.run_for(1_500)
    assert victim.partition.recovering_epoch is None
    assert quorum.durable_end(victim) >= leader.raft.high_watermark


@pytest.mark.prevents("own-majority-of-one")
def test_a_leader_that_left_one_other_voter_resigns_when_it_is_cut_off(start_quorum: StartQuorum) -> None:
    """KAFKA-15489: the voter that remains is another one, and gets no message of it."""
    quorum = start_quorum(1, [1, 2])
    leader = quorum.led()
    epoch = leader.raft.epoch
    quorum.isolate(leader.node_id)
    quorum.remove_voter(leader.node_id)
    assert len(leader.raft.voter_set) == 1
    quorum.run_for(3_100)
    assert not leader.raft.is_leader
    assert leader.raft.epoch >= epoch


@pytest.mark.prevents("lost-log-votes")
def test_a_leader_says_when_a_voter_has_lost_records(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(2, VOTERS)
    leader = quorum.led()
    other = quorum.followers()[0]
    quorum.append(leader, 4)
    quorum.run_for(500)
    had = leader.raft.end_offset
    quorum.forget(other)
    quorum.restart_all()
    quorum.run_for(3_000)
    notices = [notice for notice in leader.notices if "it has lost part of its log" in notice]
    assert len(notices) == 1
    assert f"fetches from offset 0, although it had everything up to {had} on disk" in notices[0]
    assert "Next step: keep the other voters running until it has everything again" in notices[0]


@pytest.mark.prevents("last-epoch")
@pytest.mark.parametrize("pre_vote", [True, False], ids=["pre-vote", "vote"])
def test_a_replica_outside_of_the_voter_set_cannot_depose_an_active_leader(
    pre_vote: bool, start_quorum: StartQuorum
) -> None:
    """KIP-996: neither its pre-vote nor its Vote changes anything, on disk or in memory."""
    quorum = start_quorum(3, VOTERS)
    leader = quorum.led()
    epoch = leader.raft.epoch
    since = len(quorum.trace)
    for process in quorum.running():
        for ahead in (1, 100, 1 << 29):
            request = vote_request(epoch + ahead, leader.raft.end_offset, pre_vote=pre_vote)
            response = quorum.ask(process, request).answer
            assert isinstance(response, VoteResponse)
            partition = response.topics[0].partitions[0]
            assert (partition.vote_granted, partition.leader_epoch) == (False, epoch + ahead)
    quorum.run_for(5_000)
    assert leader.raft.is_leader
    assert leader.raft.epoch == epoch
    assert not [line for line in quorum.lines(since=since) if "write quorum-state" in line]


@pytest.mark.prevents("last-epoch")
def test_a_leader_that_does_not_answer_is_not_active(start_quorum: StartQuorum) -> None:
    """KIP-853: voters that this replica does not know yet may have elected one of them."""
    quorum = start_quorum(3, VOTERS, [11])
    leader = quorum.led()
    observer = quorum.processes[11]
    epoch = leader.raft.epoch + 1
    request = vote_request(epoch, leader.raft.end_offset, pre_vote=False)
    quorum.ask(observer, request)
    assert observer.raft.epoch == epoch - 1
    for voter_id in VOTERS:
        quorum.crash(quorum.processes[voter_id])
    quorum.run_for(2_500)
    quorum.ask(observer, request)
    assert observer.raft.epoch == epoch


@pytest.mark.prevents("removed-voter-alone")
@pytest.mark.parametrize("is_committed", [False, True], ids=["not-committed", "committed"])
def test_the_epoch_of_a_former_voter_is_joined(is_committed: bool, start_quorum: StartQuorum) -> None:
    """Voters that had not heard of the removal may have granted its pre-vote."""
    quorum = start_quorum(5, VOTERS)
    leader = quorum.led()
    removed, other = quorum.followers()
    quorum.isolate(removed.node_id)
    if not is_committed:
        quorum.isolate(other.node_id)
    quorum.remove_voter(removed.node_id)
    quorum.run_for(500)
    assert not leader.raft.voter_set.is_voter(removed.key)
    epoch = leader.raft.epoch + 1
    request = vote_request(epoch, removed.raft.end_offset, pre_vote=False, candidate=removed.key)
    quorum.ask(leader, request)
    assert not leader.raft.is_leader
    assert leader.raft.epoch == epoch


@pytest.mark.prevents("removed-voter-alone")
@pytest.mark.parametrize("is_restarted", [False, True], ids=["retention", "restart"])
def test_the_epoch_of_a_voter_that_the_log_no_longer_has_is_joined(
    is_restarted: bool, start_quorum: StartQuorum
) -> None:
    """Observers and brokers that ask it follow its epochs. A restart reads the log from a snapshot on."""
    quorum = start_quorum(5, VOTERS)
    leader = quorum.led()
    removed = quorum.followers()[0]
    quorum.isolate(removed.node_id)
    quorum.remove_voter(removed.node_id)
    quorum.run_for(500)
    quorum.take_snapshot(leader)
    restart_if(is_restarted, leader, quorum)
    epoch = leader.raft.epoch + 7
    quorum.ask(leader, vote_request(epoch, 1, pre_vote=False, candidate=removed.key))
    assert leader.raft.epoch == epoch


@pytest.mark.prevents("last-epoch")
@pytest.mark.parametrize("is_restarted", [False, True], ids=["retention", "restart"])
def test_a_static_quorum_knows_all_its_voters_without_its_whole_log(
    is_restarted: bool, start_quorum: StartQuorum
) -> None:
    quorum = start_quorum(5, VOTERS, dynamic=False)
    leader = quorum.led()
    quorum.take_snapshot(leader)
    restart_if(is_restarted, leader, quorum)
    epoch = leader.raft.epoch
    quorum.ask(leader, vote_request(epoch + 7, leader.raft.end_offset, pre_vote=False))
    assert leader.raft.epoch == epoch


def restart_if(is_restarted: bool, process: ControllerProcess, quorum: Quorum) -> None:
    """A replica that leads, or follows an active leader, then has read its log from a snapshot on."""
    if is_restarted:
        quorum.crash(process)
        quorum.restart_all()
        quorum.run_for(5_000)


STRANGER = ReplicaKey(STRANGER_ID, bytes(15) + bytes([STRANGER_ID]))


def vote_request(
    epoch: int, last_offset: int, *, pre_vote: bool, candidate: ReplicaKey = STRANGER
) -> VoteRequest:
    """Of a replica that is no voter, if none is named."""
    partition = PartitionData(
        replica_epoch=epoch,
        replica_id=candidate.id,
        replica_directory_id=candidate.directory_id,
        last_offset_epoch=epoch - 1,
        last_offset=last_offset,
        pre_vote=pre_vote,
    )
    return VoteRequest(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])


def test_a_voter_that_is_ahead_by_an_epoch_rejoins_the_quorum(start_quorum: StartQuorum) -> None:
    """EventuallyLeaderElected: its requests change nothing, its responses to the leader do."""
    quorum = start_quorum(4, VOTERS)
    ahead = quorum.followers()[0]
    quorum.crash(ahead)
    quorum.store_election(ahead, ElectionState(epoch=quorum.led().raft.epoch + 5, data_version=1))
    quorum.restart_all()
    quorum.run_for(30_000)
    leader = quorum.led()
    assert [process.raft.leader_id for process in quorum.running()] == [leader.node_id] * 3
    quorum.append(leader, 1)
    quorum.run_for(500)
    assert leader.raft.high_watermark == leader.raft.end_offset


@pytest.mark.prevents("endless-requests")
def test_a_leader_that_lacks_what_is_committed_ends_its_follower(start_quorum: StartQuorum) -> None:
    """Two disks have lost what they had confirmed: the third must neither truncate nor fetch forever."""
    quorum = start_quorum(5, VOTERS, checked=False)
    leader = quorum.led()
    before = leader.raft.end_offset
    backups = {process: process.disk.save() for process in quorum.running()}
    quorum.append(leader, 3)
    quorum.run_for(1_000)
    witness = quorum.followers()[1]
    assert witness.raft.high_watermark == before + 3
    for process in quorum.running():
        if process is not witness:
            quorum.crash(process)
            process.disk.restore(backups[process])
    quorum.isolate(witness.node_id)
    quorum.restart_all()
    quorum.run_for(10_000)
    quorum.wire.cut.clear()
    with pytest.raises(StorageError, match=rf"everything up to offset {before + 3} is known to be committed"):
        quorum.run_for(10_000)
    assert not [line for line in quorum.lines(witness.node_id) if line.startswith("truncate")]
    assert witness.raft.end_offset == before + 3


@pytest.mark.prevents("endless-requests")
def test_damaged_downloads_are_repeated_at_growing_intervals(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(6, VOTERS)
    leader = quorum.led()
    behind = quorum.followers()[0]
    quorum.append(leader, 40)
    quorum.run_for(1_000)
    quorum.take_snapshot(leader)
    quorum.forget(behind)
    path = max((leader.disk.root / PARTITION_DIRECTORY).glob("*.checkpoint"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    quorum.restart_all()
    quorum.run_for(60_000)
    words = [line.split(" ") for line in quorum.trace]
    finished_ms = [float(line[0]) for line in words if line[1:3] == [str(behind.node_id), "finish"]]
    pauses_ms = [after - before for before, after in pairwise(finished_ms)]
    assert 5 <= len(finished_ms) <= 8
    assert all(after >= 1.5 * before for before, after in pairwise(pauses_ms))
    assert leader.raft.is_leader, "the follower keeps fetching"
    path.write_bytes(whole)
    quorum.run_for(70_000)
    assert behind.raft.end_offset == leader.raft.end_offset


@pytest.mark.prevents("endless-requests")
def test_unusable_records_are_fetched_again_at_growing_intervals(start_quorum: StartQuorum) -> None:
    """At most once per half a fetch timeout in the end; the follower keeps its leader meanwhile."""
    quorum = start_quorum(7, [1, 2])
    leader = quorum.led()
    other = quorum.followers()[0]
    other.forge = damage_records
    quorum.append(leader, 1)
    quorum.run_for(4_000)
    since = len(quorum.trace)
    quorum.run_for(16_000)
    assert not [line for line in quorum.lines(since=since) if "Transition to Prospective" in line]
    complaints = [notice for notice in other.notices if "are unusable" in notice]
    assert 15 <= len(complaints) <= 40
    assert leader.raft.is_leader
    other.forge = None
    quorum.run_for(2_000)
    assert other.raft.end_offset == leader.raft.end_offset


def damage_records(response: Message) -> None:
    """The last byte of the records in a response to Fetch."""
    if isinstance(response, FetchResponse):
        partition = response.responses[0].partitions[0]
        if partition.records:
            partition.records = partition.records[:-1] + bytes([partition.records[-1] ^ 1])


def damage_timestamps(response: Message) -> None:
    """A byte that only the checksum protects: whatever it is, the batch can be decoded."""
    if isinstance(response, FetchResponse):
        partition = response.responses[0].partitions[0]
        if partition.records:
            data = bytearray(partition.records)
            data[BASE_TIMESTAMP_POSITION + 7] ^= 1
            partition.records = bytes(data)


def test_records_with_another_checksum_are_not_appended(start_quorum: StartQuorum) -> None:
    """The log does not compare it again."""
    quorum = start_quorum(7, [1, 2])
    leader = quorum.led()
    other = quorum.followers()[0]
    end_offset = other.raft.end_offset
    other.forge = damage_timestamps
    quorum.append(leader, 1)
    quorum.run_for(4_000)
    assert other.raft.end_offset == end_offset
    assert any("are unusable: batch at offset" in notice and "checksum" in notice for notice in other.notices)
    other.forge = None
    quorum.run_for(4_000)
    assert other.raft.end_offset == leader.raft.end_offset > end_offset


@pytest.mark.prevents("last-epoch")
def test_a_response_that_names_the_last_epoch_is_ignored(start_quorum: StartQuorum) -> None:
    """No election could follow it. A peer may have stored it when such epochs were still accepted."""
    quorum = start_quorum(8, VOTERS)
    leader = quorum.led()
    other = quorum.followers()[0]
    last_epoch = (1 << 31) - 1

    def fence(response: Message) -> None:
        if isinstance(response, FetchResponse):
            partition = response.responses[0].partitions[0]
            partition.error_code = Errors.FENCED_LEADER_EPOCH
            partition.current_leader.leader_epoch = last_epoch
            partition.current_leader.leader_id = -1
            other.forge = None

    other.forge = fence
    quorum.run_for(3_000)
    assert other.forge is None
    assert leader.raft.is_leader
    assert any(f"names epoch {last_epoch}" in line for line in quorum.lines(other.node_id))


BEGINS = (1, 0, 2)
LOGS = {1: [BEGINS], 2: [BEGINS, (2, 3, 5), (4, 6, 6)], 3: [BEGINS, (3, 3, 4)]}
"""By voter: (epoch, base offset, last offset) of each batch."""


def test_a_log_is_never_truncated_in_the_middle_of_a_batch() -> None:
    """LogMatching: the leader's epoch ends within a batch that another epoch wrote here."""
    quorum = Quorum(9, VOTERS, dynamic=False)
    with quorum.files.attach():
        for process in quorum.processes.values():
            quorum.format(process.node_id)
            write_log(process)
        quorum.isolate(2)
        quorum.restart_all()
        quorum.checks.quorum.commits.first_voters = quorum.processes[1].raft.voter_set
        quorum.run_for(10_000)
        leader = quorum.led()
        assert leader.node_id == 3
        quorum.wire.cut.clear()
        quorum.run_for(10_000)
        truncations = [line for line in quorum.lines(2) if line.startswith("truncate")]
        assert truncations[-1] == "truncate 3"
        assert {process.raft.end_offset for process in quorum.running()} == {leader.raft.end_offset}


def write_log(process: ControllerProcess) -> None:
    """As left by former epochs; voter 2 led the last one."""
    meta = read_meta_properties(process.disk.root)
    assert meta is not None
    partition = open_partition(process.config, meta, lambda: 0)
    leader_id = 2 if process.node_id == 2 else -1
    partition.write_quorum_state(ElectionState(epoch=4, leader_id=leader_id))
    for epoch, base_offset, last_offset in LOGS[process.node_id]:
        record = METADATA_VERSION if base_offset == 0 else NoOpRecord()
        records = [RecordAndVersion(record, 0)] * (last_offset - base_offset + 1)
        partition.log.append(data_batch(base_offset, epoch, records).batch)
    partition.flush()
    partition.close()
