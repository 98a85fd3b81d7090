"""The typed export to real object stores: once each, after kills, beside another exporter, and merged."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from kraftctl_observer import attempts
from kraftctl_spark.log import log_range
from kraftctl_spark.stores.open_store import StoreLocation
from kraftctl_spark.stores.store_error import ObjectStoreError
from kraftctl_spark.tables import stored_output as module
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.uploads import LEFTOVER_SECONDS, began_at
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.stores.conftest import client_of
from tests.spark.stores.faulty_proxy import FaultyProxy, internal_error
from tests.spark.stores.servers import BUCKET, StoreServer
from tests.spark.stores.stored_export import (
    PER_TASK,
    TABLES,
    assert_exact,
    compact_and_die,
    expected_offsets,
    store_and_die,
    stored_output,
    storing,
)
from tests.spark.typed_export import ABORT, BEGIN, batches_of, mixed_batches, mixed_value


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", PER_TASK)
    monkeypatch.setattr(attempts, "PAUSE_S", 0.001)


@pytest.fixture
def here(server: StoreServer, monkeypatch: pytest.MonkeyPatch) -> StoreServer:
    client_of(monkeypatch, server.endpoint)
    return server


def files(server: StoreServer, url: str) -> list[str]:
    prefix = url.removeprefix(f"s3://{BUCKET}/")
    return [name.removeprefix(f"{prefix}/") for name in server.objects(prefix + "/")]


def named(url: str) -> set[str]:
    with stored_output(url) as output:
        return {file.path for one in output.manifests() for file in one.files}


def test_every_offset_is_in_the_tables_once(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str
) -> None:
    quorum.append(*mixed_batches(0, 110))
    for ends in ([60, 100], [40], [100, 110]):
        with storing(url, controller.endpoint) as exporter:
            for end in ends:
                assert exporter.export_to(end, 1).offset >= end
    assert_exact(url, 110)
    assert {name for name in files(here, url) if began_at(name)} == named(url)


def test_files_of_aborted_transactions_are_written_again_and_nothing_else_is_left(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str
) -> None:
    values = {offset: mixed_value(offset) for offset in range(100)} | {10: BEGIN, 70: ABORT}
    quorum.append(*batches_of(values))
    with storing(url, controller.endpoint) as exporter:
        exporter.export_to(100, 1)
    assert {name for name in files(here, url) if began_at(name)} == named(url)


def test_a_compaction_leaves_one_file_of_each_table(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str, tmp_path: Path
) -> None:
    quorum.append(*mixed_batches(0, 60))
    with storing(url, controller.endpoint) as exporter:
        for end in (20, 40, 60):
            exporter.export_to(end, 1)
    compact_and_die(url, 0)
    assert_exact(url, 60)
    assert len([name for name in files(here, url) if began_at(name)]) == len(TABLES)
    with stored_output(url) as output:
        output.fetch_all()
        copy = Output(output.directory)
        copy.check_files()
        assert copy.manifests() == output.manifests()
        for table in TABLES:
            found = read_table(output.directory, table).column("offset").to_pylist()
            assert found == expected_offsets(table, 60)


def test_of_two_exporters_one_ends_and_names_the_commit_of_the_other(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str
) -> None:
    quorum.append(*mixed_batches(0, 100))
    with storing(url, controller.endpoint) as first:
        first.export_to(20, 1)

        steps = itertools.count()

        def overtaken(step: str) -> None:
            if step == "file-uploaded" and next(steps) == 0:
                first.export_to(60, 1)

        with storing(url, controller.endpoint, overtaken) as second:
            with pytest.raises(ExportRefusedError, match=r"another process writes to s3.*: its commit 1 has"):
                second.export_to(40, 1)
        first.export_to(100, 1)
    assert_exact(url, 100)
    assert {name for name in files(here, url) if began_at(name)} == named(url)


def test_leftovers_are_deleted_once_no_attempt_can_commit_them(
    controller: FakeController,
    quorum: FakeQuorum,
    here: StoreServer,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quorum.append(*mixed_batches(0, 60))
    with storing(url, controller.endpoint) as exporter:
        exporter.export_to(20, 1)
    prefix = url.removeprefix(f"s3://{BUCKET}/")
    now = int(time.time())
    ranges = "00000000000000000020-00000000000000000059"
    young = f"records/{ranges}-{now - LEFTOVER_SECONDS + 60:08x}aaaaaaaa.parquet"
    old = f"records/{ranges}-{now - LEFTOVER_SECONDS - 60:08x}aaaaaaaa.parquet"
    theirs = "records/mine.parquet"
    for name in (young, old, theirs):
        here.client().put_object(Bucket=BUCKET, Key=f"{prefix}/{name}", Body=b"x")
    with storing(url, controller.endpoint) as exporter:
        exporter.export_to(60, 1)
    assert set(files(here, url)) & {young, old, theirs} == {young, theirs}
    assert_exact(url, 60)
    monkeypatch.setattr(module, "ATTEMPT_SECONDS_MAX", -1)
    quorum.append(*mixed_batches(60, 80))
    with (
        storing(url, controller.endpoint) as exporter,
        pytest.raises(ExportRefusedError, match="may be deleted as leftovers"),
    ):
        exporter.export_to(80, 1)


def test_files_without_commits_are_not_written_over(here: StoreServer, url: str) -> None:
    name = f"records/{0:020}-{9:020}-{int(time.time()) - LEFTOVER_SECONDS - 60:08x}aaaaaaaa.parquet"
    here.client().put_object(Bucket=BUCKET, Key=f"{url.removeprefix(f's3://{BUCKET}/')}/{name}", Body=b"x")
    with (
        stored_output(url) as output,
        pytest.raises(ExportRefusedError, match="holds files of an export, but no"),
    ):
        with output.locked():
            pass


def test_a_missing_file_is_named(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str
) -> None:
    quorum.append(*mixed_batches(0, 60))
    with storing(url, controller.endpoint) as exporter:
        exporter.export_to(60, 1)
    gone = min(named(url))
    here.client().delete_object(Bucket=BUCKET, Key=f"{url.removeprefix(f's3://{BUCKET}/')}/{gone}")
    with stored_output(url) as output, pytest.raises(ExportRefusedError, match=gone):
        output.check_files()


def test_what_a_worker_uploads_elsewhere_is_not_committed(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str
) -> None:
    quorum.append(*mixed_batches(0, 60))
    with storing(url, controller.endpoint) as exporter:
        settings = exporter._settings
        elsewhere = replace(settings, store=StoreLocation(f"{url}-elsewhere"))
        exporter._run_tasks = lambda tasks: [run_task(elsewhere, task) for task in tasks]
        with pytest.raises(ExportRefusedError, match=r"lacks .*, which a worker has uploaded: give workers"):
            exporter.export_to(60, 1)
    with stored_output(url) as output:
        assert output.manifests() == []


def _run_at(places: list[TaskSettings], tasks: list[ExportTask]) -> list[TaskReport]:
    return [run_task(place, task) for place, task in zip(places, tasks, strict=True)]


def test_what_one_of_several_workers_uploads_elsewhere_is_not_committed(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str
) -> None:
    """Whichever it is: each of them may have another environment."""
    quorum.append(*mixed_batches(0, 3 * PER_TASK))
    with storing(url, controller.endpoint) as exporter:
        settings = exporter._settings
        elsewhere = replace(settings, store=StoreLocation(f"{url}-elsewhere"))
        for wrong in range(3):
            places = [elsewhere if number == wrong else settings for number in range(3)]
            exporter._run_tasks = partial(_run_at, places)
            with pytest.raises(ExportRefusedError, match=r"lacks .*, which a worker has uploaded"):
                exporter.export_to(3 * PER_TASK, 1)
    with stored_output(url) as output:
        assert output.manifests() == []


def test_an_upload_that_fails_ends_the_batch_and_leaves_nothing(
    controller: FakeController,
    quorum: FakeQuorum,
    here: StoreServer,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kraftctl_spark.stores import object_store

    monkeypatch.setattr(object_store, "RETRY_SECONDS", 0.3)
    quorum.append(*mixed_batches(0, 60))
    with FaultyProxy(here.port) as proxy:
        client_of(monkeypatch, proxy.endpoint)
        rule = proxy.add("PUT", "/topic_record/", internal_error, 1_000)
        with storing(url, controller.endpoint) as exporter:
            with pytest.raises(ObjectStoreError, match=r"cannot write topic_record/0.*it fails \(500"):
                exporter.export_to(60, 1)
            assert files(here, url) == []
            rule.times = 0
            exporter.export_to(60, 1)
    client_of(monkeypatch, here.endpoint)
    assert_exact(url, 60)


STRIDES = [pytest.param(7, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]


@pytest.mark.parametrize("stride", STRIDES)
def test_killed_after_any_step_and_continued(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str, stride: int
) -> None:
    """Nothing is lost and nothing is there twice. What was uploaded and not named stays for a day."""
    quorum.append(*mixed_batches(0, 100))
    processes = multiprocessing.get_context("spawn")
    for step in itertools.count(1, stride):
        place = f"{url}-{step}"
        child = processes.Process(target=store_and_die, args=(place, controller.endpoint, [60, 100], step))
        child.start()
        child.join(60)
        with stored_output(place) as output:
            end = output.position().offset
        assert end in (0, 60, 100)
        assert_exact(place, end)
        if child.exitcode == 0:
            break
        assert child.exitcode == -9
        store_and_die(place, controller.endpoint, [33, 77, 100], 0)
        assert_exact(place, 100)
        assert not here.unfinished_uploads()
    assert step > 5 * 5


@pytest.mark.parametrize("stride", STRIDES)
def test_a_compaction_is_killed_after_any_step(
    controller: FakeController, quorum: FakeQuorum, here: StoreServer, url: str, stride: int
) -> None:
    quorum.append(*mixed_batches(0, 60))
    processes = multiprocessing.get_context("spawn")
    for step in itertools.count(1, stride):
        place = f"{url}-{step}"
        store_and_die(place, controller.endpoint, [20, 40, 60], 0)
        child = processes.Process(target=compact_and_die, args=(place, step))
        child.start()
        child.join(60)
        assert_exact(place, 60)
        if child.exitcode == 0:
            break
        assert child.exitcode == -9
        compact_and_die(place, 0)
        assert_exact(place, 60)
        with stored_output(place) as output:
            assert len(output.manifests()) == 1
    assert step > 3 * len(TABLES)
