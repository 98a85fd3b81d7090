"""Controllers of several releases: exported, trimmed, continued from a snapshot."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.nodes import Controller
from kraftctl_observer import observer
from kraftctl_observer.log_reader import LogPosition
from kraftctl_spark.log.log_location import DirectoryLocation, LogLocation, QuorumLocation, parse_endpoints
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.typed_check import compare_records
from tests.spark.typed_export import exporting
from tests.support.parquet_check import read_dump
from tests.support.processes.kafka import JavaController, KraftctlController, await_result, kafka, random_id
from tests.support.wire.controller_client import create_topics

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(300)]

PROPERTIES = {
    "metadata.log.max.record.bytes.between.snapshots": "4000",
    "internal.metadata.log.segment.bytes": "3000",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
}
PROPERTIES_BEFORE_4 = {"metadata.log.segment.min.bytes": "3000", "metadata.log.segment.bytes": "3000"}
NEWEST = "4.3.1"


@pytest.fixture(
    params=["kraftctl", NEWEST, *(pytest.param(one, marks=pytest.mark.long) for one in ("4.1.2", "3.9.2"))]
)
def controller(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Controller]:
    """Static voters before 4.0, as is usual for these releases."""
    directory, cluster_id = tmp_path / "node", random_id()
    made: Controller
    if request.param == "kraftctl":
        made = KraftctlController(3000, directory, cluster_id, properties=PROPERTIES)
    else:
        version, _, static = request.param.partition(" ")
        old = version.startswith("3.")
        properties = {**PROPERTIES, **PROPERTIES_BEFORE_4} if old else PROPERTIES
        made = JavaController(
            kafka(version),
            3000,
            directory,
            cluster_id,
            dynamic=not old and not static,
            properties=properties,
        )
    made.format()
    made.start()
    yield made
    made.kill()


def release_of(controller: Controller) -> str:
    """The release whose tool is used."""
    return controller.kafka.version if isinstance(controller, JavaController) else NEWEST


def place_of(location: LogLocation) -> tuple[str, LogPosition]:
    reader = location.open(None)
    try:
        return reader.cluster_id(), reader.position(0, 0)
    finally:
        reader.close()


def export(output: Path, location: LogLocation) -> int:
    """Exports everything committed; returns its end."""
    cluster_id, place = place_of(location)
    with exporting(output, location, include_secrets=True, cluster_id=cluster_id) as exporter:
        assert exporter.export_to(place.high_watermark, place.leader_epoch).offset == place.high_watermark
    return place.high_watermark


def newest_checkpoint(controller: Controller) -> int:
    """Its end."""
    found = controller.metadata_directory.glob("*.checkpoint")
    return max((int(path.name[:20]) for path in found), default=0)


def trim(controller: Controller, archive: Path) -> None:
    """Like retention that keeps only the newest snapshot; deleted files are kept in `archive`."""
    directory = controller.metadata_directory
    segments = sorted(directory.glob("*.log"))
    checkpoints = sorted(directory.glob("*.checkpoint"))
    end = newest_checkpoint(controller)
    archive.mkdir()
    for segment, following in itertools.pairwise(segments):
        if int(following.stem) <= end:
            shutil.move(segment, archive)
            for suffix in (".index", ".timeindex"):
                segment.with_suffix(suffix).unlink()
    for checkpoint in checkpoints[:-1]:
        checkpoint.unlink()


def test_a_log_is_exported_trimmed_and_continued(controller: Controller, tmp_path: Path) -> None:
    tables, whole, trimmed = tmp_path / "tables", tmp_path / "whole", tmp_path / "trimmed"
    archive = tmp_path / "archive"
    quorum = QuorumLocation(parse_endpoints(controller.address))
    directory = DirectoryLocation(controller.log_directory)
    create_topics(controller.port, controller.cluster_id, "first", "second")
    first_end = export(tables, quorum)
    create_topics(controller.port, controller.cluster_id, *(f"more-{number}" for number in range(20)))
    await_result(lambda: newest_checkpoint(controller) > first_end + 50, "a snapshot")
    controller.stop()
    whole_end = export(whole, directory)

    trim(controller, archive)
    assert int(min(controller.metadata_directory.glob("*.log")).stem) > first_end
    controller.start()
    create_topics(controller.port, controller.cluster_id, "last")
    end = export(tables, quorum)
    controller.stop()
    assert export(trimmed, directory) >= end > whole_end > first_end

    for segment in controller.metadata_directory.glob("*.log"):
        shutil.copy(segment, archive)
    dumped = read_dump(archive, release_of(controller))
    assert [record.offset for record in dumped] == list(range(len(dumped)))
    types = compare_records(whole, dumped[:whole_end])
    assert types >= {"RegisterBrokerRecord", "TopicRecord", "PartitionRecord", "FeatureLevelRecord"}

    before, bridge, after = Output(tables).manifests()
    assert (before.end, bridge.start, bridge.snapshot) == (first_end, first_end, True)
    assert (after.start, after.end) == (bridge.end, end)
    compare_records(tables, dumped[:first_end] + dumped[bridge.end : end])
    assert_snapshot_is_whole(tables, bridge.end)

    first, rest = Output(trimmed).manifests()
    assert (first.start, first.snapshot) == (0, True)
    compare_records(trimmed, dumped[first.end : rest.end])
    assert_snapshot_is_whole(trimmed, first.end)


@pytest.mark.parametrize("controller", ["kraftctl", f"{NEWEST} static"], indirect=True)
def test_a_whole_log_with_a_snapshot_of_a_later_epoch(
    controller: Controller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its leader offers the snapshot to a reader whose last epoch is earlier."""
    quorum = QuorumLocation(parse_endpoints(controller.address))
    create_topics(controller.port, controller.cluster_id, "first", "second")
    controller.stop()
    controller.start()
    create_topics(controller.port, controller.cluster_id, *(f"more-{number}" for number in range(20)))
    await_result(lambda: newest_checkpoint(controller) > 0, "a snapshot")
    monkeypatch.setattr(observer, "FETCH_BYTES", 500)
    end = export(tmp_path / "tables", quorum)
    assert [manifest.snapshot for manifest in Output(tmp_path / "tables").manifests()] == [False]
    controller.stop()
    dumped = read_dump(controller.metadata_directory, release_of(controller))[:end]
    assert len({record.epoch for record in dumped}) > 1
    (manifest,) = Output(tmp_path / "tables").manifests()
    compare_records(tmp_path / "tables", dumped[len(manifest.missing) :])


def assert_snapshot_is_whole(tables: Path, end: int) -> None:
    rows = [row for row in read_table(tables, "records").to_pylist() if row["offset"] is None]
    assert [row["snapshot_index"] for row in rows] == list(range(len(rows)))
    assert {row["snapshot_end_offset"] for row in rows} == {end}
    assert (rows[0]["type"], rows[-1]["type"]) == ("SnapshotHeaderRecord", "SnapshotFooterRecord")
