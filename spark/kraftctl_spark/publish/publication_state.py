"""How far tables are published, for `status`: a note in the output, on which no publication depends."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.json_fields import parsed, read_as
from kraftctl_spark.tables.kept_removed import PUBLICATIONS, UNKNOWN


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
    try:
        read = parsed(store.read(PUBLICATIONS))
        return {name: read_as(PublicationState, fields) for name, fields in sorted(read.items())}
    except (FileNotFoundError, ValueError):
        return {}


def note(store: Store, name: str, state: PublicationState) -> None:
    states = publication_states(store) | {name: state}
    text = json.dumps({name: asdict(one) for name, one in sorted(states.items())}, indent=1)
    store.put(PUBLICATIONS, text.encode() + b"\n")
