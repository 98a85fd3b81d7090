"""How far tables are published, for `status`: a note in the output, on which no publication depends."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.json_fields import parsed, read_as
from kraftctl_spark.tables.kept_removed import NOTES, PUBLICATIONS, UNKNOWN


@dataclass(frozen=True)
class PublicationState:
    """The last publication in a format, and its failures since then."""

    offset: int = 0
    """Everything before it is published."""
    published_at_ms: int | None = None
    failing_since_ms: int | None = None
    failure: str = ""
    commit: int = UNKNOWN
    """Everything up to this commit is published, so that files which it removed are read no more."""


def publication_states(store: Store) -> dict[str, PublicationState]:
    """Returns them by their formats; none where nothing was ever published."""
    found = _noted(store, PUBLICATIONS)
    if found is None:
        return {}
    for name in NOTES.values():
        found |= _noted(store, name) or {}
    return dict(sorted(found.items()))


def _noted(store: Store, name: str) -> dict[str, PublicationState] | None:
    """Returns what a note has; None where there is none that can be read."""
    try:
        read = parsed(store.read(name))
        return {one: read_as(PublicationState, fields) for one, fields in read.items()}
    except (FileNotFoundError, ValueError):
        return None


def note(store: Store, name: str, state: PublicationState) -> None:
    """Notes the state of a format, and leaves those of others, which other processes may publish, alone."""
    store.create(PUBLICATIONS, b"{}\n")
    store.put(NOTES[name], json.dumps({name: asdict(state)}, indent=1).encode() + b"\n")
