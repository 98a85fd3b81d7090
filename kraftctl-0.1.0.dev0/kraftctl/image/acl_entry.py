"""AclEntry says who may, or may not, do what on which resources, from where (KIP-11, KIP-290)."""

from __future__ import annotations

from kraftctl.image.network_host import HostNetwork, network_of


class AclEntry:
    """An access control entry with the numbers of the wire. It does not change after construction."""

    def __init__(
        self,
        *,
        resource_type: int,
        resource_name: str,
        pattern_type: int,
        principal: str,
        host: str,
        operation: int,
        permission_type: int,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.network: HostNetwork | None = network_of(host)
        self.operation = operation
        self.permission_type = permission_type

    @property
    def identity(self) -> tuple[int, str, int, str, str, int, int]:
        """Two entries with the same identity are the same ACL, whatever their ids."""
        return (
            self.resource_type,
            self.resource_name,
            self.pattern_type,
            self.principal,
            self.host,
            self.operation,
            self.permission_type,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AclEntry) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"AclEntry{self.identity}"
