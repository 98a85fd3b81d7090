"""Refuses a store in which two writers can create the same object: both would believe their commit.

Some servers take the header `If-None-Match: *` and ignore it, and some check it and write afterwards. The
first kind lets a second writer win each time, the second kind only in a race.
"""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from kraftctl_spark.stores.store import Store
from kraftctl_spark.stores.store_error import StoreRefusedError

PROBES = "_probe"
ROUNDS = 4
WRITERS = 8
REQUESTS = 4 + ROUNDS * WRITERS + ROUNDS + 1
"""Two listings, two writes in turn, the races, one reading each, and the deletion."""

LEFTOVER_SECONDS = 3_600
"""The objects of a probe that was killed are deleted after that time, never those of one that runs."""

NEXT_STEP = (
    "Next step: use a store, or a release of this server, that has atomic conditional writes "
    "(If-None-Match: *), or a directory"
)


@dataclass(frozen=True)
class ProbeResult:
    """The cost of a probe that the store has passed."""

    requests: int
    elapsed_ms: float


def probe(store: Store, url: str) -> ProbeResult:
    """Returns when exactly one of several writers creates an object; StoreRefusedError for another store."""
    began_s = time.monotonic()
    _remove_leftovers(store)
    name = f"{PROBES}/{int(time.time()):012}-{uuid.uuid4().hex}"
    names = [f"{name}/turn", *(f"{name}/race-{number}" for number in range(ROUNDS))]
    try:
        _in_turn(store, url, names[0])
        with ThreadPoolExecutor(WRITERS) as writers:
            for race in names[1:]:
                _racing(store, url, race, writers)
    finally:
        store.delete(names)
    return ProbeResult(REQUESTS, (time.monotonic() - began_s) * 1000)


def _remove_leftovers(store: Store) -> None:
    oldest = int(time.time()) - LEFTOVER_SECONDS
    found = store.names(PROBES)
    store.delete([name for name in found if name.removeprefix(f"{PROBES}/") < f"{oldest:012}"])


def _in_turn(store: Store, url: str, name: str) -> None:
    if not store.create(name, b"first"):
        raise StoreRefusedError(f"{url} says that a new object exists. {NEXT_STEP}")
    if store.create(name, b"second"):
        raise StoreRefusedError(
            f"{url} let a second writer create an object that exists: it ignores conditions of writes, and "
            f"two exporters would overwrite each other's commits. {NEXT_STEP}"
        )
    _check(store, url, name, b"first")


def _racing(store: Store, url: str, name: str, writers: ThreadPoolExecutor) -> None:
    start = threading.Barrier(WRITERS)

    def create(data: bytes) -> bool:
        start.wait()
        return store.create(name, data)

    values = [f"writer-{number}".encode() for number in range(WRITERS)]
    won = [data for data, did in zip(values, writers.map(create, values), strict=True) if did]
    if len(won) != 1:
        raise StoreRefusedError(
            f"{url} let {len(won)} of {WRITERS} writers create the same object: its conditional writes are "
            f"not atomic, and commits would be lost. {NEXT_STEP}"
        )
    _check(store, url, name, won[0])


def _check(store: Store, url: str, name: str, expected: bytes) -> None:
    found = store.read(name)
    if found != expected:
        raise StoreRefusedError(
            f"{url} said that {expected.decode()} created an object, which has the data of "
            f"{found[:20].decode(errors='replace')}. {NEXT_STEP}"
        )
