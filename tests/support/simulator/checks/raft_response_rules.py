"""What the raft layer answers: epochs, leaders, voters and refusals are those of its log and its disk.

Votes are checked by `quorum_claims`, high watermarks by `announcements`, records when they are appended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from tests.support.simulator.checks.asked_requests import AskedRequest
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.quorum_checks import LEADER, QuorumChecks

NO_LEADER = -1

EPOCHS: dict[type, str] = {
    FetchRequest: "current_leader_epoch",
    FetchSnapshotRequest: "current_leader_epoch",
    VoteRequest: "replica_epoch",
    BeginQuorumEpochRequest: "leader_epoch",
    EndQuorumEpochRequest: "leader_epoch",
}
"""Requests of replicas -> the field of their partition with the epoch of who sends them."""

NOT_OF_THE_LOG: dict[int, str] = {
    Errors.REQUEST_TIMED_OUT: "it is too late, or another change of voters is not over",
    Errors.INVALID_REQUEST: "the request itself is wrong, or names a replica that is no voter",
    Errors.INVALID_VOTER_KEY: "the request names another directory, or a node that does not vote",
    Errors.INCONSISTENT_VOTER_SET: "who asks, or is asked, is no voter",
    Errors.INCONSISTENT_CLUSTER_ID: "of another cluster",
    Errors.UNSUPPORTED_VERSION: "of kraft.version, which is in control records",
    Errors.BROKER_NOT_AVAILABLE: "a leader is not known yet, or its endpoint",
    Errors.SNAPSHOT_NOT_FOUND: "which snapshots are kept is no promise",
    Errors.POSITION_OUT_OF_RANGE: "of a file",
    Errors.CLUSTER_AUTHORIZATION_FAILED: "of the ACLs; the authorizer is compared with Kafka's",
    Errors.UNKNOWN_TOPIC_OR_PARTITION: "of another topic than the metadata",
    Errors.UNKNOWN_SERVER_ERROR: "the ACLs are not loaded yet, or a replica names itself",
}
"""Codes that neither epochs nor voters justify -> what does."""


def check(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest, response: Message) -> list[int]:
    """Returns the codes of the response; those in REFUSALS are checked."""
    for leader_id, epoch in _named_leaders(response):
        _check_leader(quorum, replica, response, leader_id, epoch, _repeated_epoch(asked, response))
    codes = list(_codes(response))
    for code in codes:
        rule = REFUSALS.get(code)
        if rule is not None and not rule(quorum, replica, asked):
            broken(
                "RefusalIsJustified",
                f"{replica.name}, {replica.state_name} of epoch {replica.epoch}, answers {asked.request!r}"
                f" with {Errors(code).name}; it was {asked.state_name} of epoch {asked.epoch}",
            )
    if not getattr(response, "error_code", 0):
        grant = GRANTS.get(type(asked.request))
        if grant is not None:
            grant(quorum, replica, asked, response)
    return codes


def _partitions(message: Message) -> Iterator[Any]:
    for topic in getattr(message, "topics", None) or getattr(message, "responses", None) or ():
        yield from topic.partitions


def _codes(response: Message) -> Iterator[int]:
    code = getattr(response, "error_code", 0)
    if code:
        yield code
    for partition in _partitions(response):
        if partition.error_code:
            yield partition.error_code


def _named_leaders(response: Message) -> Iterator[tuple[int, int]]:
    for one in (response, *_partitions(response)):
        named = getattr(one, "current_leader", one)
        if hasattr(named, "leader_epoch"):
            yield named.leader_id, named.leader_epoch


def _check_leader(
    quorum: QuorumChecks,
    replica: CheckedReplica,
    response: Message,
    leader_id: int,
    epoch: int,
    repeated_epoch: int,
) -> None:
    """The epoch is on the disk of who names it, and has this leader and no other."""
    stored = -1 if replica.stored is None else replica.stored.epoch
    if epoch > stored and epoch != repeated_epoch:
        broken(
            "MonotonicEpoch", f"{replica.name} answers {response.NAME} with epoch {epoch}, stored is {stored}"
        )
    if leader_id != NO_LEADER and quorum.elected.get(epoch, leader_id) != leader_id:
        broken(
            "SingleLeader",
            f"{replica.name} answers {response.NAME} with leader {leader_id} of epoch {epoch}, elected was"
            f" {quorum.elected[epoch]}",
        )


def _repeated_epoch(asked: AskedRequest, response: Message) -> int:
    """The epoch of a request for a vote, if nothing comes of it: a pre-vote, or no vote. Else -1.

    The response repeats it, so that who asked knows which request it belongs to.
    """
    if isinstance(asked.request, VoteRequest):
        for partition in _partitions(asked.request):
            epoch: int = partition.replica_epoch
            granted = any(one.vote_granted for one in _partitions(response))
            return epoch if partition.pre_vote or not granted else -1
    return -1


# Refusals.


def _asked_epoch(asked: AskedRequest) -> int | None:
    field = EPOCHS.get(type(asked.request))
    if field is not None:
        for partition in _partitions(asked.request):
            epoch: int = getattr(partition, field)
            return epoch
    if isinstance(asked.request, UpdateRaftVoterRequest):
        return asked.request.current_leader_epoch
    return None


def _is_behind(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest) -> bool:
    epoch = _asked_epoch(asked)
    return epoch is not None and epoch < replica.epoch


def _is_ahead(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest) -> bool:
    """Of the epoch in which the request was handled; a request of a replica may raise it."""
    epoch = _asked_epoch(asked)
    return epoch is not None and epoch > min(asked.epoch, replica.epoch)


def _is_not_leader(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest) -> bool:
    """At some time between the request and now."""
    return LEADER not in (asked.state_name, replica.state_name) or (
        asked.state_name != replica.state_name or asked.epoch != replica.epoch
    )


def _has_voter(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest) -> bool:
    """With this id, in one of the voter sets of its log since the request."""
    voter_id: int = asked.request.voter_id  # type: ignore[attr-defined]
    return any(voter_id in voters.nodes for voters in _voter_sets(quorum, replica, asked))


def _lacks_voter(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest) -> bool:
    """A static voter set has no directories, but a replica knows its own."""
    key = _key_of(asked.request)
    if key.id == replica.node_id and key.directory_id != replica.key.directory_id:
        return True
    return any(not voters.is_voter(key) for voters in _voter_sets(quorum, replica, asked))


Refusal = Callable[[QuorumChecks, CheckedReplica, AskedRequest], bool]

REFUSALS: dict[int, Refusal] = {
    Errors.FENCED_LEADER_EPOCH: _is_behind,
    Errors.UNKNOWN_LEADER_EPOCH: _is_ahead,
    Errors.NOT_LEADER_OR_FOLLOWER: _is_not_leader,
    Errors.DUPLICATE_VOTER: _has_voter,
    Errors.VOTER_NOT_FOUND: _lacks_voter,
}


# Changes of voters that were granted.


def _key_of(request: Any) -> ReplicaKey:
    return ReplicaKey(request.voter_id, request.voter_directory_id)


def _voter_sets(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest) -> Iterator[VoterSet]:
    """Those in its log, from the request on."""
    batches = replica.log.batches
    later = [batch for batch in batches if batch.end > asked.log_end]
    first = batches[len(batches) - len(later) - 1] if len(later) < len(batches) else None
    yield quorum.commits.voters_of(None if first is None else first.voters_batch)
    for batch in later:
        if batch.voters is not None:
            yield batch.voters


def _committed_voters(quorum: QuorumChecks) -> VoterSet:
    committed = quorum.history.committed
    return quorum.commits.voters_of(committed[-1].voters_batch if committed else None)


def _is_added(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest, response: Message) -> None:
    """Committed, if who asks wants to wait for that, or in the log of the leader."""
    request = asked.request
    assert isinstance(request, AddRaftVoterRequest)
    _check_voters(
        quorum, replica, asked, lambda voters: voters.is_voter(_key_of(request)), request.ack_when_committed
    )


def _is_removed(
    quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest, response: Message
) -> None:
    _check_voters(quorum, replica, asked, lambda voters: not voters.is_voter(_key_of(asked.request)), True)


def check_update(quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest) -> None:
    """After the step that answers it, the log of the leader has the endpoints, committed or not, as in Kafka.

    Unless it has no voters at all: with kraft.version 0 a leader remembers them.
    """
    request = asked.request
    assert isinstance(request, UpdateRaftVoterRequest)
    if all(batch.voters is None for batch in replica.log.batches):
        return
    endpoints = {one.name: (one.host, one.port) for one in request.listeners}

    def listens_there(voters: VoterSet) -> bool:
        node = voters.nodes.get(request.voter_id)
        return node is not None and node.endpoints == endpoints

    _check_voters(quorum, replica, asked, listens_there, False)


def _check_voters(
    quorum: QuorumChecks,
    replica: CheckedReplica,
    asked: AskedRequest,
    is_done: Callable[[VoterSet], bool],
    is_committed: bool,
) -> None:
    """In one of the voter sets since the request: the next change may follow before the response is sent."""
    found = [voters for voters in _voter_sets(quorum, replica, asked) if is_done(voters)]
    end = max((batch.end for batch in replica.log.batches if batch.voters in found), default=0)
    if not found or (
        is_committed and end > quorum.history.committed_end and not is_done(_committed_voters(quorum))
    ):
        broken(
            "AckedValueNotLost",
            f"{replica.name} in epoch {replica.epoch} answers {asked.request!r}, committed voters are"
            f" {_committed_voters(quorum)!r}",
        )


def _is_described(
    quorum: QuorumChecks, replica: CheckedReplica, asked: AskedRequest, response: Message
) -> None:
    """Voters of the log of the leader; ends of logs, and what is committed, as far as that goes."""
    for partition in _partitions(response):
        if partition.error_code:
            continue
        found = sorted((one.replica_id) for one in partition.current_voters)
        if all(found != sorted(voters.nodes) for voters in _voter_sets(quorum, replica, asked)):
            broken("ReadsSeeCommittedData", f"{replica.name} describes the voters {found}")
        if partition.high_watermark > quorum.history.committed_end:
            broken(
                "ReadsSeeCommittedData",
                f"{replica.name} describes the high watermark {partition.high_watermark}, committed is"
                f" {quorum.history.committed_end}",
            )
        for one in partition.current_voters:
            if one.log_end_offset > replica.log.end:
                broken("ReadsSeeCommittedData", f"{replica.name} describes {one!r}, its log ends earlier")


GRANTS: dict[type, Callable[[QuorumChecks, CheckedReplica, AskedRequest, Message], None]] = {
    AddRaftVoterRequest: _is_added,
    RemoveRaftVoterRequest: _is_removed,
    DescribeQuorumRequest: _is_described,
}
