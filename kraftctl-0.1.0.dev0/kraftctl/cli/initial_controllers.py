"""Parses the voters of `kraftctl format --initial-controllers`: `id@host:port:directory-id,...` (KIP-853)."""

from __future__ import annotations

from kraftctl.metadata.directory_id import is_reserved
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.java_values import parse_integer, trim
from kraftctl_protocol.uuids import uuid_from_string

KRAFT_VERSION_MIN = 0
KRAFT_VERSION_MAX = 1
PORT_MAX = 65_535
NODE_ID_MAX = 2_147_483_647


def parse_initial_controllers(text: str, listener_name: str) -> VoterSet:
    """Parses voters that listen on `listener_name`. Raises StorageError, naming the entry that is wrong."""
    entries = [trim(entry) for entry in trim(text).split(",") if entry]
    if not entries:
        raise StorageError("No voters were given to --initial-controllers.")
    nodes: dict[int, VoterNode] = {}
    for entry in entries:
        node = _parse_voter(entry, listener_name)
        if node.key.id in nodes:
            raise StorageError(
                f"--initial-controllers names node id {node.key.id} twice; each voter has its own."
            )
        nodes[node.key.id] = node
    return VoterSet(list(nodes.values()))


def voter_node(node_id: int, host: str, port: int, directory_id: bytes, listener_name: str) -> VoterNode:
    """Returns a voter of this release that listens on one endpoint."""
    endpoints = {listener_name.upper(): (host, port)}
    return VoterNode(ReplicaKey(node_id, directory_id), endpoints, KRAFT_VERSION_MIN, KRAFT_VERSION_MAX)


def _parse_voter(entry: str, listener_name: str) -> VoterNode:
    id_text, at, rest = entry.partition("@")
    if not at or not id_text:
        raise _malformed(entry, "no node id before an @")
    node_id = parse_integer(id_text, 32)
    if node_id is None or node_id < 0:
        raise _malformed(entry, f"the node id {id_text} is not a number from 0 to {NODE_ID_MAX}")
    host, rest = _split_host(entry, rest)
    port_text, colon, directory_text = rest.partition(":")
    if not colon:
        raise _malformed(entry, "no colon after the port")
    port = parse_integer(port_text, 32)
    if port is None or not 0 <= port <= PORT_MAX:
        raise _malformed(entry, f"the port {port_text} is not from 0 to {PORT_MAX}")
    return voter_node(node_id, host, port, _directory_id(entry, directory_text), listener_name)


def _directory_id(entry: str, text: str) -> bytes:
    try:
        directory_id = uuid_from_string(text)
    except ValueError as error:
        raise _malformed(entry, f"the directory id {text} is not a UUID") from error
    if is_reserved(directory_id):
        reason = f"the directory id {text} is reserved, no directory may have it"
        raise _malformed(entry, f"{reason}. Next step: use one of `kraftctl random-uuid`")
    return directory_id


def _split_host(entry: str, rest: str) -> tuple[str, str]:
    """Returns the host, and the text after the colon that follows it. An IPv6 address is in brackets."""
    if rest.startswith("["):
        host, bracket, after = rest[1:].partition("]")
        if not bracket:
            raise _malformed(entry, "the host begins with [ but no ] follows")
        if not after.startswith(":"):
            raise _malformed(entry, "no colon before the port")
        if not host:
            raise _malformed(entry, "there is no host between [ and ]")
        return host, after[1:]
    host, colon, after = rest.partition(":")
    if not colon or not host:
        raise _malformed(entry, "no host followed by a colon")
    return host, after


def _malformed(entry: str, reason: str) -> StorageError:
    return StorageError(f"'{entry}' is not id@host:port:directory-id: {reason}.")
