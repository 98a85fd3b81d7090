"""ControllerRegistration: what the metadata log knows about one controller (KIP-919)."""

from __future__ import annotations

from kraftctl.metadata.endpoint import Endpoint, VersionRange
from kraftctl_protocol.generated.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid


class ControllerRegistration:
    """A registration that does not change after construction."""

    def __init__(
        self,
        *,
        id: int,
        incarnation_id: Uuid,
        zk_migration_ready: bool,
        listeners: dict[str, Endpoint],
        supported_features: dict[str, VersionRange],
    ) -> None:
        self.id = id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.listeners = listeners
        self.supported_features = supported_features

    @staticmethod
    def from_record(record: RegisterControllerRecord) -> ControllerRegistration:
        """Returns the registration a RegisterControllerRecord describes."""
        return ControllerRegistration(
            id=record.controller_id,
            incarnation_id=record.incarnation_id,
            zk_migration_ready=record.zk_migration_ready,
            listeners={
                e.name: Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points
            },
            supported_features={
                f.name: VersionRange(f.min_supported_version, f.max_supported_version)
                for f in record.features
            },
        )

    def to_record(self) -> RecordAndVersion:
        """Returns the whole state as one record."""
        record = RegisterControllerRecord(
            controller_id=self.id,
            incarnation_id=self.incarnation_id,
            zk_migration_ready=self.zk_migration_ready,
            end_points=[
                ControllerEndpoint(
                    name=e.name, host=e.host, port=e.port, security_protocol=e.security_protocol
                )
                for _, e in sorted(self.listeners.items())
            ],
            features=[
                ControllerFeature(name=name, min_supported_version=r.min, max_supported_version=r.max)
                for name, r in sorted(self.supported_features.items())
            ],
        )
        return RecordAndVersion(record, 0)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ControllerRegistration)
            and self.id == other.id
            and self.incarnation_id == other.incarnation_id
            and self.zk_migration_ready == other.zk_migration_ready
            and self.listeners == other.listeners
            and self.supported_features == other.supported_features
        )

    def __hash__(self) -> int:
        return hash((self.id, self.incarnation_id))

    def __repr__(self) -> str:
        return f"ControllerRegistration(id={self.id}, listeners={sorted(self.listeners)})"
