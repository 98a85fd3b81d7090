"""KIP-853, KIP-1186: a controller with `controller.quorum.auto.join.enable` makes itself a voter.

Only while it observes a quorum of kraft.version 1, the first time a fetch timeout after it began to follow,
and instead of a Fetch. It sends the leader

1. RemoveRaftVoter while its id votes with another directory id: its own former directory is lost;
2. AddRaftVoter once its id does not vote. It does not wait for the commit, which may need its Fetch.

The leader decides; whatever it answers, the log says what to send next, a fetch timeout later. Kafka's
observers wait that long from one request to the next. A leader that cannot reach this node answers when its
own timeout has passed: the node would hardly fetch in between, and the leader refuse most other changes.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO, WARN
from kraftctl.raft.states import Follower
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse

JoinResponse = AddRaftVoterResponse | RemoveRaftVoterResponse

PASSING_ERRORS: Final = frozenset(
    [Errors.REQUEST_TIMED_OUT, Errors.DUPLICATE_VOTER, Errors.VOTER_NOT_FOUND, Errors.NOT_LEADER_OR_FOLLOWER]
)
"""The leader is not ready for the change, this replica lags, or its log is older than the leader's."""

PASSES_WITHIN_MS: Final = 60_000
"""What lasts longer needs an operator: a voter that is missing, for example."""


def is_to_join(core: RaftCore, state: Follower) -> bool:
    """Returns whether the leader has to be asked now."""
    return (
        core.config.auto_join
        and core.now_ms >= state.update_voter_at_ms
        and core.history.kraft_version() >= 1
        and not core.is_voter()
    )


def join_request(core: RaftCore) -> AddRaftVoterRequest | RemoveRaftVoterRequest:
    known = core.voters.nodes.get(core.key.id)
    if known is not None:
        return RemoveRaftVoterRequest(
            cluster_id=core.cluster_id,
            voter_id=known.key.id,
            voter_directory_id=known.key.directory_id,
        )
    return AddRaftVoterRequest(
        cluster_id=core.cluster_id,
        timeout_ms=core.config.request_timeout_ms,
        voter_id=core.key.id,
        voter_directory_id=core.key.directory_id,
        listeners=[
            Listener(name=name, host=host, port=port) for name, (host, port) in core.endpoints.items()
        ],
        ack_when_committed=False,
    )


def next_join_ms(core: RaftCore) -> int:
    """Returns when to ask again, if the leader does not answer what is sent now."""
    return core.next_update_voter_ms() + core.config.request_timeout_ms


def take_join_response(core: RaftCore, response: JoinResponse) -> bool:
    """Handles the response. Returns whether the leader may be asked for records without a pause."""
    state = core.state
    if isinstance(state, Follower):
        state.consider_update_at(core.next_update_voter_ms())
    error = error_of(response.error_code)
    joins = isinstance(response, AddRaftVoterResponse)
    what = "add this node to the voters" if joins else "remove this node's former directory from the voters"
    if error == Errors.NONE:
        core.notice(INFO, f"Auto-join: the leader agrees to {what}")
        return True
    reason = f"{error.name}: {response.error_message or error.message}"
    passes = error in PASSING_ERRORS
    key = f"auto-join {what} {error.name}"
    reasons, lasts = core.progress.faults, f"{key} lasts"
    if reasons.is_due(lasts, core.now_ms, lasts_ms=PASSES_WITHIN_MS if passes else 0):
        core.notice(WARN, f"Auto-join: the leader refuses to {what}: {reason}")
    elif reasons.is_due(key, core.now_ms) and not reasons.is_spoken(lasts):
        core.notice(INFO, f"Auto-join: the leader does not {what} yet: {reason}")
    return passes and error != Errors.NOT_LEADER_OR_FOLLOWER
