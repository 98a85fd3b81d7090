"""Writes, on the leader, which voters do not fetch, and which it does not reach at their addresses.

The quorum works without a minority of its voters, and nothing else says that one is missing. The leader
looks every half minute, so elections and restarts are silent; a line is repeated more and more rarely.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft import progress_states as states
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.peer_failures import NEXT_STEPS
from kraftctl.raft.peer_reports import PeerReport
from kraftctl.raft.peer_requests import send_begin_quorum_epoch_to
from kraftctl.raft.progress_faults import fault
from kraftctl.raft.replica_state import ReplicaState
from kraftctl.raft.states import NEVER_MS, Leader

SILENT_MS: Final = 30_000
"""A voter fetches at least every half second; a restart takes it less than this."""


def begin_to_watch(core: RaftCore, leader: Leader) -> None:
    """Starts when the node begins to lead: until then no voter could fetch."""
    core.voter_watch.begin(leader.epoch, core.now_ms, core.now_ms + SILENT_MS)


def voter_fetched(core: RaftCore, voter: ReplicaState) -> None:
    """Notes a Fetch or FetchSnapshot. This is cheap in the usual case."""
    voter.heard_ms = core.now_ms
    if voter.key.id in core.voter_watch.silent:
        since_ms = core.voter_watch.silent.pop(voter.key.id)
        core.progress.faults.end(f"{states.SILENT_VOTER.name} {voter.key}")
        seconds = (core.now_ms - since_ms) / 1000
        core.notice(INFO, f"Voter {voter.key} fetches from leader {core.key} again, after {seconds:.1f} s")


def check_voters(core: RaftCore) -> None:
    """Checks the voters when a deadline has come."""
    watch, leader = core.voter_watch, core.leader()
    if leader is None or leader.epoch != watch.epoch or core.shutting_down:
        watch.end()
        return
    others = [leader.voter_states[id_] for id_ in sorted(leader.voter_states) if id_ != core.key.id]
    since_ms = {voter.key.id: max(voter.last_heard_ms, watch.began_ms) for voter in others}
    due_ms = core.now_ms - SILENT_MS
    silent = {voter_id: at_ms for voter_id, at_ms in since_ms.items() if at_ms <= due_ms}
    next_ms = min([at_ms + SILENT_MS for at_ms in since_ms.values() if at_ms > due_ms], default=NEVER_MS)
    watch.checked(silent, min(next_ms, core.now_ms + SILENT_MS))
    for voter in others:
        if voter.key.id in silent:
            _note_silence(core, leader, voter)
        else:
            _check_address(core, voter)


def _note_silence(core: RaftCore, leader: Leader, voter: ReplicaState) -> None:
    silent, report = core.voter_watch.silent, _report(core, voter.key.id)
    own_host, own_port = core.endpoints[core.default_listener()]
    last = f"its last Fetch was from offset {voter.end_offset}"
    fields = {
        "voter": str(voter.key),
        "address": f"{report.host}:{report.port}",
        "seconds": f"{(core.now_ms - silent[voter.key.id]) / 1000:.0f}",
        "last": last if voter.heard_ms >= 0 else f"not once since epoch {leader.epoch} began",
        "reason": report.text,
        "end": str(core.log.end_offset),
        "count": str(len(leader.voter_states) - len(silent)),
        "voters": str(len(leader.voter_states)),
        "majority": str(len(leader.voter_states) // 2 + 1),
        "hint": report.next_step
        or f"see the log of controller {voter.key.id}; it has to reach this node at {own_host}:{own_port}",
    }
    fault(core, states.SILENT_VOTER, str(voter.key), fields, lasts_ms=0)


def _check_address(core: RaftCore, voter: ReplicaState) -> None:
    """Notes a voter that fetches, and that this node will not reach when it asks for its vote.

    It sends BeginQuorumEpoch, which changes nothing there, to learn whether that has ended.
    """
    report = _report(core, voter.key.id)
    if report.kind not in NEXT_STEPS:
        return
    is_static = core.history.kraft_version() == 0
    fields = {
        "voter": str(voter.key),
        "address": f"{report.host}:{report.port}",
        "reason": report.text,
        "hint": NEXT_STEPS[report.kind],
        "source": "controller.quorum.voters of this node"
        if is_static
        else f"advertised.listeners of controller {voter.key.id}",
    }
    key = f"{report.peer_id} {report.host}:{report.port}"
    # It lasts from one look to the next.
    fault(core, states.UNREACHED_VOTER, key, fields, lasts_ms=SILENT_MS // 2)
    send_begin_quorum_epoch_to(core, voter.key)


def _report(core: RaftCore, voter_id: int) -> PeerReport:
    endpoint = core.voters.endpoints(voter_id).get(core.default_listener())
    host, port = ("?", -1) if endpoint is None else endpoint
    return core.peers.reports.of(voter_id, host, port)
