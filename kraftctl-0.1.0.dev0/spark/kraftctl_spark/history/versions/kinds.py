"""The kinds of things that have versions: each with its key and its values, a table each."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_protocol.record_types import RECORD_TYPES, SETS, RecordType


@dataclass(frozen=True)
class Kind:
    """A table of versions: at any offset, a key has at most one."""

    name: str
    key: tuple[str, ...]
    values: tuple[str, ...]
    set_by: RecordType | None = None
    """The type of record that sets it as a whole; None for those that control records set."""


QUORUM = Kind("quorum", (), ("leader_id", "leader_epoch", "voters", "kraft_version"))

_FIRST = ("topics", "partitions", "brokers", "controllers", "configs", "acls", "quotas", "features")
_THEN = ("scram_credentials", "delegation_tokens", "producer_ids")
"""The order in which they are listed; a new one comes last."""


def _columns(pairs: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(column for _, column in pairs)


_SET_BY_RECORDS = {
    row.table: Kind(row.table, _columns(row.key), _columns(row.values), row)
    for row in RECORD_TYPES
    if row.effect == SETS
}

KINDS = (*(_SET_BY_RECORDS[name] for name in dict.fromkeys((*_FIRST, *_THEN, *_SET_BY_RECORDS))), QUORUM)

TOPICS, PARTITIONS = _SET_BY_RECORDS["topics"], _SET_BY_RECORDS["partitions"]
BROKERS, CONFIGS = _SET_BY_RECORDS["brokers"], _SET_BY_RECORDS["configs"]
