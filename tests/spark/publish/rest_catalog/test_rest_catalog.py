"""Tables that are published through Iceberg's own REST catalog, a Java program on loopback.

Maven fetches it.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import Catalog

from kraftctl_spark.cli import main
from kraftctl_spark.publish import iceberg_expiry
from kraftctl_spark.publish.iceberg import load
from kraftctl_spark.publish.iceberg_expiry import expire
from kraftctl_spark.publish.live_tables import LiveTable, live_tables
from kraftctl_spark.publish.publication import (
    OFFSET,
    FileChange,
    LostRaceError,
    Published,
    change_of,
    publish,
)
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish import test_forgotten as forgetting
from tests.spark.publish import test_killed_publications as kills
from tests.spark.publish import test_publication as publications
from tests.spark.publish.published_tables import (
    NAMESPACE,
    add_batch,
    assert_published,
    published,
    rest_catalog,
    target_in,
)
from tests.spark.publish.rest_catalog.served_catalog import ServedCatalog
from tests.spark.publish.test_killed_publications import killed, processes
from tests.spark.publish.test_lakes_documented import BLOCK, PAGE, ran
from tests.spark.publish.test_publication import become, grown, place
from tests.spark.stores.faulty_proxy import Fault, FaultyProxy, failed_afterwards, lost_answer, repeated
from tests.spark.typed_export import exporting, mixed_batches

__all__ = ["grown", "place", "processes"]

pytestmark = [pytest.mark.java, pytest.mark.long, pytest.mark.timeout(900)]

TABLES_MIN = 21
KILLS_OF_A_TABLE = 8
DAY_MS = 86_400_000


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedCatalog]:
    catalog = ServedCatalog(tmp_path / "served")
    try:
        catalog.start()
        yield catalog
    finally:
        catalog.stop()


def command(output: Path, uri: str) -> list[str]:
    return ["publish", str(output), "--as", "iceberg", *forgetting.catalog_flags(output.parent, uri)]


def snapshots(catalog: Catalog, table: LiveTable) -> list[Any]:
    return catalog.load_table(f"{NAMESPACE}.{table.name}").snapshots()


def assert_offsets(uri: str, output: Path) -> None:
    """Each snapshot says how far its table goes, and none goes less far than the one before."""
    catalog = rest_catalog(uri)
    for table in live_tables(Output(output.absolute())):
        if table.files:
            offsets = [int(one.summary[OFFSET]) for one in snapshots(catalog, table)]
            assert offsets == sorted(offsets)
            assert offsets[-1] <= table.position


def test_the_command_publishes_each_batch_and_merged_files(
    controller: FakeController, quorum: FakeQuorum, served: ServedCatalog, tmp_path: Path
) -> None:
    quorum.append(*generate(5, 200, snapshots=()).batches)
    output, counts = tmp_path / "tables", []
    catalog = rest_catalog(served.uri)
    with exporting(output, controller.endpoint) as exporter:
        for end in (60, 120, 200):
            add_batch(exporter, output, end)
            assert main(command(output, served.uri)) == 0
            assert_published(tmp_path, served.uri, output, TABLES_MIN)
            assert_offsets(served.uri, output)
    with Output(output).compacting(wait=True):
        compact(Output(output), grace_ms=0)
    for _ in range(2):
        assert main(command(output, served.uri)) == 0
        assert_published(tmp_path, served.uri, output, TABLES_MIN)
        assert_offsets(served.uri, output)
        counts.append([len(snapshots(catalog, one)) for one in live_tables(Output(output)) if one.files])
    assert counts[0] == counts[1], "what is there is not published again"


def test_a_namespace_that_is_there_is_not_made(grown: list[Path], place: Path, served: ServedCatalog) -> None:
    """The account may be one that may not."""
    rest_catalog(served.uri).create_namespace(NAMESPACE, {"owner": "data"})
    with FaultyProxy(served.port) as proxy:
        publish(Output(become(place, grown[0])), target_in(place, proxy.endpoint))
        assert ("POST", "/v1/namespaces") not in proxy.requests
    assert_published(place, served.uri, place / "tables")
    assert rest_catalog(served.uri).load_namespace_properties(NAMESPACE)["owner"] == "data"


def test_old_snapshots_end(
    grown: list[Path], place: Path, served: ServedCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever part of the snapshots the catalog is asked for."""
    monkeypatch.setattr(iceberg_expiry, "CLOCKS_DIFFER_MS", -DAY_MS)  # All were written a moment ago.
    catalog = load("test", {"type": "rest", "uri": served.uri, "snapshot-loading-mode": "refs"})
    for copy in grown:
        publish(Output(become(place, copy)), target_in(place, served.uri))
    for table in live_tables(Output(place / "tables")):
        if table.files:
            old = len(snapshots(rest_catalog(served.uri), table)) - 1
            found = catalog.load_table(f"{NAMESPACE}.{table.name}")
            assert expire(found, keep_ms=0, now_ms=time.time_ns() // 1_000_000 + 3 * DAY_MS) == old
    assert_published(place, served.uri, place / "tables")
    assert publish(Output(place / "tables"), target_in(place, served.uri)) == 0


def test_forgotten_names_are_forgotten(
    served: ServedCatalog, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forgetting.test_no_byte_of_a_published_name_is_left(tmp_path, served.uri, capsys)


def test_with_the_properties_of_the_page(grown: list[Path], place: Path, served: ServedCatalog) -> None:
    (block,) = (text for kind, text in BLOCK.findall(PAGE) if "type: rest" in text)
    (place / ".pyiceberg.yaml").write_text(block.replace("http://localhost:8181", served.uri))
    output = become(place, grown[0])
    command_line = [sys.executable, "-m", "kraftctl_spark.cli", "publish", str(output), "--as", "iceberg"]
    ran([*command_line, "--catalog", "lake"], {**os.environ, "PYICEBERG_HOME": str(place)})
    assert_published(place, served.uri, output)


AS_WITH_SQL = (
    publications.test_each_batch_is_published_and_so_are_merged_files,
    publications.test_of_racing_publishers_exactly_one_publishes,
    publications.test_a_publisher_with_an_older_state_leaves_a_newer_one_alone,
    publications.test_what_was_merged_while_the_table_was_opened_is_published_as_it_is_now,
    publications.test_an_output_that_is_behind_what_is_published_is_refused,
    publications.test_a_file_that_is_written_again_under_its_name_is_published_again,
)


@pytest.mark.parametrize("test", [pytest.param(test, id=test.__name__) for test in AS_WITH_SQL])
def test_as_with_a_catalog_of_sql(
    grown: list[Path], place: Path, served: ServedCatalog, test: Callable[[list[Path], Path, str], None]
) -> None:
    test(grown, place, served.uri)


def commits(opened: Published | None, change: FileChange | None) -> bool:
    """Whether it is carried out."""
    assert opened is not None
    assert change is not None
    try:
        opened.commit(change)
    except LostRaceError:
        return False
    return True


def test_of_writers_that_compared_the_same_table_one_commits(
    grown: list[Path], place: Path, served: ServedCatalog
) -> None:
    """All add the same files; to a table that is new, and to one that has rows."""
    for copy in grown:
        output = Output(become(place, copy).absolute())
        (records,) = (table for table in live_tables(output) if table.name == "records")
        opened = [target_in(place, served.uri).open(records) for _ in range(4)]
        changes = [change_of(records, one) for one in opened if one is not None]
        with ThreadPoolExecutor(4) as pool:
            committed = list(pool.map(commits, opened, changes))
        assert sorted(committed) == [False, False, False, True]
        late = committed.index(False)
        assert not commits(opened[late], changes[late])
        rows = published(rest_catalog(served.uri), records).num_rows
        assert rows == sum(file.rows for file in records.files.values())


def test_killed_again_and_again(
    controller: FakeController,
    quorum: FakeQuorum,
    processes: ForkServerContext,
    served: ServedCatalog,
    tmp_path: Path,
) -> None:
    kills.test_killed_again_and_again_while_tables_grow_and_are_merged(
        controller, quorum, processes, tmp_path, served.uri, 12
    )


def test_killed_after_each_step_of_a_table(
    controller: FakeController,
    quorum: FakeQuorum,
    processes: ForkServerContext,
    served: ServedCatalog,
    tmp_path: Path,
) -> None:
    """Of its creation, and of a commit that adds and removes files."""
    quorum.append(*mixed_batches(0, 60))
    output, first = tmp_path / "tables", tmp_path / "first"
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(30, 1)
        shutil.copytree(output, first)
        exporter.export_to(60, 1)
    with Output(output).compacting(wait=True):
        compact(Output(output), kills.KEPT_MS)
    catalog = rest_catalog(served.uri)
    for has_rows in (False, True):
        for step in range(1, KILLS_OF_A_TABLE + 1):
            if has_rows:
                publish(Output(first), target_in(tmp_path, served.uri))
            assert killed(processes, tmp_path, served.uri, step)
            publish(Output(output), target_in(tmp_path, served.uri))
            assert_published(tmp_path, served.uri, output, kills.TABLES)
            assert publish(Output(output), target_in(tmp_path, served.uri)) == 0
            for name in catalog.list_tables(NAMESPACE):
                catalog.drop_table(name)


@pytest.mark.parametrize("fault", [lost_answer, failed_afterwards, repeated])
def test_a_commit_whose_answer_is_lost_is_there_once(
    grown: list[Path],
    place: Path,
    served: ServedCatalog,
    fault: Fault,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The first ten requests of each batch, of which some create tables, are carried out without an answer.

    Where a gateway repeats them, nothing fails.
    """
    with FaultyProxy(served.port) as proxy:
        publisher = Publisher(Output(become(place, grown[0])), target_in(place, proxy.endpoint))
        rule = proxy.add("POST", "/tables", fault, times=10)
        for copy in grown:
            become(place, copy)
            for _ in range(12):
                publisher.after_batch()
            assert_published(place, served.uri, place / "tables")
            assert rule.met == rule.times, "there were faults"
            rule.times += 10
    assert ("batches are not published" in caplog.text) == (fault is not repeated)
    assert_offsets(served.uri, place / "tables")


def test_a_catalog_that_stops_and_comes_back(
    grown: list[Path], place: Path, served: ServedCatalog, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    publisher = Publisher(Output(become(place, grown[0])), target_in(place, served.uri))
    publisher.after_batch()
    assert_published(place, served.uri, place / "tables")
    served.stop()
    for copy in grown[1:]:
        become(place, copy)
        publisher.after_batch()
    (warning,) = (one.getMessage() for one in caplog.records if one.levelno == logging.WARNING)
    assert "batches are not published for now, and will be with a later one" in warning
    assert "is not published as Iceberg: ConnectionError" in warning
    served.start()
    publisher.after_batch()
    assert "Iceberg: batches are published again" in caplog.text
    assert_published(place, served.uri, place / "tables")
    assert_offsets(served.uri, place / "tables")
