"""The history beside tables in an object store: the same files as in a directory, and who may write it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.stored_history import history_log
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.uploads import LEFTOVER_SECONDS, began_at
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import BUCKET, StoreServer
from tests.spark.stores.stored_export import stored_output, storing
from tests.spark.typed_export import exporting

ENDS = (60, 120, 200)


@pytest.fixture(autouse=True)
def here(server: StoreServer, quorum: FakeQuorum, monkeypatch: pytest.MonkeyPatch) -> StoreServer:
    client_of(monkeypatch, server.endpoint)
    quorum.append(*generate(5, 200, snapshots=()).batches)
    return server


def hashes(output: Output) -> set[tuple[str, int, str]]:
    manifest = history_log(output.directory / "history", output).read()
    assert manifest is not None
    return {(file.table, file.rows, file.sha256) for file in manifest.files}


def add_batches(url: str, controller: FakeController, *ends: int) -> None:
    with storing(url, controller.endpoint) as exporter:
        for end in ends:
            exporter.export_to(end, 1)


def objects(server: StoreServer, url: str) -> set[str]:
    return set(server.objects(url.removeprefix(f"s3://{BUCKET}/") + "/history/"))


def test_it_has_the_files_of_a_history_in_a_directory(
    controller: FakeController, here: StoreServer, url: str, tmp_path: Path
) -> None:
    with stored_output(url) as output, exporting(tmp_path, controller.endpoint) as exporter:
        stored = HistoryTables.beside(output)
        for end in ENDS:
            add_batches(url, controller, end)
            exporter.export_to(end, 1)
            stored.catch_up()
            HistoryTables(tmp_path, tmp_path / "history").catch_up()
        assert hashes(output) == hashes(Output(tmp_path))
        assert verify(output.log.store).problems == []
        assert len(objects(here, url)) == len(hashes(output)), "replaced files are gone"
        HistoryTables.beside(output).merge()
        HistoryTables(tmp_path, tmp_path / "history").merge()
        assert hashes(output) == hashes(Output(tmp_path))
        output.fetch_all()
        assert hashes(Output(output.directory)) == hashes(output)


def test_of_two_writers_one_is_refused_and_the_other_continues(controller: FakeController, url: str) -> None:
    add_batches(url, controller, ENDS[0])
    with stored_output(url) as one, stored_output(url) as other:
        first, second = HistoryTables.beside(one), HistoryTables.beside(other)
        first.catch_up()
        add_batches(url, controller, ENDS[1])
        of_other = second.catch_up()
        first._log._seen = None  # It has read before the other one committed.
        with pytest.raises(ExportRefusedError, match="the history does not end at offset 0 any more"):
            first._log.commit(of_other)
        first.catch_up()
        assert verify(one.log.store).problems == []


def test_replaced_files_stay_for_open_scans_and_leftovers_until_they_are_old(
    controller: FakeController, here: StoreServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_batches(url, controller, ENDS[0])
    with stored_output(url) as output:
        HistoryTables.beside(output, keep_ms=3_600_000).catch_up()
        before = objects(here, url)
        add_batches(url, controller, ENDS[1])
        HistoryTables.beside(output, keep_ms=3_600_000).catch_up()
        assert before < objects(here, url)
        HistoryTables.beside(output, keep_ms=0).catch_up()
        assert not before <= objects(here, url)
        left = next(name for name in output.log.state().history.files if "/open-" in name)
        began = began_at(left)
        assert began is not None
        killed = f"{left[: -len('0123456789abcdef.parquet')]}{began:08x}ffffffff.parquet"
        output.log.store.put(killed, b"")
        output.remove_leftovers()
        assert output.log.store.size(killed) == 0, "its attempt may be under way"
        now_s = time.time()
        monkeypatch.setattr(time, "time", lambda: now_s + LEFTOVER_SECONDS + 60)
        output.remove_leftovers()
        assert output.log.store.size(killed) is None
        assert verify(output.log.store).problems == [], "live files are not leftovers, however old"
