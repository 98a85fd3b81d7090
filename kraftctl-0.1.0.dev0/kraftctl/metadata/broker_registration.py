"""BrokerRegistration: what the metadata log knows about one broker (KIP-631, KIP-841, KIP-858)."""

from __future__ import annotations

from collections.abc import Iterable

from kraftctl.metadata import directory_id, features
from kraftctl.metadata.endpoint import Endpoint, VersionRange
from kraftctl_protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid


class BrokerRegistration:
    """A registration does not change after construction; `with_changes` makes the next one.

    `epoch` is the offset of the first record of the append that registered this incarnation. `directories`
    is sorted. `cordoned_directories` is None until the broker reports them.
    """

    def __init__(
        self,
        *,
        id: int,
        epoch: int,
        incarnation_id: Uuid,
        listeners: dict[str, Endpoint],
        supported_features: dict[str, VersionRange],
        rack: str | None,
        fenced: bool,
        in_controlled_shutdown: bool,
        is_migrating_zk_broker: bool,
        directories: Iterable[Uuid],
        cordoned_directories: Iterable[Uuid] | None,
    ) -> None:
        self.id = id
        self.epoch = epoch
        self.incarnation_id = incarnation_id
        self.listeners = listeners
        self.supported_features = supported_features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.directories: tuple[Uuid, ...] = tuple(sorted(directories))
        self.cordoned_directories: tuple[Uuid, ...] | None = (
            None if cordoned_directories is None else tuple(cordoned_directories)
        )

    @staticmethod
    def from_record(record: RegisterBrokerRecord) -> BrokerRegistration:
        """Returns the registration a RegisterBrokerRecord describes."""
        return BrokerRegistration(
            id=record.broker_id,
            epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            listeners={
                e.name: Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points
            },
            supported_features={
                f.name: VersionRange(f.min_supported_version, f.max_supported_version)
                for f in record.features
            },
            rack=record.rack,
            fenced=record.fenced,
            in_controlled_shutdown=record.in_controlled_shutdown,
            is_migrating_zk_broker=record.is_migrating_zk_broker,
            directories=record.log_dirs,
            cordoned_directories=record.cordoned_log_dirs,
        )

    @property
    def active(self) -> bool:
        """Whether it is unfenced and not leaving: it may lead and join ISRs (KIP-841)."""
        return not self.fenced and not self.in_controlled_shutdown

    def has_online_directory(self, directory: Uuid) -> bool:
        """Returns whether a replica in `directory` can serve on this broker."""
        return directory_id.is_online(directory, self.directories)

    def has_uncordoned_directories(self) -> bool:
        """Returns whether new replicas may be placed here (KIP-1066)."""
        if len(self.directories) == 0 or not self.cordoned_directories:
            return True
        return not set(self.directories).issubset(self.cordoned_directories)

    def with_changes(
        self,
        *,
        fenced: bool | None = None,
        in_controlled_shutdown: bool | None = None,
        directories: Iterable[Uuid] | None = None,
        cordoned_directories: Iterable[Uuid] | None = None,
    ) -> BrokerRegistration:
        """Returns a copy; None keeps the present value."""
        return BrokerRegistration(
            id=self.id,
            epoch=self.epoch,
            incarnation_id=self.incarnation_id,
            listeners=self.listeners,
            supported_features=self.supported_features,
            rack=self.rack,
            fenced=self.fenced if fenced is None else fenced,
            in_controlled_shutdown=(
                self.in_controlled_shutdown if in_controlled_shutdown is None else in_controlled_shutdown
            ),
            is_migrating_zk_broker=self.is_migrating_zk_broker,
            directories=self.directories if directories is None else directories,
            cordoned_directories=(
                self.cordoned_directories if cordoned_directories is None else cordoned_directories
            ),
        )

    def to_record(self, metadata_version: int) -> RecordAndVersion:
        """Returns the whole state as one record; fields the metadata.version lacks are left out."""
        record = RegisterBrokerRecord(
            broker_id=self.id,
            incarnation_id=self.incarnation_id,
            broker_epoch=self.epoch,
            end_points=[
                BrokerEndpoint(name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol)
                for _, e in sorted(self.listeners.items())
            ],
            features=[
                BrokerFeature(name=name, min_supported_version=r.min, max_supported_version=r.max)
                for name, r in sorted(self.supported_features.items())
            ],
            rack=self.rack,
            fenced=self.fenced,
            in_controlled_shutdown=self.in_controlled_shutdown,
        )
        if metadata_version >= features.IBP_3_4_IV0:
            record.is_migrating_zk_broker = self.is_migrating_zk_broker
        if features.is_directory_assignment_supported(metadata_version):
            record.log_dirs = list(self.directories)
        if features.is_cordoned_log_dirs_supported(metadata_version):
            cordoned = self.cordoned_directories
            record.cordoned_log_dirs = None if cordoned is None else list(cordoned)
        return RecordAndVersion(record, features.register_broker_record_version(metadata_version))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BrokerRegistration)
            and self.id == other.id
            and self.epoch == other.epoch
            and self.incarnation_id == other.incarnation_id
            and self.listeners == other.listeners
            and self.supported_features == other.supported_features
            and self.rack == other.rack
            and self.fenced == other.fenced
            and self.in_controlled_shutdown == other.in_controlled_shutdown
            and self.is_migrating_zk_broker == other.is_migrating_zk_broker
            and self.directories == other.directories
            and self.cordoned_directories == other.cordoned_directories
        )

    def __hash__(self) -> int:
        return hash((self.id, self.epoch))

    def __repr__(self) -> str:
        return (
            f"BrokerRegistration(id={self.id}, epoch={self.epoch}, fenced={self.fenced}, "
            f"in_controlled_shutdown={self.in_controlled_shutdown}, rack={self.rack!r})"
        )
