"""AclsImage: access control entries by id (KIP-801)."""

from __future__ import annotations

from kraftctl.image.undo_journal import UndoJournal
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.uuids import Uuid


class AclEntry:
    """One access control entry; numbers as on the wire. Not changed after construction."""

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


class AclsImage:
    """All access control entries."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.acls: dict[Uuid, AclEntry] = {}

    def replay(self, record: AccessControlEntryRecord) -> None:
        entry = AclEntry(
            resource_type=record.resource_type,
            resource_name=record.resource_name,
            pattern_type=record.pattern_type,
            principal=record.principal,
            host=record.host,
            operation=record.operation,
            permission_type=record.permission_type,
        )
        self._journal.put(self.acls, record.id, entry)

    def replay_removed(self, acl_id: Uuid) -> None:
        assert acl_id in self.acls, "an unknown ACL cannot be removed"
        self._journal.remove(self.acls, acl_id)
