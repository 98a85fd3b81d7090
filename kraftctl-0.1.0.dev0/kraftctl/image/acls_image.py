"""AclsImage: access control entries by id (KIP-801), and an index of the resources that they are for."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import AclIndex
from kraftctl.image.image_part import ImagePart
from kraftctl.image.undo_journal import MISSING, JournalView, UndoJournal
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.uuids import Uuid


class AclsImage(ImagePart):
    """All access control entries. `acls` and `index` change together, in undoing as well."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.acls: dict[Uuid, AclEntry] = {}
        self.index = AclIndex()

    def replay(self, record: Message, offset: int) -> None:
        if isinstance(record, AccessControlEntryRecord):
            self._add(record)
        elif isinstance(record, RemoveAccessControlEntryRecord):
            assert record.id in self.acls, "an unknown ACL cannot be removed"
            self._journal.remember(self, record.id, self.acls[record.id])
            self.restore(record.id, MISSING)
        else:
            super().replay(record, offset)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        for acl_id, acl in view.items(self, self.acls):
            entry = AccessControlEntryRecord(
                id=acl_id,
                resource_type=acl.resource_type,
                resource_name=acl.resource_name,
                pattern_type=acl.pattern_type,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission_type,
            )
            yield encode_metadata_record(entry, 0)

    def _add(self, record: AccessControlEntryRecord) -> None:
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
