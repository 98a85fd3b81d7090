"""Filters that Spark pushes down to a batch read: only ranges that can match are read, and no row is lost."""

from __future__ import annotations

import os
import pickle
import sys
from datetime import UTC, datetime, timedelta
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.sql.datasource import (
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_spark.datasource.batch_source import PUSHDOWN_WORKER, FilteredBatchReader
from kraftctl_spark.datasource.plain_errors import HIDE_TRACEBACK
from kraftctl_spark.datasource.range_partition import RangePartition
from kraftctl_spark.datasource.source import KraftDataSource
from kraftctl_spark.datasource.source_options import KraftOptions
from kraftctl_spark.log import log_range
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.log_directory import LogDirectory
from tests.spark.typed_export import mixed_batches

OFFSET, TIME = ("offset",), ("timestamp",)
END = 90
BATCH = 7
"""Records in a batch of the log; all have the time 1000 + the batch's first offset."""


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 25)


@pytest.fixture
def reader(controller: FakeController, quorum: FakeQuorum) -> FilteredBatchReader:
    quorum.append(*mixed_batches(0, END, BATCH))
    host, port = controller.endpoint
    return FilteredBatchReader(
        KraftOptions.parse({"bootstrapControllers": f"{host}:{port}", "requestTimeoutMs": "3000"})
    )


def at_ms(ms: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


def planned(reader: FilteredBatchReader, *filters: Filter) -> list[tuple[int, int]]:
    """The ranges that are read; all filters stay with Spark."""
    assert list(reader.pushFilters(list(filters))) == list(filters)
    found = []
    for partition in reader.partitions():
        assert isinstance(partition, RangePartition)
        found.append((partition.range.start, partition.range.end))
    return found


def read(reader: FilteredBatchReader) -> list[int]:
    """The offsets of the rows that the planned partitions give Spark."""
    found: list[int] = []
    for partition in reader.partitions():
        worker, carried = pickle.loads(pickle.dumps((reader, partition)))
        for batch in worker.read(carried):
            found += batch.column("offset").to_pylist()
    return found


@pytest.mark.parametrize(
    ("filters", "ranges"),
    [
        pytest.param((), [(0, 25), (25, 50), (50, 75), (75, 90)], id="none"),
        pytest.param(
            (IsNotNull(OFFSET), GreaterThanOrEqual(OFFSET, 30), LessThanOrEqual(OFFSET, 55)),
            [(30, 50), (50, 56)],
            id="between",
        ),
        pytest.param((GreaterThan(OFFSET, 30), LessThan(OFFSET, 32)), [(31, 32)], id="open-ends"),
        pytest.param((EqualTo(OFFSET, 50),), [(50, 51)], id="equal"),
        pytest.param((EqualTo(OFFSET, END),), [], id="beyond-the-end"),
        pytest.param((In(OFFSET, (3, None, 80, 5, 4711)),), [(3, 6), (80, 81)], id="in"),
        pytest.param((In(OFFSET, (3, 80)), LessThan(OFFSET, 9)), [(3, 4)], id="in-and-less"),
        pytest.param((In(OFFSET, (3, 80)), In(OFFSET, (4, 81))), [], id="in-and-in"),
        pytest.param((In(OFFSET, (None,)),), [], id="in-nothing"),
        pytest.param((EqualTo(OFFSET, 3), EqualTo(OFFSET, 4)), [], id="contradiction"),
        pytest.param(
            (Not(EqualTo(OFFSET, 3)), StringStartsWith(("type",), "P"), EqualTo(("epoch",), 3)),
            [(0, 25), (25, 50), (50, 75), (75, 90)],
            id="others-say-nothing",
        ),
    ],
)
def test_only_ranges_that_can_match_are_read(
    reader: FilteredBatchReader,
    quorum: FakeQuorum,
    filters: tuple[Filter, ...],
    ranges: list[tuple[int, int]],
) -> None:
    assert planned(reader, *filters) == ranges
    quorum.requests.clear()
    assert read(reader) == [offset for start, end in ranges for offset in range(start, end)]
    fetched = [
        request.topics[0].partitions[0].fetch_offset
        for _, request in quorum.requests
        if isinstance(request, FetchRequest)
    ]
    assert {start for start, _ in ranges} <= set(fetched)
    in_ranges = {offset for start, end in ranges for offset in range(start, end)}
    assert set(fetched) - {0, END} <= in_ranges, "the two are asked for to plan"


@pytest.mark.parametrize(
    ("filters", "batches"),
    [
        pytest.param((GreaterThanOrEqual(TIME, at_ms(1070)),), [70, 77, 84], id="from"),
        pytest.param((GreaterThan(TIME, at_ms(1070)),), [77, 84], id="after"),
        pytest.param((GreaterThan(TIME, at_ms(1069.9)), LessThan(TIME, at_ms(1077.1))), [70, 77], id="us"),
        pytest.param(
            (GreaterThanOrEqual(TIME, at_ms(1069.1)), LessThan(TIME, at_ms(1077))), [70], id="until"
        ),
        pytest.param((EqualTo(TIME, at_ms(1014)),), [14], id="equal"),
        pytest.param((In(TIME, (at_ms(1007), at_ms(1014))),), [7, 14], id="in"),
        pytest.param((EqualTo(TIME, at_ms(1014)), GreaterThan(OFFSET, 20)), [], id="with-offsets"),
    ],
)
def test_batches_of_other_times_are_left_out(
    reader: FilteredBatchReader, filters: tuple[Filter, ...], batches: list[int]
) -> None:
    planned(reader, *filters)
    assert read(reader) == [offset for first in batches for offset in range(first, min(first + BATCH, END))]


def test_a_value_of_another_type_says_nothing(reader: FilteredBatchReader) -> None:
    """Times without a zone depend on the session; numbers that are not whole are none of ours."""
    for one in (EqualTo(TIME, datetime(1970, 1, 1)), LessThan(OFFSET, 3.5), In(OFFSET, (3, "4"))):
        assert len(planned(reader, one)) == 4


def test_rows_of_a_snapshot_have_no_offset_but_a_time(
    reader: FilteredBatchReader, quorum: FakeQuorum
) -> None:
    quorum.log_start_offset, quorum.snapshot = 28, (28, 1)
    quorum.snapshot_bytes = mixed_batches(0, 3)[0]
    quorum.batches = quorum.batches[4:]
    assert planned(reader) == [(0, 28), (28, 53), (53, 78), (78, 90)]
    assert planned(reader, GreaterThan(TIME, at_ms(2000)))[0] == (0, 28)
    assert read(reader) == []
    assert planned(reader, LessThan(TIME, at_ms(1001)))[0] == (0, 28)
    assert read(reader) == [None, None, None]
    assert planned(reader, IsNotNull(OFFSET))[0] == (28, 53)
    assert planned(reader, LessThan(OFFSET, 30)) == [(28, 30)]
    assert planned(reader, EqualTo(OFFSET, 3)) == []


def test_the_start_of_a_trimmed_log_is_read_with_the_epoch_of_the_snapshot(
    reader: FilteredBatchReader, quorum: FakeQuorum
) -> None:
    """There, a leader accepts no other one."""
    quorum.log_start_offset, quorum.snapshot, quorum.epoch = 28, (28, 1), 2
    quorum.batches = mixed_batches(28, END, epoch=2)
    for first in (28, 29):
        reader.pushFilters([GreaterThanOrEqual(OFFSET, first)])
        assert read(reader) == list(range(first, END))


def test_a_part_of_a_range_is_read_with_an_epoch_of_its_log(tmp_path: Path) -> None:
    """Before the whole range there is no record, and its epoch is 0."""
    directory = LogDirectory(tmp_path / "data")
    for epoch in (1, 2, 5):
        directory.append(30, epoch=epoch)
    reader = FilteredBatchReader(KraftOptions.parse({"directory": str(directory.path)}))
    reader.pushFilters([GreaterThanOrEqual(OFFSET, 10)])
    assert read(reader) == list(range(10, 90))
    directory.close()


def test_a_reader_takes_filters_only_where_spark_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere, Spark fails every query of a reader with `pushFilters`, unless it is configured."""

    def takes_filters() -> bool:
        source = KraftDataSource({"bootstrapControllers": "localhost:1"})
        return type(source.reader(source.schema())).pushFilters is not DataSourceReader.pushFilters

    monkeypatch.delitem(sys.modules, PUSHDOWN_WORKER, raising=False)
    assert not takes_filters()
    monkeypatch.setitem(sys.modules, PUSHDOWN_WORKER, ModuleType(PUSHDOWN_WORKER))
    assert takes_filters()


@pytest.mark.parametrize(
    ("program", "hidden"),
    [("pyspark.daemon", "1"), ("job", None), (None, None)],
    ids=["spark", "job", "shell"],
)
def test_only_spark_shows_an_error_without_its_traceback(
    monkeypatch: pytest.MonkeyPatch, program: str | None, hidden: str | None
) -> None:
    main = ModuleType("__main__")
    main.__spec__ = None if program is None else ModuleSpec(program, None)
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setenv(HIDE_TRACEBACK, "")
    monkeypatch.delenv(HIDE_TRACEBACK)
    with pytest.raises(ValueError, match="exactly one of the options"):
        KraftDataSource({})
    assert os.environ.get(HIDE_TRACEBACK) == hidden
