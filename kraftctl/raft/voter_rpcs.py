"""KIP-853: AddRaftVoter and RemoveRaftVoter; the checks in the order of Kafka's handlers.

| # | must hold | else |
|---|---|---|
| 1 | the cluster id is ours, or absent | INCONSISTENT_CLUSTER_ID |
| 2 | we lead | as for every request to a leader |
| 3 | the voter has id and directory id; add: and the controllers' listener | INVALID_REQUEST |
| 4 | this epoch has committed, so no voter change of an earlier epoch is pending | REQUEST_TIMED_OUT |
| 5 | kraft.version is 1 | UNSUPPORTED_VERSION |
| 6 | no change is in progress and the latest KRaftVoters record is committed | REQUEST_TIMED_OUT |
| 7 | add: the id is not a voter yet | DUPLICATE_VOTER |
| 8 | remove: the replica is a voter, and not the only one | VOTER_NOT_FOUND |
| 9 | a majority of the new voters works (`working_majority`), or the removal is forced | REQUEST_TIMED_OUT |

Row 9, of an addition when the new voter has responded, is not Kafka's; with its error auto-join asks again.
A voter with more or longer endpoints than a node registers, or one without a name, is not added, either:
INVALID_REQUEST.
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import WARN
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.forced_removal import is_forced
from kraftctl.raft.named_endpoints import endpoints_of, why_unusable
from kraftctl.raft.other_replicas import sent_from
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.validation import is_other_cluster, leader_only_error
from kraftctl.raft.voter_change import VoterChange, begin_add, begin_remove, is_voter_set_committed
from kraftctl.raft.voter_set import VoterNode
from kraftctl.raft.working_majority import START_THEM, why_no_majority
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse


class Refusal:
    """The reason why a change of the voters is refused; `error` is NONE if it is not."""

    def __init__(self, error: Errors, message: str | None = None) -> None:
        self.error = error
        self.message = message


def handle_add_raft_voter(core: RaftCore, event: RequestReceived) -> None:
    request = event.request
    assert isinstance(request, AddRaftVoterRequest)
    refusal = check_leads_cluster(core, request.cluster_id, core.state.epoch)
    if refusal.error == Errors.NONE:
        refusal = _check_add(core, request)
    if refusal.error != Errors.NONE:
        response = AddRaftVoterResponse(error_code=refusal.error, error_message=refusal.message)
        core.respond(event.request_id, response)
        return
    endpoints = endpoints_of(request.listeners)
    change = _change(core, event, ack_when_committed=request.ack_when_committed)
    begin_add(core, change, VoterNode(ReplicaKey(request.voter_id, request.voter_directory_id), endpoints))


def handle_remove_raft_voter(core: RaftCore, event: RequestReceived) -> None:
    request = event.request
    assert isinstance(request, RemoveRaftVoterRequest)
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    refusal = check_leads_cluster(core, request.cluster_id, core.state.epoch)
    if refusal.error == Errors.NONE:
        refusal = _check_remove(core, key, event, forced=is_forced(request))
    if refusal.error != Errors.NONE:
        response = RemoveRaftVoterResponse(error_code=refusal.error, error_message=refusal.message)
        core.respond(event.request_id, response)
        return
    leader, voters = core.leader(), core.voters.without_voter(key)
    assert leader is not None
    assert voters is not None
    change = _change(core, event, ack_when_committed=True)
    begin_remove(core, change, leader, voters)


def _change(core: RaftCore, event: RequestReceived, *, ack_when_committed: bool) -> VoterChange:
    return VoterChange(
        request_id=event.request_id,
        epoch=core.state.epoch,
        deadline_ms=core.now_ms + core.config.request_timeout_ms,
        ack_when_committed=ack_when_committed,
    )


def check_leads_cluster(core: RaftCore, cluster_id: str | None, epoch: int) -> Refusal:
    """Returns the refusal of a change that is not for this cluster, or for the leader of `epoch`."""
    if is_other_cluster(core, cluster_id):
        return Refusal(
            Errors.INCONSISTENT_CLUSTER_ID, f'The cluster id is "{core.cluster_id}", not "{cluster_id}"'
        )
    return Refusal(leader_only_error(core, epoch))


def _check_add(core: RaftCore, request: AddRaftVoterRequest) -> Refusal:
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    if is_incomplete(key):
        return Refusal(Errors.INVALID_REQUEST, "The voter to add has no id or no directory id")
    unusable = why_unusable(request.listeners)
    if unusable is not None:
        return Refusal(Errors.INVALID_REQUEST, f"The voter cannot be added: {unusable}")
    listener_names = list(endpoints_of(request.listeners))
    if core.default_listener() not in listener_names:
        return Refusal(
            Errors.INVALID_REQUEST,
            f"The endpoints {listener_names} lack the controllers' listener {core.default_listener()}",
        )
    refusal = _check_voters_may_change(core, "added")
    if refusal.error != Errors.NONE:
        return refusal
    if key.id in core.voters.nodes:
        voters = ", ".join(str(node.key) for node in core.voters.nodes.values())
        return Refusal(Errors.DUPLICATE_VOTER, f"The id of {key} is a voter already: {voters}")
    return Refusal(Errors.NONE)


def _check_remove(core: RaftCore, key: ReplicaKey, event: RequestReceived, *, forced: bool) -> Refusal:
    if is_incomplete(key):
        return Refusal(Errors.INVALID_REQUEST, "The voter to remove has no id or no directory id")
    refusal = _check_voters_may_change(core, "removed")
    if refusal.error != Errors.NONE:
        return refusal
    if not core.voters.is_voter(key):
        voters = ", ".join(str(node.key) for node in core.voters.nodes.values())
        return Refusal(Errors.VOTER_NOT_FOUND, f"{key} is none of the voters {voters}")
    remaining = core.voters.without_voter(key)
    if remaining is None:
        text = f"{key} is the only voter, and a quorum needs one: add another voter before it is removed"
        return Refusal(Errors.VOTER_NOT_FOUND, text)
    reason = why_no_majority(core, remaining)
    if reason is not None and not forced:
        return Refusal(Errors.REQUEST_TIMED_OUT, f"Voter {key} is not removed. {reason}. {START_THEM}")
    if reason is not None:
        core.notice(
            WARN,
            f"Voter {key} is removed because the request{sent_from(event.client_address)} forces it."
            f" {reason}. Next step: start the missing ones, and do not repeat the request",
        )
    return Refusal(Errors.NONE)


def _check_voters_may_change(core: RaftCore, verb: str) -> Refusal:
    leader = core.leader()
    assert leader is not None
    if leader.high_watermark < 0:
        return Refusal(Errors.REQUEST_TIMED_OUT, "The leader has not committed anything in its epoch yet")
    if core.history.kraft_version() < 1:
        return Refusal(
            Errors.UNSUPPORTED_VERSION,
            f"Voters cannot be {verb} while kraft.version is {core.history.kraft_version()}",
        )
    if core.voter_change is not None or not is_voter_set_committed(core, leader):
        return Refusal(Errors.REQUEST_TIMED_OUT, "The latest change of the voters is not committed yet")
    return Refusal(Errors.NONE)


def is_incomplete(key: ReplicaKey) -> bool:
    return key.id < 0 or key.directory_id == NO_DIRECTORY_ID
