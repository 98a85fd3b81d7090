"""How long replaced files are kept by default: published tables are read file by file, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.json_fields import parsed

if TYPE_CHECKING:
    from kraftctl_spark.tables.output import Output

PUBLICATIONS: Final = "_publications.json"
"""It is in the output from the first publication on; releases before noted in it what is published."""

NOTES: Final = {"Delta": "_publications-delta.json", "Iceberg": "_publications-iceberg.json"}
"""The notes of what is published, one for each format: different processes may write them."""

KEPT_WHEN_PUBLISHED_MS = 86_400_000
"""The longest scan that ends well."""

UNKNOWN: Final = -1
"""The commit of a publication that has not succeeded, or of a release that did not note it."""


def published_commits(store: Store) -> dict[str, int]:
    """Returns the last commit that is published, by format: readers of that still need the files which later
    ones have removed. A note that is damaged says so as a format without any.
    """
    commits: dict[str, int] = {}
    if store.size(PUBLICATIONS) is None:
        return commits
    for note in (PUBLICATIONS, *NOTES.values()):
        try:
            states = parsed(store.read(note))
        except FileNotFoundError:
            continue
        except ValueError as error:
            states = {f"an unknown format ({note}: {error})": None}
        for name, one in states.items():
            commit = one.get("commit") if type(one) is dict else None
            commits[name] = commit if type(commit) is int else UNKNOWN
    return commits


def is_published(output: Output) -> bool:
    return output.log.store.size(PUBLICATIONS) is not None


def keep_ms_of(output: Output, wanted_ms: int | None) -> int:
    """Returns how long to keep them now. Without a wish, that is asked each time: another process may publish
    the output for the first time while this one replaces files of it.
    """
    if wanted_ms is not None:
        return wanted_ms
    return KEPT_WHEN_PUBLISHED_MS if is_published(output) else 0
