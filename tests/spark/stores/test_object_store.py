"""Objects of real servers: what `Store` promises, and what requests that fail come to."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.object_store import PART_BYTES
from kraftctl_spark.stores.open_store import open_store
from kraftctl_spark.stores.store import Store
from kraftctl_spark.stores.store_error import ObjectStoreError
from tests.spark.stores.conftest import client_of
from tests.spark.stores.faulty_proxy import (
    FaultyProxy,
    conflict,
    failed_afterwards,
    internal_error,
    lost_answer,
    lost_request,
    silence,
    slow_down,
)
from tests.spark.stores.servers import StoreServer


def test_an_object_is_created_once(store: Store) -> None:
    assert store.create("_commits/1.json", b"first")
    assert not store.create("_commits/1.json", b"second")
    assert not store.create("_commits/1.json", b"first")
    assert store.read("_commits/1.json") == b"first"
    assert store.size("_commits/1.json") == 5


def test_what_is_missing_is_no_error_or_the_same_as_in_a_directory(store: Store, tmp_path: Path) -> None:
    for one in (store, LocalStore(tmp_path / "tables")):
        assert one.size("a/none") is None
        assert one.names("a") == []
        one.delete(["a/none"])
        one.delete([])
        with pytest.raises(FileNotFoundError):
            one.read("a/none")
        with pytest.raises(FileNotFoundError):
            one.fetch_to("a/none", tmp_path / "none")


def test_names_are_sorted_and_of_all_levels_below_a_prefix(store: Store, tmp_path: Path) -> None:
    for one in (store, LocalStore(tmp_path / "tables")):
        for name in ("b/2", "b/1", "b/deep/er/1", "bc/1", "a"):
            assert one.create(name, name.encode())
        assert one.names("b") == ["b/1", "b/2", "b/deep/er/1"]
        assert one.names("b", after="b/1") == ["b/2", "b/deep/er/1"]
        assert one.names("") == ["a", "b/1", "b/2", "b/deep/er/1", "bc/1"]
        one.delete(["b/1", "b/none", "bc/1"])
        assert one.names("") == ["a", "b/2", "b/deep/er/1"]


def test_more_names_than_one_answer_has(one_server: StoreServer, url: str, monkeypatch) -> None:
    client_of(monkeypatch, one_server.endpoint)
    store = open_store(url)
    names = [f"many/{number:05}" for number in range(1_005)]
    for name in names:
        store.create(name, b"")
    assert store.names("many") == names
    assert store.names("many", after=names[1_001]) == names[1_002:]
    store.delete(names)
    assert store.names("") == []


@pytest.mark.parametrize("size", [0, 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES + 5])
def test_files_of_any_size(store: Store, server: StoreServer, tmp_path: Path, size: int) -> None:
    data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    store.put_file("records/1.parquet", source)
    assert store.size("records/1.parquet") == size
    store.fetch_to("records/1.parquet", target)
    assert target.read_bytes() == data
    assert server.unfinished_uploads() == []


@pytest.fixture
def proxy(server: StoreServer, monkeypatch: pytest.MonkeyPatch):
    with FaultyProxy(server.port) as found:
        client_of(monkeypatch, found.endpoint)
        yield found


FAULTS = [
    pytest.param(slow_down, id="throttled"),
    pytest.param(internal_error, id="failed"),
    pytest.param(failed_afterwards, id="done-and-failed"),
    pytest.param(lost_request, id="request-lost"),
    pytest.param(lost_answer, id="answer-lost"),
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("times", [1, 3])
def test_what_fails_for_a_while_is_done_once(
    proxy: FaultyProxy, url: str, tmp_path, fault, times: int
) -> None:
    store = open_store(url, retry_seconds=20.0)
    rules = [proxy.add(method, url[5:], fault, times) for method in ("PUT", "GET", "HEAD")]
    assert store.create("_commits/1.json", b"ours")
    assert store.read("_commits/1.json") == b"ours"
    assert store.size("_commits/1.json") == 4
    for rule in rules:
        assert rule.met == times
        rule.met = 0
    (tmp_path / "file").write_bytes(b"rows")
    store.put_file("records/1.parquet", tmp_path / "file")
    store.fetch_to("records/1.parquet", tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == b"rows"


def test_the_object_of_another_writer_is_not_taken_for_ours(proxy: FaultyProxy, url: str) -> None:
    """Our request is lost, and another writer's object is there when it is repeated."""
    store, other = open_store(url), open_store(url)

    def overtaken(handler) -> None:
        assert other.create("_commits/1.json", b"theirs")
        lost_request(handler)

    proxy.add("PUT", "_commits/1.json", overtaken)
    assert not store.create("_commits/1.json", b"ours")
    assert store.read("_commits/1.json") == b"theirs"


def test_an_answer_that_does_not_come_is_not_waited_for(proxy: FaultyProxy, url: str) -> None:
    store = open_store(url, {"timeout": "1s"}, retry_seconds=20.0)
    proxy.add("PUT", "_commits/1.json", silence)
    began_s = time.monotonic()
    assert store.create("_commits/1.json", b"ours")
    assert time.monotonic() - began_s < 30


def test_a_conflict_without_an_object_is_repeated(proxy: FaultyProxy, url: str) -> None:
    """S3 answers 409 while another request for the object is under way, which may fail."""
    store = open_store(url)
    proxy.add("PUT", "_commits/1.json", conflict, 2)
    assert store.create("_commits/1.json", b"ours")
    proxy.add("PUT", "_commits/1.json", conflict)
    assert not store.create("_commits/1.json", b"ours")


def test_the_time_of_repetitions_is_limited(proxy: FaultyProxy, url: str, tmp_path: Path) -> None:
    store = open_store(url, retry_seconds=1.0)
    for method in ("PUT", "GET"):
        proxy.add(method, "1", slow_down, 1_000)
    (tmp_path / "file").write_bytes(b"rows")
    for request in (
        lambda: store.create("_commits/1.json", b"ours"),
        lambda: store.read("_commits/1.json"),
        lambda: store.put_file("records/1.parquet", tmp_path / "file"),
    ):
        began_s = time.monotonic()
        with pytest.raises(ObjectStoreError, match=r"it limits the rate of requests \(503 SlowDown\)"):
            request()
        assert time.monotonic() - began_s < 30


def test_parts_are_repeated_and_leave_nothing(
    proxy: FaultyProxy, server: StoreServer, url: str, tmp_path: Path
) -> None:
    store = open_store(url, retry_seconds=20.0)
    source = tmp_path / "file"
    source.write_bytes(b"x" * (PART_BYTES + 1))
    proxy.add("PUT", "partNumber", internal_error, 2)
    store.put_file("records/1.parquet", source)
    assert store.size("records/1.parquet") == PART_BYTES + 1
    assert server.unfinished_uploads() == []


def test_an_upload_that_fails_is_ended(
    proxy: FaultyProxy, server: StoreServer, url: str, tmp_path: Path
) -> None:
    store = open_store(url, retry_seconds=0.5)
    source = tmp_path / "file"
    source.write_bytes(b"x" * (PART_BYTES + 1))
    proxy.add("PUT", "partNumber=2", internal_error, 1_000)
    with pytest.raises(
        ObjectStoreError, match=r"cannot write records/1.parquet in s3://metadata/.*it fails \(500"
    ):
        store.put_file("records/1.parquet", source)
    assert store.size("records/1.parquet") is None
    assert server.unfinished_uploads() == []
