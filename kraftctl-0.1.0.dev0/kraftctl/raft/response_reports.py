"""Notes what responses, and their absence, show about another controller, for `progress_reasons` and for
log lines.
"""

from __future__ import annotations

from kraftctl.raft import progress_states as states
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.identities import Identity
from kraftctl.raft.peer_failures import CLOSED, NOTHING_CAME
from kraftctl.raft.peer_identities import ask_cluster, ask_replica
from kraftctl.raft.peer_reports import (
    ANSWERS,
    KNOWS_NO_LEADER,
    NO_RIGHT,
    OTHER_CLUSTER,
    OTHER_REPLICA,
    REACHED,
    REFUSES,
    REJECTS,
    TEXTS,
    PeerReport,
)
from kraftctl.raft.peers import Peer
from kraftctl.raft.progress import suspect
from kraftctl.raft.progress_faults import end_faults, fault
from kraftctl.raft.progress_reasons import voters_text
from kraftctl.raft.progress_states import ProgressState
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import uuid_to_string


def note_absence(core: RaftCore, event: ResponseReceived) -> None:
    """Notes that a controller that was asked, in the present state or a former one, did not respond."""
    asked = core.peers.take_asked(event.send_id)
    if asked is None or event.response is not None:
        return
    asked.report.failed(event.failure or (CLOSED if event.refused else NOTHING_CAME), core.now_ms)
    suspect(core)


def note_response(core: RaftCore, peer: Peer, response: Message, error: Errors, leader_id: int) -> None:
    """Notes the error of a response about the metadata log, which may be none."""
    report = peer.report
    if error == Errors.INVALID_VOTER_KEY:
        _other_replica(core, report)
        return
    if report.kind not in REACHED:
        _reached(core, report)
    if isinstance(response, VoteResponse):
        rejects = error != Errors.NONE or not response.topics[0].partitions[0].vote_granted
        kind = REJECTS if rejects else ANSWERS
    else:
        kind = KNOWS_NO_LEADER if isinstance(response, FetchResponse) and leader_id < 0 else ANSWERS
    report.note(kind, TEXTS[kind], core.now_ms)


def note_refusal(core: RaftCore, peer: Peer, error: Errors) -> None:
    """Notes that the peer responds with an error that no replica of this quorum should have."""
    report = peer.report
    if error == Errors.INCONSISTENT_CLUSTER_ID:
        note_other_cluster(core, report)
    elif error == Errors.CLUSTER_AUTHORIZATION_FAILED:
        report.note(NO_RIGHT, TEXTS[NO_RIGHT], core.now_ms)
        _fault_of(core, states.NO_RIGHT, report, {})
    elif error != Errors.BROKER_NOT_AVAILABLE:
        report.note(REFUSES, f"answers {error.name}", core.now_ms)
        _fault_of(core, states.REFUSED_REQUEST, report, {"error": error.name})


def note_other_cluster(core: RaftCore, report: PeerReport) -> None:
    """Notes that a controller of another cluster responds at the peer's address."""
    there = ask_cluster(core, report.host, report.port).cluster_id
    text = TEXTS[OTHER_CLUSTER] if there is None else f"belongs to cluster {there}"
    report.note(OTHER_CLUSTER, text, core.now_ms)
    which = "another cluster" if there is None else f"cluster {there}"
    _fault_of(core, states.OTHER_CLUSTER, report, {"there": which, "here": core.cluster_id})


def _other_replica(core: RaftCore, report: PeerReport) -> None:
    """Notes that another replica responds at the peer's address."""
    node = core.voters.nodes.get(report.peer_id)
    expected = ReplicaKey(report.peer_id) if node is None else node.key
    identity = ask_replica(core, report.host, report.port, expected)
    there = _who(core, identity)
    found = identity.key
    is_other_directory = found is not None and found.id == report.peer_id and found != core.key
    text = "has another directory" if is_other_directory else f"is {there}"
    report.note(OTHER_REPLICA, text, core.now_ms)
    if not identity.is_settled(core.now_ms, core.config.election_timeout_ms):
        return
    fields = {"there": there, "known": str(expected), "id": str(report.peer_id)}
    if found is not None and found == core.key:
        _fault_of(core, states.OWN_ADDRESS, report, fields)
    elif is_other_directory:
        fields["directory"] = uuid_to_string(expected.directory_id)
        fields["evidence"] = f"{report.host}:{report.port} does not answer requests to that directory"
        _fault_of(core, states.OTHER_DIRECTORY, report, fields)
    else:
        _fault_of(core, states.OTHER_ID, report, fields)


def _who(core: RaftCore, identity: Identity) -> str:
    if identity.is_none_of_them:
        return f"none of the voters {voters_text(core.voters)}"
    if identity.key is None:
        return "another controller"
    key = identity.key
    if key.id == core.key.id:
        return "this node" if key == core.key else f"another process with node.id={key.id}"
    return f"controller {key.id}" if key.directory_id == NO_DIRECTORY_ID else f"controller {key}"


def _reached(core: RaftCore, report: PeerReport) -> None:
    if end_faults(core, _key(report)):
        text = f"{_named(report)} answers controller {core.key} as it should again"
        core.limited_notice("responses", INFO, text)


def _fault_of(core: RaftCore, state: ProgressState, report: PeerReport, fields: dict[str, str]) -> None:
    """Notes a fault that ends when the peer responds as it should."""
    fields["peer"] = _named(report) if state.text.startswith("{peer}") else report.name
    fault(core, state, _key(report), fields)


def _named(report: PeerReport) -> str:
    """Returns the peer's name for the beginning of a sentence."""
    return report.name[0].upper() + report.name[1:]


def _key(report: PeerReport) -> str:
    return f"{report.peer_id} {report.host}:{report.port}"
