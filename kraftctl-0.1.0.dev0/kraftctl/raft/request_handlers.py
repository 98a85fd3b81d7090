"""The handler of each API of the raft layer; `kraftctl/apis` has everything else about an API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.describe_quorum import handle_describe_quorum
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.handle_begin_quorum_epoch import handle_begin_quorum_epoch
from kraftctl.raft.handle_end_quorum_epoch import handle_end_quorum_epoch
from kraftctl.raft.handle_fetch import handle_fetch
from kraftctl.raft.handle_fetch_snapshot import handle_fetch_snapshot
from kraftctl.raft.handle_update_raft_voter import handle_update_raft_voter
from kraftctl.raft.handle_vote import handle_vote
from kraftctl.raft.voter_rpcs import handle_add_raft_voter, handle_remove_raft_voter
from kraftctl_protocol.api_keys import ApiKey

RequestHandler = Callable[[RaftCore, RequestReceived], None]
"""A handler responds with an effect, in this step or in a later one."""

HANDLERS: Final[dict[int, RequestHandler]] = {
    ApiKey.FETCH: handle_fetch,
    ApiKey.VOTE: handle_vote,
    ApiKey.BEGIN_QUORUM_EPOCH: handle_begin_quorum_epoch,
    ApiKey.END_QUORUM_EPOCH: handle_end_quorum_epoch,
    ApiKey.DESCRIBE_QUORUM: handle_describe_quorum,
    ApiKey.FETCH_SNAPSHOT: handle_fetch_snapshot,
    ApiKey.ADD_RAFT_VOTER: handle_add_raft_voter,
    ApiKey.REMOVE_RAFT_VOTER: handle_remove_raft_voter,
    ApiKey.UPDATE_RAFT_VOTER: handle_update_raft_voter,
}


def handle_request(core: RaftCore, event: RequestReceived) -> None:
    """Calls the handler of the request's API."""
    HANDLERS[event.api_key](core, event)
