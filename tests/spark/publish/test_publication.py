"""What is published as Delta and Iceberg is what is committed, however many publish, whatever they see."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from deltalake import DeltaTable

from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.publish.live_tables import LiveTable, live_tables
from kraftctl_spark.publish.publication import Published, publish
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.commit_log import COMMITS, STATES
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.kept_removed import KEPT_WHEN_PUBLISHED_MS
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import (
    FORMATS,
    add_batch,
    assert_published,
    catalog_in,
    target_in,
    write_again,
)
from tests.spark.rewritten import of_another_cluster, rewrite_commits
from tests.spark.typed_export import exporting

ENDS = (60, 120, 200)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same output after one, two, and three batches."""
    place = tmp_path_factory.mktemp("grown")
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*generate(5, ENDS[-1], snapshots=()).batches)
    copies = []
    try:
        for end in ENDS:
            with exporting(place / "tables", controller.endpoint) as exporter:
                add_batch(exporter, place / "tables", end)
            copies.append(place / str(end) / "tables")
            shutil.copytree(place / "tables", copies[-1])
    finally:
        controller.close()
    return copies


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def become(place: Path, copy: Path) -> Path:
    """Makes the output like the copy; what is published stays."""
    output = place / "tables"
    for old in output.rglob("*.parquet"):
        if "_delta_log" not in old.parts:
            old.unlink()
    for name in (COMMITS, STATES):
        shutil.rmtree(output / name, ignore_errors=True)
    shutil.copytree(copy, output, dirs_exist_ok=True)
    return output


def test_tables_and_versions_have_different_names() -> None:
    """They are in one namespace."""
    assert not set(table_schemas()) & set(SCHEMAS)


@pytest.mark.parametrize("kind", FORMATS)
def test_each_batch_is_published_and_so_are_merged_files(grown: list[Path], place: Path, kind: str) -> None:
    target = target_in(place, kind)
    for copy in grown:
        output = become(place, copy)
        assert publish(Output(output), target) > 20
        assert_published(place, kind, output)
        assert publish(Output(output), target) == 0, "once is enough"
    with Output(output).compacting(wait=True):
        compact(Output(output), grace_ms=0)
    assert publish(Output(output), target) > 10
    assert_published(place, kind, output)


@pytest.mark.parametrize("kind", FORMATS)
def test_of_racing_publishers_exactly_one_publishes(grown: list[Path], place: Path, kind: str) -> None:
    """From the creation of tables on, in a catalog that is there: pyiceberg makes that without a lock."""
    if kind == "iceberg":
        catalog_in(place)
    for copy in grown[:2]:
        output = become(place, copy)
        with ThreadPoolExecutor(4) as pool:
            targets = [target_in(place, kind) for _ in range(4)]
            outputs = [Output(output) for _ in targets]
            changed = list(pool.map(publish, outputs, targets))
        assert_published(place, kind, output)
        tables = sum(bool(table.files) for table in live_tables(Output(output)))
        assert tables - 20 < sum(changed) <= tables
        assert publish(Output(output), target_in(place, kind)) == 0


class AfterTheOther:
    """Opens tables, and lets another publisher be faster with a newer state."""

    def __init__(self, place: Path, kind: str, newer: Path) -> None:
        self.name = kind
        self.is_beside_files = kind == "delta"
        self._target = target_in(place, kind)
        self._place, self._newer = place, newer
        self.waits = True

    def open(self, table: LiveTable) -> Published | None:
        found = self._target.open(table)
        if self.waits:
            self.waits = False
            publish(Output(become(self._place, self._newer)), target_in(self._place, self.name))
        return found

    def remove(self, output: Output, table: LiveTable) -> None:
        self._target.remove(output, table)

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        return self._target.metadata(table)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_publisher_with_an_older_state_leaves_a_newer_one_alone(
    grown: list[Path], place: Path, kind: str
) -> None:
    """It has compared before the other one publishes, and commits after it."""
    output = become(place, grown[0])
    publish(Output(output), target_in(place, kind))
    become(place, grown[1])
    assert publish(Output(output), AfterTheOther(place, kind, grown[2])) == 0
    assert_published(place, kind, output)


class MergedBefore:
    """Opens tables after another process has merged files, and another publisher has published these."""

    def __init__(self, place: Path, kind: str, output: Path) -> None:
        self.name = kind
        self.is_beside_files = kind == "delta"
        self._target = target_in(place, kind)
        self._output = output
        self._waits = True

    def open(self, table: LiveTable) -> Published | None:
        if self._waits:
            self._waits = False
            compact(Output(self._output), KEPT_WHEN_PUBLISHED_MS)
            publish(Output(self._output), self._target)
        return self._target.open(table)

    def remove(self, output: Output, table: LiveTable) -> None:
        self._target.remove(output, table)

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        return self._target.metadata(table)


@pytest.mark.parametrize("kind", FORMATS)
def test_what_was_merged_while_the_table_was_opened_is_published_as_it_is_now(
    grown: list[Path], place: Path, kind: str
) -> None:
    """An object store has no lock against it, and the merged state has the same position."""
    output = become(place, grown[2])
    publish(Output(output), target_in(place, kind))
    assert publish(Output(output), MergedBefore(place, kind, output)) == 0
    assert_published(place, kind, output)


@pytest.mark.parametrize("kind", FORMATS)
def test_an_output_that_is_behind_what_is_published_is_refused(
    grown: list[Path], place: Path, kind: str
) -> None:
    """It was restored from a backup, or is another one."""
    publish(Output(become(place, grown[2])), target_in(place, kind))
    output = become(place, grown[0])
    with pytest.raises(ExportRefusedError, match=r"is published up to offset 192, but .* ends at 59"):
        publish(Output(output), target_in(place, kind))


def test_another_cluster_is_refused(grown: list[Path], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = become(place, grown[0])
    publish(Output(output), target_in(place, "iceberg"))
    rewrite_commits(output, of_another_cluster)
    with pytest.raises(ExportRefusedError, match=r"metadata of cluster c0ffee.* has that of other-c0ffee"):
        publish(Output(output), target_in(place, "iceberg"))


def test_another_catalog_of_a_moved_directory_names_its_files(grown: list[Path], place: Path) -> None:
    """Iceberg has whole paths, Delta has names."""
    output = become(place, grown[0])
    for kind in FORMATS:
        publish(Output(output), target_in(place, kind))
    moved = output.rename(place / "moved tables")
    assert publish(Output(moved), target_in(place, "delta")) == 0
    assert publish(Output(moved), target_in(place, "iceberg")) > 20
    for kind in FORMATS:
        assert_published(place, kind, moved)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_that_is_written_again_under_its_name_is_published_again(
    grown: list[Path], place: Path, kind: str
) -> None:
    """The history does so after records were decoded again."""
    output = become(place, grown[0])
    publish(Output(output), target_in(place, kind))
    write_again(output, "records", lambda table: table.slice(3))
    assert publish(Output(output), target_in(place, kind)) == 1
    assert_published(place, kind, output)


def test_a_vacuum_of_delta_deletes_no_file_of_ours(grown: list[Path], place: Path) -> None:
    """Neither what waits to be published for weeks nor what waits to be deleted."""
    output = become(place, grown[1])
    publish(Output(output), target_in(place, "delta"))
    become(place, grown[2])
    files = sorted(output.rglob("*.parquet"))
    for path in files:
        os.utime(path, (1_000_000, path.stat().st_mtime - 25 * 86_400))
    for log in output.rglob("_delta_log"):
        DeltaTable(str(log.parent)).vacuum(dry_run=False, full=True)
    assert sorted(output.rglob("*.parquet")) == files
    publish(Output(output), target_in(place, "delta"))
    assert_published(place, "delta", output)
