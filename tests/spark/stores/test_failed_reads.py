"""A request of a reader that fails is an error of the store, and a deleted object is a missing one."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftctl_spark.stores import object_reader
from kraftctl_spark.stores.object_reader import FIRST_BYTES, ObjectReader
from kraftctl_spark.stores.object_store import ObjectStore
from kraftctl_spark.stores.open_store import open_store
from kraftctl_spark.stores.store_error import ObjectStoreError
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.manifest import ExportRefusedError
from tests.spark.stores.conftest import client_of
from tests.spark.stores.faulty_proxy import FaultyProxy, internal_error
from tests.spark.stores.servers import StoreServer

NAME = "records/large.parquet"


def large_file() -> bytes:
    """Two columns of a megabyte each, of which only the end comes with the first request of a reader."""
    sink = io.BytesIO()
    columns = {name: pa.array([bytes([at % 251]) * 1024 for at in range(1100)]) for name in "ab"}
    pq.write_table(pa.table(columns), sink, compression="none", use_dictionary=False)
    assert len(sink.getvalue()) > 2 * FIRST_BYTES
    return sink.getvalue()


def opened_store(url: str, retry_seconds: float | None = None) -> ObjectStore:
    store = open_store(url, retry_seconds=retry_seconds)
    assert isinstance(store, ObjectStore)
    return store


def test_a_failed_request_is_no_damage(
    one_server: StoreServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultyProxy(one_server.port) as proxy:
        client_of(monkeypatch, proxy.endpoint)
        store = opened_store(url, 0.2)
        store.put(NAME, large_file())
        opened = CheckedFile(store / NAME)
        rule = proxy.add("GET", NAME, internal_error, 1_000)
        with pytest.raises(ObjectStoreError, match=rf"cannot read {NAME} in {url}: it fails \(500"):
            opened.read()
        rule.times = 0
        assert opened.read().num_rows == 1100


def test_a_file_that_a_compaction_deleted_is_missing(
    one_server: StoreServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client_of(monkeypatch, one_server.endpoint)
    store = opened_store(url)
    store.put(NAME, large_file())
    opened = CheckedFile(store / NAME)
    store.delete([NAME])
    for read in (opened.read, opened.check):
        with pytest.raises(FileNotFoundError, match=f"{url} has no {NAME}"):
            read()


@pytest.mark.parametrize(
    "error", [ObjectStoreError("the store fails"), FileNotFoundError("gone"), OSError(5, "of the machine")]
)
def test_what_a_request_raises_is_raised(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_reader, "FIRST_BYTES", 8)
    data = large_file()

    def get(start: int, end: int) -> tuple[bytes, int]:
        if start:
            raise error
        return data[start:end], len(data)

    with pytest.raises(type(error), match=str(error.args[-1])):
        CheckedFile(ObjectReader("s3://bucket/tables/records/1.parquet", get))


def test_damage_is_named_with_its_url(
    one_server: StoreServer, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client_of(monkeypatch, one_server.endpoint)
    store = opened_store(url)
    store.put(NAME, b"no Parquet")
    with pytest.raises(ExportRefusedError, match=rf"^{url}/{NAME} is damaged"):
        CheckedFile(store / NAME)
