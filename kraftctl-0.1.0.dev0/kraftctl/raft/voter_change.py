"""KIP-853: one voter is added or removed; the request is answered when the change is committed.

1. Add only: ApiVersions of the new voter must have Vote, as only controllers do, and the finalized
   kraft.version; and it must be caught up.
2. KRaftVoters is appended. It is in force from now on, for its own commit as well.
3. It is committed: the request is answered. A leader that has removed itself resigns.

At any step the request's own timeout may pass, or leadership be lost: then what was written may still be
committed.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.append import append_control_records
from kraftctl.raft.check_quorum import check_quorum_deadline_ms
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.elections import resign
from kraftctl.raft.peer_requests import send
from kraftctl.raft.peers import NOTHING_IN_FLIGHT
from kraftctl.raft.states import NEVER_MS, Leader
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.raft.working_majority import START_THEM, why_no_majority
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.control_record import ControlRecordType, encode_control_value
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.message import Message

KRAFT_VERSION: Final = "kraft.version"

CAUGHT_UP_WITHIN_MS: Final = 3_600_000
"""A replica that was never caught up, or has not fetched for an hour, would only slow down commits."""


NOT_WRITTEN: Final = -1

COUNTS_ALREADY: Final = ". It is in the log and counts already: see kafka-metadata-quorum describe --status"


class VoterChange:
    """The only change that a leader has in progress.

    `offset` is that of the KRaftVoters record; `added` is None when a voter is removed.
    """

    def __init__(self, *, request_id: int, epoch: int, deadline_ms: int, ack_when_committed: bool) -> None:
        self.request_id = request_id
        self.epoch = epoch
        self.deadline_ms = deadline_ms
        self.ack_when_committed = ack_when_committed
        self.added: VoterNode | None = None
        self.is_removal = False
        self.send_id = 0
        self.offset = NOT_WRITTEN

    def response(self, error: Errors, reason: str | None) -> Message:
        if self.is_removal:
            return RemoveRaftVoterResponse(error_code=error, error_message=reason)
        return AddRaftVoterResponse(error_code=error, error_message=reason)


def begin_add(core: RaftCore, change: VoterChange, node: VoterNode) -> None:
    """Starts `change`, which waits for the ApiVersions response of `node`, then for its commit."""
    host, port = node.endpoints[core.default_listener()]
    peer = core.peers.peer(node.key.id, host, port)
    core.peers.expire(core.now_ms, core.config.retry_backoff_ms)
    request = ApiVersionsRequest(client_software_name="kraftctl", client_software_version="1")
    change.send_id = send(core, peer, request)
    if change.send_id == NOTHING_IN_FLIGHT:
        _answer(core, change, Errors.REQUEST_TIMED_OUT, f"{node.key} cannot be reached right now")
        return
    change.added = node
    core.voter_change = change


def begin_remove(core: RaftCore, change: VoterChange, leader: Leader, voters: VoterSet) -> None:
    """Starts the removal; `voters` are those that remain."""
    change.is_removal = True
    change.offset = _change_voters(core, leader, voters)
    core.voter_change = change


def take_versions(core: RaftCore, send_id: int, response: Message | None) -> bool:
    """Handles the ApiVersions response of the new voter; False when it is unusable."""
    change = core.voter_change
    leader = core.leader()
    if change is None or leader is None or change.added is None or change.send_id != send_id:
        return False
    node = change.added
    if not isinstance(response, ApiVersionsResponse) or response.error_code != Errors.NONE:
        _end(core, change, Errors.REQUEST_TIMED_OUT, f"{node.key} did not answer ApiVersions")
        return False
    if all(api.api_key != ApiKey.VOTE for api in response.api_keys):
        # KAFKA-19021: a broker fetches as an observer does, and would be lost as a voter.
        host, port = node.endpoints[core.default_listener()]
        _end(core, change, Errors.INVALID_REQUEST, f"{node.key} is no controller: {host}:{port} has no Vote")
        return True
    for feature in response.supported_features:
        if feature.name == KRAFT_VERSION:
            node.kraft_version_min = feature.min_version
            node.kraft_version_max = feature.max_version
    if not node.supports(core.history.kraft_version()):
        reason = f"{node.key} does not support kraft.version {core.history.kraft_version()}"
        _end(core, change, Errors.INVALID_REQUEST, reason)
        return True
    replica = leader.observer_states.get(node.key)
    if (
        replica is None
        or replica.last_caught_up_wall_ms <= 0
        or core.now_ms - replica.last_fetch_ms >= CAUGHT_UP_WITHIN_MS
    ):
        _end(core, change, Errors.REQUEST_TIMED_OUT, f"{node.key} is lagging behind: try again later")
        return True
    voters = core.voters.with_voter(node)
    if voters is None:
        _end(core, change, Errors.DUPLICATE_VOTER, f"The id of {node.key} is a voter already")
        return True
    without_majority = why_no_majority(core, voters)
    if without_majority is not None:
        text = f"Voter {node.key} is not added. {without_majority}. {START_THEM}"
        _end(core, change, Errors.REQUEST_TIMED_OUT, text)
        return True
    change.offset = _change_voters(core, leader, voters)
    if not change.ack_when_committed:
        _end(core, change, Errors.NONE, None)
    return True


def write_voters(core: RaftCore, leader: Leader, voters: VoterSet) -> int:
    """Appends KRaftVoters, which are in force from now on; returns the offset of the record."""
    offset = core.log.end_offset
    core.notice(INFO, f"Writing the voters {voters!r} at offset {offset}")
    core.history.add_voters(offset, voters)
    leader.set_voters(voters)
    record = (int(ControlRecordType.KRAFT_VOTERS), encode_control_value(voters.to_record()))
    append_control_records(core, leader, [record])
    return offset


def _change_voters(core: RaftCore, leader: Leader, voters: VoterSet) -> int:
    """Writes `voters`, of whom there is one more or one less; returns the offset of the record."""
    offset = write_voters(core, leader, voters)
    _change_check_quorum(core, leader)
    leader.send_begin_quorum_epoch_at(core.now_ms)
    return offset


def _change_check_quorum(core: RaftCore, leader: Leader) -> None:
    """Gives the new voters the time that was left to the former ones; a leader that was alone had no
    limit.
    """
    deadline_ms = check_quorum_deadline_ms(core)
    limits = NEVER_MS not in (deadline_ms, leader.deadline_ms)
    leader.restart_check_quorum(leader.deadline_ms if limits else deadline_ms)


def settle_change(core: RaftCore, *, may_time_out: bool) -> None:
    """Responds, after an event, if the change is committed or lost, or has taken too long."""
    leader = core.leader()
    change = core.voter_change
    if change is not None:
        if leader is None or leader.epoch != change.epoch:
            error = Errors.NOT_LEADER_OR_FOLLOWER
            _end(core, change, error, "The leader was replaced before the change was committed")
        elif change.offset != NOT_WRITTEN and change.offset < leader.high_watermark:
            _end(core, change, Errors.NONE, None)
        elif may_time_out and change.deadline_ms <= core.now_ms:
            counts = "" if change.offset == NOT_WRITTEN else COUNTS_ALREADY
            _end(core, change, Errors.REQUEST_TIMED_OUT, f"The change is not committed yet{counts}")
    if leader is not None and not leader.is_voter(core.key) and is_voter_set_committed(core, leader):
        core.notice(INFO, "Resigning: this replica is no longer a voter")
        resign(core)


def is_voter_set_committed(core: RaftCore, leader: Leader) -> bool:
    return core.history.last_offset() < leader.high_watermark


def _end(core: RaftCore, change: VoterChange, error: Errors, reason: str | None) -> None:
    core.voter_change = None
    _answer(core, change, error, reason)


def _answer(core: RaftCore, change: VoterChange, error: Errors, reason: str | None) -> None:
    if error != Errors.NONE:
        core.notice(INFO, f"The change of voters ended with {error_of(error).name}: {reason}")
    core.respond(change.request_id, change.response(error, reason))
