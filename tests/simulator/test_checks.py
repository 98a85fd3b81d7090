"""Every invariant of the simulator is seen to fail when it is broken, and stays silent when it is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.raft.effects import (
    FlushLog,
    Halt,
    NoteRecovered,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import DeadlineReached, SnapshotDownloaded
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.simulator.long_work_violations import LONG_WORK_VIOLATIONS
from tests.simulator.partition_violations import PARTITION_VIOLATIONS, brokers, change, partition
from tests.simulator.quorum_violations import QUORUM_VIOLATIONS
from tests.simulator.response_violations import RESPONSE_VIOLATIONS
from tests.simulator.timely_violations import TIMELY_VIOLATIONS
from tests.support.simulator.brokers.wide_operations import check_refused
from tests.support.simulator.checks import removals
from tests.support.simulator.checks.invariants import INVARIANTS, broken
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


def settled(quorum: ScriptedQuorum) -> int:
    """All is well. Returns what was committed before."""
    committed_end = quorum.checks.committed_end
    quorum.commit(METADATA_VERSION)
    quorum.leader.controller.active = True
    quorum.leader.carry_out()
    return committed_end


def final(quorum: ScriptedQuorum, committed_end: int, broker_ids: tuple[int, ...] = ()) -> None:
    quorum.checks.final(quorum.processes, list(broker_ids), committed_end)


def end_without_active_controller(quorum: ScriptedQuorum) -> None:
    committed_end = settled(quorum)
    quorum.leader.controller.active = False
    final(quorum, committed_end)


def end_without_new_commits(quorum: ScriptedQuorum) -> None:
    settled(quorum)
    final(quorum, quorum.checks.committed_end)


def end_in_an_election(quorum: ScriptedQuorum) -> None:
    committed_end = settled(quorum)
    quorum.other.raft.state_name = "Prospective"
    final(quorum, committed_end)


def end_with_other_voters(quorum: ScriptedQuorum) -> None:
    committed_end = settled(quorum)
    quorum.other.raft.voter_set = voter_set(LEADER, OTHER)
    final(quorum, committed_end)


def end_with_a_broker_behind(quorum: ScriptedQuorum) -> None:
    final(quorum, settled(quorum), (1,))


END_VIOLATIONS: list[tuple[str, Violation]] = [
    ("EventuallyLeaderElected", end_without_active_controller),
    ("ValuesEventuallyAcked", end_without_new_commits),
    ("NotStuckInProspective", end_in_an_election),
    ("ReconfigurationNotStuck", end_with_other_voters),
    ("EventuallyMetadataConverges", end_with_a_broker_behind),
]


def remove_a_voter_beside_one_that_is_down(quorum: ScriptedQuorum) -> None:
    assert removals.check(LEADER, key(OTHER), remaining=3, working=2, is_removed=True)
    assert not removals.check(LEADER, key(OTHER), remaining=2, working=1, is_removed=False)
    removals.check(LEADER, key(OTHER), remaining=2, working=1, is_removed=True)


def let_an_intruder_unregister_a_broker(quorum: ScriptedQuorum) -> None:
    check_refused(UnregisterBrokerResponse(error_code=Errors.CLUSTER_AUTHORIZATION_FAILED))
    check_refused(UnregisterBrokerResponse())


WORKLOAD_VIOLATIONS: list[tuple[str, Violation]] = [
    ("RemovalLeavesMajority", remove_a_voter_beside_one_that_is_down),
    ("OnlyWhoMayDo", let_an_intruder_unregister_a_broker),
]

VIOLATIONS = [
    *QUORUM_VIOLATIONS,
    *PARTITION_VIOLATIONS,
    *RESPONSE_VIOLATIONS,
    *TIMELY_VIOLATIONS,
    *LONG_WORK_VIOLATIONS,
    *END_VIOLATIONS,
    *WORKLOAD_VIOLATIONS,
]


@pytest.mark.parametrize(
    ("name", "violation"), [pytest.param(*each, id=each[1].__name__) for each in VIOLATIONS]
)
def test_a_violation_is_named(name: str, violation: Violation) -> None:
    quorum = ScriptedQuorum()
    with pytest.raises(AssertionError, match=rf"^{name}: ") as caught:
        violation(quorum)
    assert caught.traceback[-1].name == broken.__name__


def test_every_invariant_is_seen_to_fail() -> None:
    assert {name for name, _ in VIOLATIONS} == set(INVARIANTS)


def test_the_page_on_reliability_lists_them() -> None:
    page = (Path(__file__).parents[2] / "docs/reliability.md").read_text()
    assert dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", page, re.MULTILINE)) == INVARIANTS


# What is allowed.


def test_a_request_may_lower_the_minimum_of_the_isr_that_it_lets_grow() -> None:
    """A reassignment of partition 0 ends in the same request as another partition gets a replica back."""
    quorum = ScriptedQuorum()
    brokers(quorum, elr=True)
    quorum.commit(ConfigRecord(resource_type=2, resource_name="foo", name="min.insync.replicas", value="3"))
    topic, first = partition([1, 2, 3], [1, 2, 3], 1)
    _, second = partition([1, 2, 3], [1], 1, elr=[2])
    second.partition_id = 1
    quorum.commit(topic, first, second)
    moved, grown = change(isr=[1, 2], leader=1), change(isr=[1, 3])
    moved.replicas, moved.directories, grown.partition_id = [1, 2], first.directories[:2], 1
    quorum.commit(moved, grown)


def test_a_partition_without_leader_that_loses_a_replica_repeats_that_it_has_none() -> None:
    quorum = ScriptedQuorum()
    brokers(quorum, elr=True)
    topic, first = partition([1, 2], [], -1)
    quorum.commit(topic, first)
    cancelled = change(leader=-1, last_known=[-1])
    cancelled.replicas, cancelled.directories = [1], first.directories[:1]
    quorum.commit(cancelled)


def test_a_crash_may_take_what_is_not_flushed() -> None:
    quorum = ScriptedQuorum()
    batch = quorum.leader.append(IDS)
    quorum.other.carry_out(batch, FlushLog(2))
    quorum.other.partition.log.truncate_to(1)
    restarted = quorum.other.restart()
    restarted.copy_from(quorum.leader)
    quorum.checks.checkpoint([quorum.leader, restarted])


def test_a_crash_may_keep_what_was_being_truncated() -> None:
    quorum = ScriptedQuorum()
    quorum.leader.append(IDS)
    quorum.other.copy_from(quorum.leader)
    quorum.third.lead(2)
    quorum.other.become("Follower", 2, leader_id=THIRD)
    quorum.checks.before(quorum.other, TruncateLog(1))
    restarted = quorum.other.restart()
    assert quorum.checks.quorum.replicas[restarted.key].log.end == 2


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_vote_that_a_crash_may_take_can_be_given_again(is_stored: bool) -> None:
    """It was being written, and no other node learned of it."""
    quorum = ScriptedQuorum()
    vote = ElectionState(epoch=5, voted_id=LEADER)
    quorum.checks.before(quorum.other, WriteQuorumState(vote))
    if is_stored:
        quorum.other.partition.election = vote
    restarted = quorum.other.restart()
    restarted.become("Unattached", 5, voted_id=LEADER if is_stored else THIRD)
    restarted.carry_out()


def test_a_snapshot_takes_the_place_of_the_log() -> None:
    """The high watermark rises in the step before the log is replaced."""
    quorum = ScriptedQuorum()
    quorum.leader.append(IDS)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    quorum.leader.commit(2)
    third = quorum.third
    third.raft.high_watermark = 2
    snapshot_id = OffsetAndEpoch(2, 1)
    third.do(SnapshotDownloaded(snapshot_id, 10), StartOver(snapshot_id))
    third.do(DeadlineReached())
    assert quorum.checks.quorum.replicas[third.key].log.durable_end == 2


def test_a_replica_that_knows_that_it_lost_its_log_counts_until_it_has_recovered() -> None:
    quorum = ScriptedQuorum()
    quorum.checks.ended(quorum.other)
    quorum.checks.forgot(key(OTHER), log=True, votes=False)
    quorum.checks.ended(quorum.third)
    quorum.checks.replaced(key(THIRD))
    quorum.other.partition.log.truncate_to(0)
    quorum.other.partition.recovering_epoch = 1
    quorum.checks.started(quorum.other)
    quorum.other.copy_from(quorum.leader)
    quorum.other.carry_out(NoteRecovered())
    quorum.other.commit(1)
    assert not quorum.checks.quorum.replicas[key(OTHER)].is_excused
    with pytest.raises(AssertionError, match=r"^Durability: "):
        quorum.checks.replaced(key(OTHER))


def test_what_a_recovering_log_held_before_it_was_lost_again_counts() -> None:
    quorum = ScriptedQuorum()
    for _ in range(2):
        quorum.checks.ended(quorum.other)
        quorum.checks.forgot(key(OTHER), log=True, votes=False)
        quorum.other.partition.log.truncate_to(0)
        quorum.other.partition.recovering_epoch = 1
        quorum.checks.started(quorum.other)
        if quorum.checks.committed_end == 1:
            quorum.leader.append(IDS)
            quorum.third.copy_from(quorum.leader)
            quorum.other.copy_from(quorum.leader)
            quorum.leader.commit(2)
    assert quorum.checks.committed_end == 2


LOG = "00000000000000000000.log"


def restart_with_a_damaged_log(quorum: ScriptedQuorum) -> None:
    quorum.checks.damaged(key(OTHER), LOG)
    quorum.other.partition.log.truncate_to(0)
    quorum.other.restart()


def test_damage_to_what_a_replica_promised_may_go_unnoticed() -> None:
    quorum = ScriptedQuorum()
    quorum.checks.damaged(key(OTHER), "metadata-recovery-point")
    restart_with_a_damaged_log(quorum)


def test_a_log_that_damage_has_emptied_is_fetched_again() -> None:
    """What it held counts until then."""
    quorum = ScriptedQuorum()
    quorum.checks.ended(quorum.third)
    quorum.checks.replaced(key(THIRD))
    quorum.other.partition.recovering_epoch = 1
    restart_with_a_damaged_log(quorum)
    assert quorum.checks.quorum.replicas[key(OTHER)].is_excused


def test_what_a_log_held_before_it_was_lost_may_be_counted() -> None:
    """The leader learned that node 2 has the record, and flushes it itself only after node 2 lost it."""
    quorum = ScriptedQuorum()
    quorum.leader.append(IDS)
    quorum.other.copy_from(quorum.leader)
    quorum.checks.ended(quorum.other)
    quorum.checks.replaced(key(OTHER))
    quorum.leader.flush()
    quorum.leader.commit(2)


def test_a_majority_of_the_former_voters_commits_what_precedes_the_newest() -> None:
    quorum = ScriptedQuorum()
    quorum.leader.append(IDS)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    quorum.leader.carry_out(control_batch(2, 1, voter_set(*NODES, 4)))
    quorum.leader.commit(2)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    quorum.leader.append(OTHER_IDS)
    quorum.leader.flush()
    quorum.other.copy_from(quorum.leader)
    with pytest.raises(AssertionError, match=r"^MajorityReachedHighWatermark: "):
        quorum.leader.commit(4)


def test_a_disk_may_lose_what_a_majority_without_it_has() -> None:
    quorum = ScriptedQuorum()
    quorum.commit(METADATA_VERSION)
    quorum.checks.ended(quorum.other)
    quorum.checks.lost_tail(key(OTHER), 1)
    quorum.other.partition.log.truncate_to(1)
    quorum.checks.started(quorum.other)
    quorum.other.copy_from(quorum.leader)


def test_a_follower_that_was_misled_may_end_itself_once() -> None:
    quorum = ScriptedQuorum()
    quorum.checks.misled(key(OTHER))
    quorum.other.carry_out(Halt("its leader lacks records"))
    restarted = quorum.other.restart()
    with pytest.raises(AssertionError, match=r"^NoIllegalState: "):
        restarted.carry_out(Halt("its leader lacks records"))


def test_a_timer_may_raise_the_epoch_in_the_step_of_a_pre_vote() -> None:
    quorum = ScriptedQuorum()
    leader = quorum.leader
    leader.raft.state_name = "Resigned"
    leader.carry_out()
    leader.raft.state_name, leader.raft.epoch = "Unattached", 2
    asked = PartitionData(replica_epoch=2, replica_id=THIRD, pre_vote=True)
    leader.do(leader.request(VoteRequest(topics=[TopicData(partitions=[asked])]), 1))


def test_a_refusal_may_be_sent_before_the_commit() -> None:
    quorum = ScriptedQuorum()
    quorum.leader.do(quorum.leader.request(AllocateProducerIdsRequest(), 7), data_batch(1, 1, IDS))
    quorum.leader.respond(7, AllocateProducerIdsResponse(error_code=int(Errors.NOT_CONTROLLER)))


def test_no_answer_waits_for_what_a_former_leader_truncated() -> None:
    """It leads again, and its log is shorter than it was."""
    quorum = ScriptedQuorum()
    leader, third = quorum.leader, quorum.third
    for _ in range(3):
        leader.append(IDS)
    third.lead(2)
    third.flush()
    leader.become("Follower", 2, leader_id=THIRD)
    leader.carry_out(TruncateLog(1))
    leader.copy_from(third)
    leader.lead(3)
    quorum.replicate()
    assert quorum.checks.committed_end == 3
    leader.do(leader.request(BrokerHeartbeatRequest(), 7))
    leader.respond(7, BrokerHeartbeatResponse())


def test_a_quorum_that_settles() -> None:
    quorum = ScriptedQuorum()
    final(quorum, settled(quorum))
