"""KIP-853 VoterSet: who votes, where they listen, and which changes keep majorities overlapping."""

from __future__ import annotations

from kraftctl.raft.replica_key import ReplicaKey, is_same_replica
from kraftctl_protocol.generated.voters_record import (
    Endpoint,
    KRaftVersionFeature,
    Voter,
    VotersRecord,
)
from kraftctl_protocol.java_values import trim
from kraftctl_protocol.primitives import DecodeError

Endpoints = dict[str, tuple[str, int]]
"""The host and port of each listener by its name."""


class VoterNode:
    """A voter as the log describes it; `kraft_version_min/max` is the range its binary supports."""

    def __init__(
        self, key: ReplicaKey, endpoints: Endpoints, kraft_version_min: int = 0, kraft_version_max: int = 0
    ) -> None:
        self.key = key
        self.endpoints = endpoints
        self.kraft_version_min = kraft_version_min
        self.kraft_version_max = kraft_version_max

    def is_voter(self, key: ReplicaKey) -> bool:
        return is_same_replica(self.key, key)

    def supports(self, kraft_version: int) -> bool:
        return self.kraft_version_min <= kraft_version <= self.kraft_version_max

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoterNode):
            return NotImplemented
        return (
            self.key == other.key
            and self.endpoints == other.endpoints
            and self.kraft_version_min == other.kraft_version_min
            and self.kraft_version_max == other.kraft_version_max
        )

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        listeners = ",".join(f"{name}://{host}:{port}" for name, (host, port) in self.endpoints.items())
        return f"{self.key}[{listeners};kraft.version {self.kraft_version_min}-{self.kraft_version_max}]"


class VoterSet:
    """The voters in force from one offset of the log on. A change makes a new set."""

    def __init__(self, nodes: list[VoterNode]) -> None:
        self.nodes: dict[int, VoterNode] = {node.key.id: node for node in sorted(nodes, key=_id_of)}
        assert len(self.nodes) == len(nodes), "a voter id was given twice"
        self._voter_ids = list(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def voter_ids(self) -> list[int]:
        """The ids, rising. Do not change the list: it is shared by all requests."""
        return self._voter_ids

    def is_voter(self, key: ReplicaKey) -> bool:
        node = self.nodes.get(key.id)
        return node is not None and node.is_voter(key)

    def is_only_voter(self, key: ReplicaKey) -> bool:
        return len(self.nodes) == 1 and self.is_voter(key)

    def endpoints(self, voter_id: int) -> Endpoints:
        """Returns the endpoints of a voter; none when it is unknown."""
        node = self.nodes.get(voter_id)
        return {} if node is None else node.endpoints

    def needs_update(self, node: VoterNode) -> bool:
        """Returns whether `node`, a voter, describes itself differently from what the log says."""
        known = self.nodes.get(node.key.id)
        return known is not None and known.is_voter(node.key) and known != node

    def with_voter(self, node: VoterNode) -> VoterSet | None:
        """Returns None when the id is a voter already, in any directory."""
        if node.key.id in self.nodes:
            return None
        return VoterSet([*self.nodes.values(), node])

    def without_voter(self, key: ReplicaKey) -> VoterSet | None:
        """Returns None when exactly this replica is not a voter, or is the only one."""
        node = self.nodes.get(key.id)
        if node is None or node.key != key or len(self.nodes) == 1:
            return None
        return VoterSet([other for other in self.nodes.values() if other.key.id != key.id])

    def updated_voter(self, node: VoterNode) -> VoterSet | None:
        """Returns None when `node` is not a voter."""
        if not self.is_voter(node.key):
            return None
        return self.updated_voter_by_id(node)

    def updated_voter_by_id(self, node: VoterNode) -> VoterSet | None:
        """Replaces the voter with the id of `node`, in any directory; None when it is not a voter's id."""
        if node.key.id not in self.nodes:
            return None
        return VoterSet([node if other.key.id == node.key.id else other for other in self.nodes.values()])

    def to_record(self) -> VotersRecord:
        return VotersRecord(version=0, voters=[_to_record_voter(node) for node in self.nodes.values()])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoterSet):
            return NotImplemented
        return self.nodes == other.nodes

    def __hash__(self) -> int:
        return hash(tuple(self.nodes))

    def __repr__(self) -> str:
        return f"VoterSet({', '.join(repr(node) for node in self.nodes.values())})"


def voter_set_from_record(record: VotersRecord) -> VoterSet:
    """Returns the voters. Raises DecodeError when no quorum can have them: without any, nothing is ever
    committed.
    """
    if not record.voters:
        raise DecodeError("a voter set with no voters")
    known: set[int] = set()
    for voter in record.voters:
        if voter.voter_id < 0:
            raise DecodeError(f"a voter set with voter id {voter.voter_id}")
        if voter.voter_id in known:
            raise DecodeError(f"a voter set with voter {voter.voter_id} twice")
        if not any(trim(endpoint.name) for endpoint in voter.endpoints):
            raise DecodeError(f"a voter set with voter {voter.voter_id} without endpoints")
        known.add(voter.voter_id)
    return VoterSet([_from_record_voter(voter) for voter in record.voters])


def static_voter_set(listener_name: str, voters: dict[int, tuple[str, int]]) -> VoterSet:
    """Returns the voters of `controller.quorum.voters` (kraft.version 0): no directory ids, one listener."""
    return VoterSet(
        [VoterNode(ReplicaKey(voter_id), {listener_name: address}) for voter_id, address in voters.items()]
    )


def _id_of(node: VoterNode) -> int:
    return node.key.id


def _to_record_voter(node: VoterNode) -> Voter:
    return Voter(
        voter_id=node.key.id,
        voter_directory_id=node.key.directory_id,
        endpoints=[
            Endpoint(name=name, host=host, port=port) for name, (host, port) in node.endpoints.items()
        ],
        kraft_version_feature=KRaftVersionFeature(
            min_supported_version=node.kraft_version_min, max_supported_version=node.kraft_version_max
        ),
    )


def _from_record_voter(voter: Voter) -> VoterNode:
    """Returns the voter as Kafka's replicas have it, names in capitals; without names that would end them."""
    feature = voter.kraft_version_feature
    named = [endpoint for endpoint in voter.endpoints if trim(endpoint.name)]
    return VoterNode(
        ReplicaKey(voter.voter_id, voter.voter_directory_id),
        {endpoint.name.upper(): (endpoint.host, endpoint.port) for endpoint in named},
        feature.min_supported_version,
        feature.max_supported_version,
    )
