"""`spark.read.format("kraft")`: its partitions and rows, from controllers and from a directory."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from pyspark.sql.datasource import InputPartition

from kraftctl_observer.directory_reader import DamagedLogError
from kraftctl_spark.datasource.batch_source import KraftBatchReader
from kraftctl_spark.datasource.source import KraftDataSource
from kraftctl_spark.log import log_range
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.log_directory import LogDirectory
from tests.spark.typed_export import mixed_batches

Place = tuple[int | None, int | None]


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 25)


def places(options: dict[str, str]) -> list[Place]:
    """Offset and snapshot index of every row; partitions are not read in the process that planned them."""
    source = KraftDataSource(options)
    reader = source.reader(schema=source.schema())
    assert isinstance(reader, KraftBatchReader)
    found: list[Place] = []
    for planned in reader.partitions() or [InputPartition(None)]:  # As PySpark does.
        worker, carried = pickle.loads(pickle.dumps((reader, planned)))
        for batch in worker.read(carried):
            columns = batch.select(["offset", "snapshot_index"]).to_pydict()
            found += zip(columns["offset"], columns["snapshot_index"], strict=True)
    return found


def log_places(start: int, end: int) -> list[Place]:
    return [(offset, None) for offset in range(start, end)]


@pytest.fixture
def options(controller: FakeController) -> dict[str, str]:
    host, port = controller.endpoint
    return {"bootstrapControllers": f"{host}:{port}", "requestTimeoutMs": "3000"}


def test_reads_what_is_committed_when_it_is_planned(options: dict[str, str], quorum: FakeQuorum) -> None:
    quorum.append(*mixed_batches(0, 90))
    quorum.append(*mixed_batches(90, 95), commit=False)
    assert places(options) == log_places(0, 90)
    assert places({**options, "startingOffset": "31", "endingOffset": "64"}) == log_places(31, 64)
    assert places({**options, "startingOffset": "90"}) == []


def test_a_range_without_offsets_has_no_rows(options: dict[str, str], quorum: FakeQuorum) -> None:
    """At the end of the log, where a job starts that has read everything before."""
    quorum.append(*mixed_batches(0, 70))
    assert places({**options, "startingOffset": "70"}) == []
    assert places({**options, "startingOffset": "7", "endingOffset": "7"}) == []


def test_begins_with_the_snapshot_of_a_log_that_was_trimmed(
    options: dict[str, str], quorum: FakeQuorum
) -> None:
    quorum.log_start_offset, quorum.snapshot = 100, (120, 1)
    quorum.snapshot_bytes = mixed_batches(0, 3)[0]
    quorum.append(*mixed_batches(100, 150))
    assert places(options) == [(None, 0), (None, 1), (None, 2), *log_places(120, 150)]
    assert places({**options, "startingOffset": "120"}) == log_places(120, 150)
    with pytest.raises(ValueError, match=r"startingOffset=7: .* deleted.* begin at 120"):
        places({**options, "startingOffset": "7"})
    with pytest.raises(ValueError, match=r"endingOffset=110: .* before 120 has been deleted"):
        places({**options, "endingOffset": "110"})


def test_begins_where_a_trimmed_log_does_though_another_leads_by_now(
    options: dict[str, str], quorum: FakeQuorum
) -> None:
    """At this offset, a leader accepts only the epoch of the snapshot that ends there."""
    quorum.log_start_offset, quorum.snapshot, quorum.epoch = 100, (100, 1), 2
    quorum.append(*mixed_batches(100, 150, epoch=2))
    assert places({**options, "startingOffset": "100"}) == log_places(100, 150)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        pytest.param("0", "91", "endingOffset=91: the log is committed up to 90", id="end"),
        pytest.param("91", None, "startingOffset=91: .* ends at 90", id="start"),
        pytest.param("50", "40", "startingOffset=50: .* ends at 40", id="backwards"),
    ],
)
def test_offsets_out_of_range(
    options: dict[str, str], quorum: FakeQuorum, start: str, end: str | None, message: str
) -> None:
    quorum.append(*mixed_batches(0, 90))
    given = {**options, "startingOffset": start, **({} if end is None else {"endingOffset": end})}
    with pytest.raises(ValueError, match=message):
        places(given)


def test_a_damaged_directory_is_not_read_as_if_it_ended_there(tmp_path: Path) -> None:
    directory = LogDirectory(tmp_path / "data")
    directory.append(700)
    directory.segments()[1].unlink()
    options = {"directory": str(directory.path)}
    with pytest.raises(DamagedLogError):
        places(options)
    assert places({**options, "endingOffset": "20"}) == log_places(0, 20)


def test_reads_a_directory(tmp_path: Path) -> None:
    directory = LogDirectory(tmp_path / "data")
    for epoch in (1, 2, 5):
        directory.append(300, epoch=epoch)
    options = {"directory": str(directory.path)}
    assert places(options) == log_places(0, 900)
    assert places({**options, "startingOffset": "299", "endingOffset": "601"}) == log_places(299, 601)
    directory.checkpoint(600, epoch=2)
    directory.clean_before(600)
    assert places(options) == [(None, 0), (None, 1), (None, 2), (None, 3), *log_places(600, 900)]
    directory.static_voters([1, 2, 3])
    assert len(places(options)) == 4
    assert len(places({**options, "assumeCommitted": "TRUE"})) == 304
    directory.close()
