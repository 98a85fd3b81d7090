"""AclsImage: access control entries by id (KIP-801), and an index of the resources that they are for."""

from __future__ import annotations

from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import AclIndex
from kraftctl.image.undo_journal import MISSING, Restorable, UndoJournal
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.uuids import Uuid


class AclsImage(Restorable):
    """All access control entries. `acls` and `index` change together, in undoing as well."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.acls: dict[Uuid, AclEntry] = {}
        self.index = AclIndex()

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
        self._journal.remember(self, record.id, self.current(record.id))
        self.restore(record.id, entry)

    def replay_removed(self, acl_id: Uuid) -> None:
        assert acl_id in self.acls, "an unknown ACL cannot be removed"
        self._journal.remember(self, acl_id, self.acls[acl_id])
        self.restore(acl_id, MISSING)

    def current(self, key: object) -> object:
        assert isinstance(key, bytes)
        return self.acls.get(key, MISSING)

    def restore(self, key: object, old: object) -> None:
        assert isinstance(key, bytes)
        present = self.acls.pop(key, None)
        if present is not None:
            self.index.remove(key, present)
        if isinstance(old, AclEntry):
            self.acls[key] = old
            self.index.add(key, old)
