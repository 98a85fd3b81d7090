"""Runs `add-controller` and `remove-controller`, with the output of kafka-metadata-quorum (KIP-853)."""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.cli.quorum.quorum_info import VoterEndpoint
from kraftctl.raft.forced_removal import force
from kraftctl_admin.admin_client import AdminClient
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.uuids import uuid_to_string


def add_voter(
    client: AdminClient, voter_id: int, directory_id: bytes, endpoints: Sequence[VoterEndpoint]
) -> None:
    """Returns when the change is committed. Raises AdminError."""
    request = AddRaftVoterRequest(
        cluster_id=None,
        timeout_ms=client.timeout_ms,
        voter_id=voter_id,
        voter_directory_id=directory_id,
        listeners=[
            Listener(name=endpoint.listener, host=endpoint.host, port=endpoint.port) for endpoint in endpoints
        ],
    )
    client.call(request, AddRaftVoterResponse, _error_in)


def remove_voter(client: AdminClient, voter_id: int, directory_id: bytes, *, forced: bool = False) -> None:
    """Returns when the change is committed. Raises AdminError.

    With `forced` the leader does not ask whether a majority of those that remain works.
    """
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=voter_id, voter_directory_id=directory_id)
    if forced:
        force(request)
    client.call(request, RemoveRaftVoterResponse, _error_in)


def added_text(
    voter_id: int, directory_id: bytes, endpoints: Sequence[VoterEndpoint], *, dry_run: bool
) -> str:
    verb = "DRY RUN of adding" if dry_run else "Added"
    listed = ", ".join(str(endpoint) for endpoint in endpoints)
    name = uuid_to_string(directory_id)
    return f"{verb} controller {voter_id} with directory id {name} and endpoints: {listed}"


def removed_text(voter_id: int, directory_id: bytes, *, dry_run: bool) -> str:
    """Returns Kafka's text, which has two blanks after the verb."""
    verb = "DRY RUN of removing " if dry_run else "Removed "
    return f"{verb} KRaft controller {voter_id} with directory id {uuid_to_string(directory_id)}"


def _error_in(response: AddRaftVoterResponse | RemoveRaftVoterResponse) -> tuple[Errors, str | None]:
    return error_of(response.error_code), response.error_message
