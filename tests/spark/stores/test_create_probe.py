"""The probe at the start: which stores it refuses, what it leaves, and what it costs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from kraftctl_spark.stores.create_probe import LEFTOVER_SECONDS, PROBES, REQUESTS, ROUNDS, WRITERS, probe
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.open_store import open_store
from kraftctl_spark.stores.store import Store
from kraftctl_spark.stores.store_error import StoreRefusedError
from tests.spark.stores.conftest import client_of
from tests.spark.stores.faulty_proxy import FaultyProxy
from tests.spark.stores.servers import StoreServer, s3mock


def test_an_atomic_store_passes_and_is_as_before(store: Store, url: str) -> None:
    result = probe(store, url)
    assert result.requests == REQUESTS
    assert store.names("") == []


def test_a_directory_passes(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    probe(store, str(tmp_path))
    assert store.names("") == []


def test_it_costs_what_it_says(one_server: StoreServer, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyProxy(one_server.port) as proxy:
        client_of(monkeypatch, proxy.endpoint)
        probe(open_store(url), url)
        assert len(proxy.requests) == REQUESTS


class Overwriting(LocalStore):
    """Takes the condition and ignores it."""

    def create(self, name: str, data: bytes) -> bool:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_bytes(data)
        return True


class Looking(LocalStore):
    """Looks, and writes afterwards; between the two, all writers of a race have looked."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._looked = threading.Barrier(WRITERS)

    def create(self, name: str, data: bytes) -> bool:
        exists = (self.root / name).exists()
        if "race" in name:
            self._looked.wait()
        return not exists and super().create(name, data) | True


class Forgetful(LocalStore):
    """Answers with old data: what a cache before a store may do."""

    def read(self, name: str) -> bytes:
        return b"something else"


class Full(LocalStore):
    """Says of everything that it exists."""

    def create(self, name: str, data: bytes) -> bool:
        return False


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Overwriting, "let a second writer create an object that exists: it ignores conditions of writes"),
        (Looking, f"let {WRITERS} of {WRITERS} writers create the same object"),
        (Forgetful, "said that first created an object, which has the data of something"),
        (Full, "says that a new object exists"),
    ],
)
def test_others_are_refused_by_name_with_a_next_step(
    kind: type[LocalStore], said: str, tmp_path: Path
) -> None:
    store = kind(tmp_path)
    with pytest.raises(StoreRefusedError, match=rf"^s3://bucket/tables {said}.*\. Next step: "):
        probe(store, "s3://bucket/tables")
    assert store.names("") == []


def test_what_a_killed_probe_left_is_removed_when_it_cannot_run_any_more(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    now = int(time.time())
    for age in (0, LEFTOVER_SECONDS - 60, LEFTOVER_SECONDS + 60):
        store.create(f"{PROBES}/{now - age:012}-abc/turn", b"first")
    probe(store, "here")
    assert len(store.names(PROBES)) == 2


@pytest.mark.java
@pytest.mark.long
def test_a_server_that_looks_and_writes_afterwards_is_refused(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3mock(tmp_path) as server:
        client_of(monkeypatch, server.endpoint)
        with pytest.raises(StoreRefusedError, match=f"of {WRITERS} writers create the same object"):
            probe(open_store(url), url)
        assert server.objects() == {}
    assert ROUNDS > 1
