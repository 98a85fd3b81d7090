"""Outputs of a store within each other: neither deletes files of the other, and both are refused."""

from __future__ import annotations

import time

import pytest

from kraftctl_spark.stores.open_store import StoreLocation
from kraftctl_spark.tables.commit import Commit
from kraftctl_spark.tables.commit_log import commit_name
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.uploads import LEFTOVER_SECONDS
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import StoreServer
from tests.spark.stores.stored_export import stored_output

OLD = int(time.time()) - LEFTOVER_SECONDS - 3_600
FILE = f"{0:020}-{9:020}-{OLD:08x}aaaaaaaa.parquet"

INNER = ["prod", "team/prod", "history", "records", "history/records"]


@pytest.fixture(autouse=True)
def here(one_server: StoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, one_server.endpoint)


def names_in(url: str) -> list[str]:
    return StoreLocation(url).open_objects().names("")


def put(url: str, *names: str) -> None:
    store = StoreLocation(url).open_objects()
    for name in names:
        store.put(name, b"x")


def commit(url: str) -> None:
    assert StoreLocation(url).open_objects().create(commit_name(0), Commit("batch", number=0).to_bytes())


def lock(url: str) -> None:
    with stored_output(url) as output, output.locked():
        pass


@pytest.mark.parametrize("inner", INNER)
def test_old_files_of_an_output_within_it_stay(url: str, inner: str) -> None:
    commit(url)
    theirs = [f"{inner}/records/{FILE}", f"{inner}/history/topics/{FILE}", f"{inner}/topic_record/{FILE}"]
    ours = [f"records/{FILE}", f"history/topics/{FILE}"]
    put(url, *theirs, *ours)
    with stored_output(url) as output:
        assert output.remove_leftovers() == len(ours)
    assert set(names_in(url)) == {commit_name(0), *theirs}


@pytest.mark.parametrize("inner", INNER)
def test_an_output_around_another_does_not_begin(url: str, inner: str) -> None:
    commit(f"{url}/{inner}")
    with pytest.raises(ExportRefusedError, match=rf"{url} is around {url}/{inner}, another output: choose"):
        lock(url)


@pytest.mark.parametrize("inner", INNER)
def test_an_output_within_another_is_refused(url: str, inner: str) -> None:
    commit(url)
    with pytest.raises(ExportRefusedError, match=rf"{url}/{inner} is within {url}, another output: choose"):
        lock(f"{url}/{inner}")


def test_an_output_that_began_around_another_is_refused(url: str) -> None:
    commit(url)
    lock(url)
    commit(f"{url}/prod")
    with pytest.raises(ExportRefusedError, match="is around"):
        lock(url)


def test_outputs_beside_each_other_are_not_within(url: str) -> None:
    commit(f"{url}/prod")
    lock(f"{url}/prod-2")
    lock(f"{url}/prod")
