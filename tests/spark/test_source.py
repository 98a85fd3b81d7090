"""The stream source keeps Spark's contract; tested without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from kraftctl_observer.log_reader import LogChangedError, WrongClusterError
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.datasource.range_partition import ROWS_PER_ARROW_BATCH, RangePartition
from kraftctl_spark.datasource.source import KraftDataSource, KraftOffset, KraftStreamReader
from kraftctl_spark.datasource.source_options import KraftOptions
from kraftctl_spark.log.log_location import parse_endpoints
from kraftctl_spark.log.log_range import OFFSETS_PER_RANGE
from kraftctl_spark.rows.log_rows import ROWS_PER_CHUNK
from kraftctl_spark.rows.schema import arrow_schema
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum

NO_OP = encode_metadata_record(NoOpRecord(), 0)


def batch(base_offset: int, count: int, epoch: int = 1) -> bytes:
    return encode_batch(base_offset, epoch, 1000, [NO_OP] * count)


@pytest.fixture
def reader(controller: FakeController) -> Iterator[KraftStreamReader]:
    made = _reader(controller)
    yield made
    made.stop()


def _reader(controller: FakeController, **more: str) -> KraftStreamReader:
    host, port = controller.endpoint
    options = {"bootstrapControllers": f"{host}:{port}", "requestTimeoutMs": "3000", **more}
    return KraftStreamReader(KraftOptions.parse(options))


def at(offset: int, epoch: int = 1, cluster: str = CLUSTER_ID) -> dict[str, Any]:
    return KraftOffset(offset, epoch, cluster).to_dict()


def offsets_read(reader: KraftStreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[int | None]:
    """As in Spark: every range in another process than the one that planned it."""
    offsets: list[int | None] = []
    for planned in reader.partitions(start, end):
        worker, carried = pickle.loads(pickle.dumps((reader, planned)))
        for got in worker.read(carried):
            assert got.schema == arrow_schema()
            offsets += got.column("offset").to_pylist()
    return offsets


def test_starts_at_offset_0_of_the_cluster_that_answers(reader: KraftStreamReader) -> None:
    assert reader.initialOffset() == {"version": 1, "offset": 0, "epoch": 0, "cluster": CLUSTER_ID}


def test_plans_up_to_the_high_watermark_and_reads_exactly_that(
    reader: KraftStreamReader, quorum: FakeQuorum
) -> None:
    quorum.append(batch(0, 3), batch(3, 4))
    quorum.append(batch(7, 2), commit=False)
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert end == at(7)
    assert offsets_read(reader, reader.initialOffset(), end) == list(range(7))
    assert reader.latestOffset(end, ReadAllAvailable()) is end, "nothing new: the same offset again"
    assert reader.partitions(end, end) == []


def test_limit_may_end_a_range_within_a_batch(reader: KraftStreamReader, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 10))
    first = reader.latestOffset(reader.initialOffset(), ReadMaxRows(4))
    second = reader.latestOffset(first, ReadMaxRows(4))
    third = reader.latestOffset(second, ReadMaxRows(4))
    assert [end["offset"] for end in (first, second, third)] == [4, 8, 10]
    assert offsets_read(reader, first, second) == [4, 5, 6, 7]
    assert offsets_read(reader, second, third) == [8, 9]


def test_default_limit_is_the_option(controller: FakeController) -> None:
    assert _reader(controller, maxOffsetsPerTrigger="7").getDefaultReadLimit() == ReadMaxRows(7)


def test_available_now_stops_at_what_was_there_at_the_start(
    reader: KraftStreamReader, quorum: FakeQuorum
) -> None:
    quorum.append(batch(0, 10))
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    first = reader.latestOffset(start, ReadMaxRows(6))
    quorum.append(batch(10, 10))
    second = reader.latestOffset(first, ReadMaxRows(6))
    assert [first["offset"], second["offset"]] == [6, 10]
    assert reader.latestOffset(second, ReadMaxRows(6)) is second


def test_ranges_depend_only_on_start_and_end(reader: KraftStreamReader) -> None:
    planned = reader.partitions(at(0), at(2 * OFFSETS_PER_RANGE + 5))
    assert planned == reader.partitions(at(0), at(2 * OFFSETS_PER_RANGE + 5))
    assert [(part.range.start, part.range.end) for part in planned if isinstance(part, RangePartition)] == [
        (0, OFFSETS_PER_RANGE),
        (OFFSETS_PER_RANGE, 2 * OFFSETS_PER_RANGE),
        (2 * OFFSETS_PER_RANGE, 2 * OFFSETS_PER_RANGE + 5),
    ]


def test_arrow_batches_are_of_a_size_that_suits_spark(reader: KraftStreamReader, quorum: FakeQuorum) -> None:
    count = ROWS_PER_CHUNK
    quorum.append(*[batch(offset, 1000) for offset in range(0, count, 1000)])
    quorum.append(batch(count, ROWS_PER_ARROW_BATCH + 10))
    (planned,) = reader.partitions(at(0), at(count + ROWS_PER_ARROW_BATCH + 10))
    sizes = [got.num_rows for got in reader.read(planned)]
    assert sizes == [ROWS_PER_CHUNK, *[ROWS_PER_ARROW_BATCH // 2 + 5] * 2], "no tiny rest"


def test_never_goes_backwards(reader: KraftStreamReader, quorum: FakeQuorum) -> None:
    quorum.append(batch(0, 5))
    with pytest.raises(LogChangedError, match="ends at 5"):
        reader.latestOffset(at(9), ReadAllAvailable())
    with pytest.raises(LogChangedError, match="backwards"):
        reader.partitions(at(5), at(4))
    with pytest.raises(LogChangedError, match="backwards"):
        reader.partitions(at(5, epoch=2), at(6, epoch=1))


def test_an_offset_carries_the_epoch_of_the_record_before_it(
    reader: KraftStreamReader, quorum: FakeQuorum
) -> None:
    quorum.epoch = 9
    quorum.append(batch(0, 5, epoch=3), batch(5, 5, epoch=9))
    first = reader.latestOffset(reader.initialOffset(), ReadMaxRows(4))
    second = reader.latestOffset(first, ReadAllAvailable())
    assert (first, second) == (at(4, epoch=3), at(10, epoch=9))
    assert offsets_read(reader, first, second) == [4, 5, 6, 7, 8, 9]


def test_another_cluster_than_the_checkpoint_knows(reader: KraftStreamReader) -> None:
    elsewhere = at(0, cluster="elsewhere")
    with pytest.raises(WrongClusterError, match="elsewhere"):
        reader.latestOffset(elsewhere, ReadAllAvailable())
    with pytest.raises(WrongClusterError):
        reader.partitions(elsewhere, at(5))


def test_a_deleted_start_is_bridged_by_the_snapshot(reader: KraftStreamReader, quorum: FakeQuorum) -> None:
    quorum.log_start_offset = 100
    quorum.snapshot = (120, 1)
    quorum.snapshot_bytes = batch(0, 3)
    quorum.append(batch(100, 30))
    bridge = reader.latestOffset(reader.initialOffset(), ReadMaxRows(5))
    assert bridge == {**at(120), "snapshot": True}
    (planned,) = reader.partitions(reader.initialOffset(), bridge)
    (rows,) = [got.to_pylist() for got in reader.read(planned)]
    assert [(row["offset"], row["snapshot_end_offset"], row["snapshot_index"]) for row in rows] == [
        (None, 120, 0),
        (None, 120, 1),
        (None, 120, 2),
    ]
    end = reader.latestOffset(bridge, ReadMaxRows(5))
    assert end == at(125)
    assert offsets_read(reader, bridge, end) == [120, 121, 122, 123, 124]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="empty"),
        pytest.param({"offset": 5}, id="incomplete"),
        pytest.param({**at(5), "version": 2}, id="of-a-later-release"),
        pytest.param({**at(5), "offset": -1}, id="negative"),
        pytest.param({**at(5), "offset": None}, id="null"),
    ],
)
def test_offsets_that_are_not_ours(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not an offset"):
        KraftOffset.from_dict(fields)


def test_options() -> None:
    source = KraftDataSource({"BOOTSTRAPCONTROLLERS": "a:1,[::1]:2", "clusterid": "x"})
    assert source.name() == "kraft"
    assert isinstance(source.streamReader(schema=source.schema()), KraftStreamReader)
    assert parse_endpoints(" a:1, [::1]:2") == (("a", 1), ("::1", 2))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="no-controllers"),
        pytest.param({"bootstrapControllers": "a"}, id="no-port"),
        pytest.param({"bootstrapControllers": "a:0"}, id="port-0"),
        pytest.param({"bootstrapControllers": "a:x"}, id="port-not-a-number"),
        pytest.param({"bootstrapControllers": "a:1", "maxOffsetsPerTrigger": "0"}, id="limit-0"),
        pytest.param({"bootstrapControllers": "a:1", "directory": "d"}, id="two-places"),
        pytest.param({"bootstrapControllers": "a:1", "assumeCommitted": "true"}, id="assumed-of-controllers"),
        pytest.param({"directory": "d", "assumeCommitted": "yes"}, id="neither-true-nor-false"),
        pytest.param({"directory": "d", "startingOffset": "-1"}, id="negative-start"),
        pytest.param({"directory": "d", "endingOffset": "latest"}, id="end-not-a-number"),
        pytest.param({"directory": "d", "startingOffsets": "5"}, id="misspelt"),
        pytest.param({"bootstrapControllers": "a:1", "kafka.security.protocol": "SSL"}, id="tls"),
    ],
)
def test_options_that_cannot_work(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"option|host:port"):
        KraftDataSource(options)


def test_a_stream_has_no_end(controller: FakeController) -> None:
    source = KraftDataSource({"bootstrapControllers": "a:1", "startingOffset": "5"})
    with pytest.raises(ValueError, match=r"are for spark\.read"):
        source.streamReader(schema=source.schema())


def test_reports_how_far_the_log_is_committed(reader: KraftStreamReader, quorum: FakeQuorum) -> None:
    assert reader.reportLatestOffset() is None
    quorum.append(batch(0, 10))
    end = reader.latestOffset(reader.initialOffset(), ReadMaxRows(4))
    assert (end, reader.reportLatestOffset()) == (at(4), at(10))
