"""Finds why this replica neither leads nor follows now, or follows without a vote: a state and its line.

It only looks: probes ask at any time, outside of a step.
"""

from __future__ import annotations

from kraftctl.raft import progress_states as states
from kraftctl.raft.core import RaftCore
from kraftctl.raft.peer_reports import PeerReport
from kraftctl.raft.peer_requests import bootstrap_addresses
from kraftctl.raft.progress_states import ProgressState
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.uuids import uuid_to_string


class Reason:
    """A reason; `key` stays the same while the line changes only in its times."""

    def __init__(self, state: ProgressState, key: str, fields: dict[str, str]) -> None:
        self.state = state
        self.key = key
        self.line = state.line(fields)


def reason(core: RaftCore, seconds: float) -> Reason:
    """Returns why a replica makes no progress for so long."""
    if not core.is_voter():
        state, reports = _of_observer(core)
    else:
        reports = _voters(core)
        state = _of_voter(core, reports)
    fields = _fields(core, reports)
    fields["seconds"] = f"{seconds:.1f}"
    kinds = ",".join([f"{report.peer_id}={report.kind}" for report in reports])
    return Reason(state, f"{state.name} {core.state.leader_id} {kinds}", fields)


def standing_reason(core: RaftCore) -> Reason | None:
    """Returns why an observer that follows is no voter; None for all others, and for one that joins."""
    return None if core.config.auto_join else no_vote_reason(core)


def no_vote_reason(core: RaftCore) -> Reason | None:
    """Returns why an observer is no voter; None for a voter, and before voters are known."""
    if core.is_voter() or not core.voters.voter_ids():
        return None
    fields = {
        "own": str(core.key),
        "id": str(core.key.id),
        "leader": str(core.state.leader_id),
        "voters": voters_text(core.voters),
    }
    known = core.voters.nodes.get(core.key.id)
    if known is None:
        return Reason(states.NOT_A_VOTER, states.NOT_A_VOTER.name, fields)
    fields["known"] = str(known.key)
    fields["directory"] = uuid_to_string(known.key.directory_id)
    return Reason(states.NEW_DIRECTORY, f"{states.NEW_DIRECTORY.name} {known.key}", fields)


def voters_text(voters: VoterSet) -> str:
    return ", ".join([str(node.key) for node in voters.nodes.values()])


def _of_observer(core: RaftCore) -> tuple[ProgressState, list[PeerReport]]:
    reports = [core.peers.reports.look_up(*address) for address in bootstrap_addresses(core)]
    leader = _leader_report(core)
    if leader is not None:
        reports.insert(0, leader)
    if core.recovering_epoch is not None:
        return states.RECOVERING, reports
    return states.NO_LEADER_FOUND if core.voters.voter_ids() else states.NO_VOTERS, reports


def _of_voter(core: RaftCore, reports: list[PeerReport]) -> ProgressState:
    if core.recovering_epoch is not None:
        return states.RECOVERING
    if core.is_only_voter() and isinstance(core.state, Leader):
        return states.OWN_DISK
    if _count(core, reports) < _majority(core):
        return states.NO_MAJORITY
    if isinstance(core.state, Leader) or core.progress.wins_count > 1:
        return states.NOT_FETCHED
    if _leader_report(core) is not None:
        return states.LEADER_SILENT
    return states.NOT_ELECTED


def _voters(core: RaftCore) -> list[PeerReport]:
    """Returns the reports of all other voters."""
    found: list[PeerReport] = []
    for voter_id in core.voters.voter_ids():
        endpoint = core.voters.endpoints(voter_id).get(core.default_listener())
        if voter_id != core.key.id:
            host, port = ("?", -1) if endpoint is None else endpoint
            found.append(core.peers.reports.look_up(voter_id, host, port))
    return found


def _leader_report(core: RaftCore) -> PeerReport | None:
    state = core.state
    endpoint = state.leader_endpoints.get(core.default_listener())
    if state.leader_id in (-1, core.key.id) or endpoint is None:
        return None
    return core.peers.reports.look_up(state.leader_id, endpoint[0], endpoint[1])


def _hints(reports: list[PeerReport]) -> str:
    """Returns each next step once."""
    steps: list[str] = []
    for report in reports:
        step = report.next_step
        if step is not None and step not in steps:
            steps.append(step)
    return "; ".join(steps) or "start the other controllers"


def _count(core: RaftCore, reports: list[PeerReport]) -> int:
    """Returns how many voters take part in elections, with this one."""
    count = 1 if core.may_vote() else 0
    for report in reports:
        if report.is_reached:
            count += 1
    return count


def _majority(core: RaftCore) -> int:
    return len(core.voters) // 2 + 1


def _fields(core: RaftCore, reports: list[PeerReport]) -> dict[str, str]:
    state = core.state
    leader = _leader_report(core)
    host, port = core.endpoints[core.default_listener()]
    return {
        "own": str(core.key),
        "count": str(_count(core, reports)),
        "voters": str(len(core.voters)),
        "majority": str(_majority(core)),
        "peers": "; ".join([str(report) for report in reports]) or "no other controller is known",
        "hints": _hints(reports),
        "leader": str(state.leader_id),
        "epoch": str(state.epoch if core.recovering_epoch is None else core.recovering_epoch),
        "address": f"{host}:{port}" if leader is None else f"{leader.host}:{leader.port}",
        "flushed": str(core.log.flushed_offset),
        "end": str(core.log.end_offset),
        "reason": "" if leader is None else leader.text,
    }
