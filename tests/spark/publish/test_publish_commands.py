"""The commands that publish: catching up, after each batch, and what is said when a catalog fails."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from kraftctl_protocol.extra_packages import install_command
from kraftctl_spark.cli import main
from kraftctl_spark.commands import run
from kraftctl_spark.history.history_manifest import HistoryLog
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.publish import iceberg, publisher
from kraftctl_spark.publish.live_tables import LiveTable
from kraftctl_spark.publish.publication import Published
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.stores.durable import no_hook
from kraftctl_spark.tables.compaction import RegularCompaction, compact
from kraftctl_spark.tables.kept_removed import KEPT_WHEN_PUBLISHED_MS, keep_ms_of
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.history.test_regular_history import options_of
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import (
    add_batch,
    assert_published,
    catalog_in,
    catalog_properties,
    target_in,
)
from tests.spark.typed_export import exporting


@pytest.fixture
def output(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> Path:
    quorum.append(*generate(5, 200, snapshots=()).batches)
    with exporting(tmp_path / "tables", controller.endpoint) as exporter:
        add_batch(exporter, tmp_path / "tables", 60)
    return tmp_path / "tables"


def next_batch(controller: FakeController, output: Path, end: int) -> None:
    with exporting(output, controller.endpoint) as exporter:
        add_batch(exporter, output, end)


def status(output: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["status", "--output", str(output)]) == 0
    return capsys.readouterr().out


def test_the_command_catches_up_in_both_formats(
    output: Path, tmp_path: Path, controller: FakeController, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [f"--catalog-property={name}={value}" for name, value in catalog_properties(tmp_path).items()]
    command = ["publish", str(output), "--as", "delta", "--as", "iceberg", "--catalog", "test", *flags]
    for end in (100, 150):
        offset = Output(output).position().offset
        assert main(command) == 0
        for kind in ("delta", "iceberg"):
            assert_published(tmp_path, kind, output)
        next_batch(controller, output, end)
    shown = status(output, capsys)
    for name in ("Delta", "Iceberg"):
        assert f"as {name:14}up to offset {offset}, at 20" in shown
    assert main(["status", "--output", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["published"]["Delta"]["offset"] == offset


def test_what_is_missing_is_refused(
    output: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["publish", str(tmp_path / "nothing"), "--as", "delta"]) == 2
    assert "holds no tables" in caplog.text
    assert main(["publish", str(output), "--as", "iceberg"]) == 2
    assert "to publish as iceberg needs --catalog" in caplog.text
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "deltalake" else name)
    assert main(["publish", str(output), "--as", "delta"]) == 2
    assert f"to publish as delta needs deltalake: {install_command('delta', ['deltalake'])}" in caplog.text


def test_a_catalog_that_cannot_be_reached_is_named(
    output: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--catalog", "test", "--catalog-property", "uri=http://127.0.0.1:1"]
    assert main(["publish", str(output), "--as", "iceberg", *flags]) == 1
    assert "the publication failed: records is not published as Iceberg: ConnectionError" in caplog.text
    assert "fails since 20" in status(output, capsys)


def test_a_catalog_that_never_answers_is_a_warning(
    output: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(iceberg, "ANSWER_SECONDS_MAX", 0.2, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        target = iceberg.IcebergTarget(partial(iceberg.load, "test", {"type": "rest", "uri": uri}), "kraft")
        publishing = threading.Thread(target=Publisher(Output(output), target).after_batch, daemon=True)
        publishing.start()
        publishing.join(20)
        assert not publishing.is_alive(), "the export continues"
    assert "batches are not published for now" in caplog.text
    assert "fails since 20" in status(output, capsys)


class Failing:
    """Delta, while it works."""

    name = "Delta"
    is_beside_files = True

    def __init__(self, place: Path) -> None:
        self._target = target_in(place, "delta")
        self.fails = False

    def open(self, table: LiveTable) -> Published | None:
        if self.fails:
            raise RuntimeError("the catalog is gone")
        return self._target.open(table)

    def remove(self, output: Output, table: LiveTable) -> None:
        self._target.remove(output, table)

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        return self._target.metadata(table)


def test_an_export_publishes_after_each_batch_and_survives_failures(
    output: Path,
    tmp_path: Path,
    controller: FakeController,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One warning, then one an hour, and what was missed is there with the first batch that succeeds."""
    caplog.set_level(logging.INFO)
    target = Failing(tmp_path)
    publishes = Publisher(Output(output), target)
    publishes.after_batch()
    assert_published(tmp_path, "delta", output)
    target.fails = True
    for end in (80, 100, 120):
        next_batch(controller, output, end)
        publishes.after_batch()
    warnings = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    (warning,) = warnings
    assert warning.startswith("batches are not published for now, and will be with a later one: records is")
    assert warning.endswith(" not published as Delta: RuntimeError: the catalog is gone")
    assert "the catalog is gone" in status(output, capsys)
    monkeypatch.setattr(publisher, "WARN_EVERY_MS", 0)
    publishes.after_batch()
    assert sum(one.levelno == logging.WARNING for one in caplog.records) == 2
    target.fails = False
    publishes.after_batch()
    assert "Delta: batches are published again" in caplog.text
    assert_published(tmp_path, "delta", output)
    assert "fails since" not in status(output, capsys)


def test_run_publishes_what_its_flags_say(output: Path) -> None:
    assert run._publications(options_of(), Output(output)) == []
    assert len(run._publications(options_of("--publish", "delta"), Output(output))) == 1


def test_replaced_files_are_kept_for_a_day_once_tables_are_published(output: Path, tmp_path: Path) -> None:
    kept = KEPT_WHEN_PUBLISHED_MS
    before = [
        options_of(),
        options_of("--publish", "delta"),
        options_of("--keep-removed", "1 hour 2 minutes"),
    ]
    assert [keep_ms_of(Output(output), run._wanted_keep_ms(one)) for one in before] == [0, kept, 3_720_000]
    Publisher(Output(output), target_in(tmp_path, "delta")).publish()
    after = [options_of(), options_of("--keep-removed", "0 days")]
    assert [keep_ms_of(Output(output), run._wanted_keep_ms(one)) for one in after] == [kept, 0]


def assert_not_hidden(output: Path, kept: Path) -> None:
    """A file that was added is no kept one, and a kept one has its content still."""
    added = kept.with_name(f"open-{0:020}-{1:020}.parquet")
    added.write_bytes(kept.read_bytes())
    with kept.open("ab") as file:
        file.write(b"x")
    problems = "\n".join(verify(output).problems)
    assert f"no commit names {added.relative_to(output)}" in problems
    assert f"{kept.relative_to(output)} was replaced, and has another content" in problems
    added.unlink()


def test_an_export_that_runs_already_keeps_them_once_another_process_publishes(
    output: Path, tmp_path: Path, controller: FakeController
) -> None:
    """As `publish` may begin beside a `run` without flags."""
    wanted = run._wanted_keep_ms(options_of())
    compaction = RegularCompaction(Output(output), 1, wanted)
    history = HistoryTables(output, output / "history", keep_ms=wanted)
    Publisher(Output(output), target_in(tmp_path, "delta")).publish()
    before = set(output.rglob("*.parquet"))
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(150, 1)
    history.catch_up()
    history.merge()
    compaction.after_batch()
    assert verify(output).problems == []
    assert_not_hidden(output, next(path for path in sorted(before) if path.parent.parent.name == "history"))
    assert len(set(output.rglob("*.parquet")) - before) > 10
    assert before <= set(output.rglob("*.parquet"))


def test_scans_that_are_open_while_files_are_replaced_end_well(
    output: Path, tmp_path: Path, controller: FakeController
) -> None:
    """Of merged batches, and of versions that a batch ends: both formats, and the history's own readers."""
    for kind in ("delta", "iceberg"):
        Publisher(Output(output), target_in(tmp_path, kind)).publish()
    places = ["records", "history/topics"]
    delta = [DeltaTable(str(output / place)) for place in places]
    iceberg = [catalog_in(tmp_path).load_table(f"kraft.{Path(place).name}") for place in places]
    before = [one.to_pyarrow_table().num_rows for one in delta]
    files = {path for place in places for path in (output / place).glob("*.parquet")}
    next_batch(controller, output, 150)
    assert main(["history", "--tables", str(output), "--merge"]) == 0
    with Output(output).compacting(wait=True):
        assert compact(Output(output), keep_ms_of(Output(output), None)).merged_manifests == 2
    assert [one.to_pyarrow_table().num_rows for one in delta] == before
    assert [one.scan().to_arrow().num_rows for one in iceberg] == before
    versions = read_versions(output / "history", "topics").num_rows
    assert all(path.exists() for path in files)
    for kind in ("delta", "iceberg"):
        Publisher(Output(output), target_in(tmp_path, kind)).publish()
    HistoryTables(output, output / "history", keep_ms=0).merge()
    with Output(output).compacting(wait=True):
        compact(Output(output), 0)
    assert not any(path.exists() for path in files), "the time is over"
    assert read_versions(output / "history", "topics").num_rows == versions


def test_a_history_deletes_its_own_files_alone(output: Path, controller: FakeController) -> None:
    """As the one that a report continues does, beside a `run` that keeps replaced files."""
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(150, 1)
    before = {path for path in output.rglob("*.parquet") if path.parent.parent == output}
    with Output(output).compacting(wait=True):
        compact(Output(output), KEPT_WHEN_PUBLISHED_MS)
    HistoryTables(output, output / "history").catch_up()
    assert all(path.exists() for path in before)
    kept = list(Output(output).kept_paths())
    assert any((output / path).exists() for path in kept if not path.startswith("history/"))
    assert not any((output / path).exists() for path in kept if path.startswith("history/"))


def test_files_are_kept_from_when_they_were_replaced(
    output: Path, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = output / "history"
    at_s = [1_800_000_000]
    monkeypatch.setattr(time, "time_ns", lambda: at_s[0] * 10**9)
    kept = HistoryTables(output, history, keep_ms=60_000)
    first = set(history.glob("*/open-*.parquet"))
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(150, 1)
    kept.catch_up()
    replaced = first - {history / file.path for file in kept.catch_up().files}
    assert replaced
    for after_s, stays in ((30, True), (59, True), (60, False)):
        at_s[0] = 1_800_000_000 + after_s
        kept.catch_up()
        assert all(path.exists() == stays for path in replaced), after_s


def test_a_name_is_not_given_again_while_its_replaced_file_is_kept(
    output: Path, controller: FakeController
) -> None:
    history = output / "history"
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(150, 1)
    HistoryTables(output, history, keep_ms=KEPT_WHEN_PUBLISHED_MS).catch_up()
    log = HistoryLog(history)
    log.read()
    kept = next(path for path in log.root.kept_paths() if "/topics/open-" in path)
    before = (output / kept).read_bytes()
    rows = pq.read_table(output / kept)
    with VersionFiles(history, no_hook) as files:
        files.add("topics", Path(kept).stem, rows.slice(0, rows.num_rows - 1))
        (published,) = log.publish(files).values()
    assert published.path != kept.removeprefix("history/")
    assert (output / kept).read_bytes() == before
