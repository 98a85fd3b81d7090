"""Refuses an output of a store that is within another one, or around one.

Releases before this one take the files of the inner one for leftovers of the outer one, and delete them.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from kraftctl_spark.stores.object_store import ObjectStore
from kraftctl_spark.stores.store_error import ObjectStoreError
from kraftctl_spark.tables.commit_log import COMMITS, commit_name, number_of
from kraftctl_spark.tables.manifest import ExportRefusedError

LOOKS_TOGETHER = 16

FIRST = commit_name(0)
"""An output has it from its first batch on, and keeps it."""

NEXT_STEP = (
    "choose a prefix beside it. An output that is there can be moved: end what writes to it, and copy all of "
    "its objects to another prefix"
)


def check_alone(store: ObjectStore, *, is_new: bool) -> None:
    """Raises ExportRefusedError. What is deeper is looked for before the first commit alone: an output that
    begins there later is refused itself.
    """
    for one in store.around:
        with suppress(ObjectStoreError):  # The account may be allowed to read its own prefix alone.
            if one.size(FIRST) is not None:
                raise ExportRefusedError(f"{store.url} is within {one.url}, another output: {NEXT_STEP}")
    inner = next(_at_any_depth(store) if is_new else _directly_below(store), None)
    if inner is not None:
        raise ExportRefusedError(f"{store.url} is around {store.url}/{inner}, another output: {NEXT_STEP}")


def _at_any_depth(store: ObjectStore) -> Iterator[str]:
    for name in store.names(""):
        directory, found, _ = name.rpartition(f"/{COMMITS}/")
        if found and number_of(name) is not None:
            yield directory


def _directly_below(store: ObjectStore) -> Iterator[str]:
    there = [one for one in store.entries("").directories if one != COMMITS]
    with ThreadPoolExecutor(LOOKS_TOGETHER) as pool:
        sizes = pool.map(lambda one: store.size(f"{one}/{FIRST}"), there)
        yield from (one for one, size in zip(there, sizes, strict=True) if size is not None)
