"""KIP-853: kraft.version 0 to 1. The voters of the configuration become a KRaftVoters record of the log.

The configuration has ids and one address each. Directory ids, all endpoints and the supported range of
kraft.version come from the voters: each sends UpdateRaftVoter to every new leader, which keeps it in
`Leader.volatile_voters`. Not before all have sent it can the record be written, in one batch with the level.

Unlike Kafka's, this leader also compares the directory id with that of the voter's latest Fetch. A voter that
has got a new disk since its UpdateRaftVoter would no longer be a voter after the upgrade.
"""

from __future__ import annotations

from kraftctl.raft.append import append_control_records
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_set import VoterNode
from kraftctl_protocol.control_record import ControlRecordType, encode_control_value
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord


def why_not_upgraded(core: RaftCore, level: int) -> str | None:
    """Returns which voter prevents kraft.version `level`, which is above the present one; None if none
    does.
    """
    leader = core.leader()
    if leader is None:
        return "This controller no longer leads the quorum."
    nodes = leader.volatile_voters.nodes
    for voter_id in nodes:
        reason = _why_not_ready(leader, nodes[voter_id], level)
        if reason is not None:
            return f"Voter {voter_id} {reason}"
    return None


def _why_not_ready(leader: Leader, node: VoterNode, level: int) -> str | None:
    reported = node.key.directory_id
    if reported == NO_DIRECTORY_ID:
        return (
            "has not sent its directory id and its supported kraft.version to this leader yet: it does so a"
            " few seconds after it has found the leader, if its release knows UpdateRaftVoter."
        )
    if not node.supports(level):
        return f"only supports kraft.version {node.kraft_version_min}-{node.kraft_version_max}."
    fetched = leader.voter_states[node.key.id].fetched_directory_id
    if fetched not in (NO_DIRECTORY_ID, reported):
        return (
            f"has sent its directory id as {node.key}, but fetches as {ReplicaKey(node.key.id, fetched)}: it"
            " will send its new one in a few seconds."
        )
    return None


def upgrade(core: RaftCore, leader: Leader, level: int) -> None:
    """Appends the level and the voters, which are in force from now on. Nothing may prevent the upgrade."""
    assert core.history.kraft_version() < level
    assert why_not_upgraded(core, level) is None
    voters = leader.volatile_voters
    base_offset = core.log.end_offset
    core.notice(INFO, f"Writing kraft.version {level} and the voters {voters!r} at offset {base_offset}")
    core.history.add_kraft_version(base_offset, level)
    core.history.add_voters(base_offset + 1, voters)
    leader.set_voters(voters)
    version = KRaftVersionRecord(version=0, kraft_version=level)
    records = [
        (int(ControlRecordType.KRAFT_VERSION), encode_control_value(version)),
        (int(ControlRecordType.KRAFT_VOTERS), encode_control_value(voters.to_record())),
    ]
    append_control_records(core, leader, records)
