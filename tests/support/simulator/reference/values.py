"""The values of the reference's rows. Nothing in them is shared, packed or computed."""

from __future__ import annotations

from typing import NamedTuple

Uuid = bytes

RECOVERED = 0
MIGRATING: Uuid = bytes(16)
"""The directory of a replica before its broker has reported one."""

UNASSIGNED: Uuid = bytes(15) + b"\1"
LOST: Uuid = bytes(15) + b"\2"
NO_LEADER = -1


class Endpoint(NamedTuple):
    """A listener as a node has registered it."""

    name: str
    host: str
    port: int
    security_protocol: int


class Levels(NamedTuple):
    """Of a feature, both inclusive."""

    min: int
    max: int

    def contains(self, level: int) -> bool:
        return self.min <= level <= self.max


class Broker(NamedTuple):
    """`directories` are sorted."""

    id: int
    epoch: int
    incarnation_id: Uuid
    listeners: dict[str, Endpoint]
    supported_features: dict[str, Levels]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    is_migrating_zk_broker: bool
    directories: tuple[Uuid, ...]
    cordoned_directories: tuple[Uuid, ...] | None

    @property
    def active(self) -> bool:
        return not self.fenced and not self.in_controlled_shutdown

    def has_online_directory(self, directory: Uuid) -> bool:
        """A broker that reports no directories has none that could be offline."""
        if directory in (MIGRATING, UNASSIGNED):
            return True
        return directory != LOST and (not self.directories or directory in self.directories)


class Controller(NamedTuple):
    """As it has registered itself."""

    id: int
    incarnation_id: Uuid
    zk_migration_ready: bool
    listeners: dict[str, Endpoint]
    supported_features: dict[str, Levels]


class Partition(NamedTuple):
    """`directories` has one for each of `replicas`."""

    replicas: tuple[int, ...]
    directories: tuple[Uuid, ...]
    isr: tuple[int, ...]
    removing_replicas: tuple[int, ...]
    adding_replicas: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int

    @property
    def reassigning(self) -> bool:
        return bool(self.removing_replicas or self.adding_replicas)

    def directory(self, replica: int) -> Uuid | None:
        """None for a broker that has no replica."""
        if replica not in self.replicas:
            return None
        return self.directories[self.replicas.index(replica)]


class Acl(NamedTuple):
    """With the numbers of the wire."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class ScramCredential(NamedTuple):
    """What a server keeps of a password."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class DelegationToken(NamedTuple):
    """Principals as `User:name`, times in Unix milliseconds."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp_ms: int
    max_timestamp_ms: int
    expiration_timestamp_ms: int
