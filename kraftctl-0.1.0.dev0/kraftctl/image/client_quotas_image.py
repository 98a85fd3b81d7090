"""ClientQuotasImage: quotas of users, client ids and addresses (KIP-546)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from kraftctl.image.image_part import ImagePart
from kraftctl.image.undo_journal import JournalView, UndoJournal
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record

QuotaEntity = tuple[tuple[str, str | None], ...]
"""An entity is a list of (entity type, name or None for the default), sorted by type."""

_EMPTY: Final[dict[str, float]] = {}


def quota_entity_key(entity_type_and_name: tuple[str, str | None]) -> str:
    """The sort key of a part of an entity, whose types are unique."""
    return entity_type_and_name[0]


class ClientQuotasImage(ImagePart):
    """`quotas` maps an entity to its quotas; the inner dicts are replaced, never changed."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}

    def quota(self, entity: QuotaEntity) -> dict[str, float]:
        """Returns the quotas of exactly this entity; empty when it has none. Do not change it."""
        return self.quotas.get(entity, _EMPTY)

    def replay(self, record: Message, offset: int) -> None:
        assert isinstance(record, ClientQuotaRecord)
        parts: list[tuple[str, str | None]] = [(part.entity_type, part.entity_name) for part in record.entity]
        parts.sort(key=quota_entity_key)
        entity = tuple(parts)
        quotas = dict(self.quotas.get(entity, _EMPTY))
        if record.remove:
            quotas.pop(record.key, None)
        else:
            quotas[record.key] = record.value
        if quotas:
            self._journal.put(self.quotas, entity, quotas)
        else:
            self._journal.remove(self.quotas, entity)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        for parts, quotas in view.items(self.quotas, self.quotas):
            entity = cast(QuotaEntity, parts)
            for key, value in sorted(cast("dict[str, float]", quotas).items()):
                record = ClientQuotaRecord(
                    entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                    key=key,
                    value=value,
                    remove=False,
                )
                yield encode_metadata_record(record, 0)
