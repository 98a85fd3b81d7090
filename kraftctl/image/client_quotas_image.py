"""ClientQuotasImage: quotas of users, client ids and addresses (KIP-546)."""

from __future__ import annotations

from typing import Final

from kraftctl.image.undo_journal import UndoJournal
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord

QuotaEntity = tuple[tuple[str, str | None], ...]
"""(entity type, name or None for the default), sorted by type."""

_EMPTY: Final[dict[str, float]] = {}


def quota_entity_key(entity_type_and_name: tuple[str, str | None]) -> str:
    """Sort key of a part of an entity: types are unique within one."""
    return entity_type_and_name[0]


class ClientQuotasImage:
    """`quotas` maps an entity to its quotas; the inner dicts are replaced, never changed."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}

    def quota(self, entity: QuotaEntity) -> dict[str, float]:
        """Quotas of exactly this entity; empty when it has none. Do not change it."""
        return self.quotas.get(entity, _EMPTY)

    def replay(self, record: ClientQuotaRecord) -> None:
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
