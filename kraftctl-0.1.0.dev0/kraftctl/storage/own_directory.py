"""Checks that the voters on disk know this replica by its directory id, and advises when they do not
(KIP-853).

A voter is a node id with a directory id. When meta.properties gets another directory id, the node is a new
replica: an observer that neither votes nor leads. Kafka's controllers become one, too, without a message.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.log_file_names import META_PROPERTIES
from kraftctl_protocol.uuids import uuid_to_string

ADD_IT: Final = "kraftctl quorum add-controller, once it has caught up"
AUTOMATIC: Final = "none, it asks to be made a voter (controller.quorum.auto.join.enable)"


def why_observer(
    log_dir: Path, replica: ReplicaKey, voters: VoterSet, *, auto_join: bool = False
) -> str | None:
    """Returns a line for the operator of a replica that is no voter, None for a voter.

    Raises StorageError when the voters are this node alone, in another directory: no election can end.
    """
    if voters.is_voter(replica):
        return None
    known = voters.nodes.get(replica.id)
    if known is None:
        return (
            f"This node, {replica}, is an observer: it neither votes nor leads. The voters in the log are"
            f" {_text(voters)}. Next step: {AUTOMATIC if auto_join else 'to make it a voter, ' + ADD_IT}"
        )
    file = log_dir / META_PROPERTIES
    here, there = uuid_to_string(replica.directory_id), uuid_to_string(known.key.directory_id)
    if len(voters) == 1:
        raise StorageError(
            f"{file} has directory.id {here}, but the only voter of the quorum is {known.key}: this node can"
            f" never lead, and no other can. Next step: if the log was copied from another directory, start"
            f" that one; if {META_PROPERTIES} alone was changed, beside the whole log of that voter, restore"
            f" directory.id={there}."
        )
    by_hand = (
        f"kraftctl quorum remove-controller --controller-id {replica.id} --controller-directory-id"
        f" {there}, then {ADD_IT}"
    )
    return (
        f"{file} has directory.id {here}, but the voter in the log is {known.key}: this node is an observer,"
        f" it neither votes nor leads. The voters are {_text(voters)}. Next step: if this is a new"
        f" directory, {AUTOMATIC if auto_join else by_hand}. Only if {META_PROPERTIES} alone was changed,"
        f" beside the whole log of that voter, stop and restore directory.id={there}: without that log,"
        " committed records can be lost"
    )


def _text(voters: VoterSet) -> str:
    return ", ".join(str(node.key) for node in voters.nodes.values())
