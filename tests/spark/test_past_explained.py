"""Exported records become the files of a controller again, and `kraftctl explain` reads the past in them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kraftctl.cli import main as kraftctl
from kraftctl_observer.directory_reader import DirectoryReader
from kraftctl_protocol.batch_framing import ATTRIBUTES_POSITION, CONTROL_BIT
from kraftctl_protocol.record_batch import RecordBatch, encode_batch
from kraftctl_spark.cli import main as kraftctl_export
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.log_directory import CLUSTER_ID, LogDirectory
from tests.spark.typed_export import export_directory
from tests.support.explained_log import change, partition
from tests.support.wire.fuzzed_files import with_checksum
from tests.support.written_log import WrittenLog

SOURCES = [
    pytest.param(["--directory", "node"], id="log"),
    pytest.param(["--history", "tables"], id="tables", marks=pytest.mark.slow),
]

WAIT_SECONDS_MAX = 10


@pytest.fixture
def moments(tmp_path: Path) -> Iterator[dict[str, tuple[int, int]]]:
    """The offset and the time at the end of each moment of one cluster, whose records are exported."""
    directory = LogDirectory(tmp_path / "node")
    log = WrittenLog(directory)
    found: dict[str, tuple[int, int]] = {}
    log.feature("metadata.version", 30)
    log.brokers(1, 2, 3)
    log.topic("solo", partition([3]))
    found["well"] = log.offset, log.now_ms
    log.now_ms += 60_000
    log.now_ms += 123
    log.fence(3, change("solo", 0, leader=-1, isr=[], eligible_leader_replicas=[3]))
    found["fenced"] = log.offset, log.now_ms
    log.now_ms += 60_000
    log.brokers(4)
    found["end"] = log.offset, log.now_ms
    export_directory(tmp_path / "node", tmp_path / "tables")
    yield found
    directory.close()


def iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("moment", "status"), [("well", 0), ("fenced", 10), ("end", 10), (None, 10)])
def test_a_partition_is_explained_as_it_was(
    source: list[str],
    moment: str | None,
    status: int,
    moments: dict[str, tuple[int, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    offset, time_ms = moments[moment or "end"]
    places = [] if moment is None else [str(offset), iso(time_ms)]
    if moment in ("well", "fenced"):
        places.append(iso(time_ms + 30_000))
    if moment == "fenced":
        places.append(
            f"{datetime.fromtimestamp(time_ms // 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
        )  # as it is printed
    if source[0] == "--history":
        del places[1:2]
    for flags in [["--as-of", place] for place in places] or [[]]:
        arguments = ["explain", "partition", "solo-0", *source, *flags, "--output", "json"]
        assert kraftctl(arguments) == status, capsys.readouterr()
        found = json.loads(capsys.readouterr().out)
        assert (found["end_offset"], found["last_record_ms"]) == (offset + 1, time_ms)
        assert found["subject"] == "partition solo-0"


@pytest.mark.parametrize("source", SOURCES)
def test_within_a_batch_the_whole_batch_counts(
    source: list[str],
    moments: dict[str, tuple[int, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No node ever was in between: here a broker is fenced, and leads in the record before that."""
    monkeypatch.chdir(tmp_path)
    end = moments["fenced"][0]
    command = ["explain", "partition", "solo-0", *source, "--as-of"]
    assert kraftctl([*command, str(end)]) == 10
    whole = capsys.readouterr().out
    assert kraftctl([*command, str(end - 1)]) == 10
    assert capsys.readouterr().out == whole.rstrip("\n") + (
        f"; offset {end - 1} is within a batch, which counts as a whole\n"
    )


@pytest.mark.parametrize("source", SOURCES)
def test_a_place_that_is_not_in_the_log_is_not_known(
    source: list[str],
    moments: dict[str, tuple[int, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    end, end_ms = moments["end"]
    for place in (str(end + 1), iso(end_ms + 1), "2026-01-01T00:00:00Z"):
        assert kraftctl(["explain", "quorum", *source, "--as-of", place]) == 1
        assert "is not known: " in capsys.readouterr().err, place


@pytest.mark.parametrize("place", ["yesterday", "2026-01-01T00:00:00", "-1"])
def test_what_is_no_place_is_a_wrong_argument(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        kraftctl(["explain", "quorum", "--directory", "d", f"--as-of={place}"])
    assert ended.value.code == 2
    assert "argument --as-of: " in capsys.readouterr().err


def test_a_running_quorum_has_no_past(capsys: pytest.CaptureFixture[str]) -> None:
    assert kraftctl(["explain", "quorum", "--bootstrap-controllers", "h:1", "--as-of", "5"]) == 1
    assert "--as-of is for --directory and --history" in capsys.readouterr().err


def test_tables_that_are_none_have_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kraftctl(["explain", "quorum", "--history", str(tmp_path)]) == 1
    assert "holds no tables of kraftctl-export" in capsys.readouterr().err


def records(batches: Iterator[RecordBatch]) -> list[tuple[object, ...]]:
    return [
        (record.offset, record.timestamp_ms, batch.header.partition_leader_epoch, record.key, record.value)
        for batch in batches
        for record in batch.records
    ]


def test_the_files_have_the_records_of_the_controller(tmp_path: Path) -> None:
    """After a gap, the tables continue with a snapshot: before it, nothing is known."""
    node = LogDirectory(tmp_path / "node", segment_bytes=1024)
    tables, before, after = tmp_path / "tables", tmp_path / "before", tmp_path / "after"
    node.append(20)
    node.append_voters([3000])
    export_directory(node.path, tables)
    node.append(100, epoch=2)
    node.checkpoint(90, 2, voters=[3000])
    node.clean_before(90)
    node.append(10, epoch=3)
    export_directory(node.path, tables)
    reader = DirectoryReader(node.path, assume_committed=True)
    snapshot = reader.position(0, 0).snapshot
    assert snapshot is not None
    assert snapshot.offset == 90

    log = ["log", "--output", str(tables)]
    assert kraftctl_export([*log, "--to", str(after)]) == 0
    copy = DirectoryReader(after, assume_committed=True)
    assert copy.cluster_id() == CLUSTER_ID
    position = copy.position(0, 0)
    assert (position.snapshot, position.high_watermark) == (snapshot, node.end_offset)
    wanted = [each for each in records(reader.read(90, 2, node.end_offset)) if each[0] >= 90]  # type: ignore[operator]
    assert records(copy.read(90, 2, node.end_offset)) == wanted
    assert records(copy.read_snapshot(snapshot)) == records(reader.read_snapshot(snapshot))

    assert kraftctl_export([*log, "--to", str(before), "--as-of", "12"]) == 0
    first = records(DirectoryReader(before, assume_committed=True).read(0, 1, 13))
    assert [each[0] for each in first] == list(range(15)), "offset 12 is within a batch"
    assert kraftctl_export([*log, "--to", str(tmp_path / "gap"), "--as-of", "50"]) == 2
    assert not (tmp_path / "gap").exists()
    assert kraftctl_export([*log, "--to", str(after)]) == 2, "it exists"
    node.close()


def test_a_directory_is_of_the_process_that_made_it(tmp_path: Path) -> None:
    """It is made before the wait for a compaction: a second process is refused, and deletes nothing."""
    node = LogDirectory(tmp_path / "node")
    node.append(20)
    export_directory(node.path, tmp_path / "tables")
    node.close()
    to = tmp_path / "new" / "log"
    command = ["log", "--output", str(tmp_path / "tables"), "--to", str(to)]
    with ThreadPoolExecutor(1) as pool:
        with Output(tmp_path / "tables").compacting(wait=True):
            first = pool.submit(kraftctl_export, command)
            deadline = time.monotonic() + WAIT_SECONDS_MAX
            while not to.exists():
                assert time.monotonic() < deadline
                wait([first], timeout=0.01)
            assert kraftctl_export(command) == 2
            assert to.exists()
        assert first.result() == 0
    assert records(DirectoryReader(to, assume_committed=True).read(0, 1, 20))
    assert kraftctl_export([*command, "--as-of", "99"]) == 2
    assert to.exists(), "it is not of this process"


def test_a_control_record_whose_key_cannot_be_decoded_stays_undecodable(tmp_path: Path) -> None:
    node = LogDirectory(tmp_path / "node")
    node.append(3)
    batch = bytearray(encode_batch(node.end_offset, 1, 1000, [b"no key"]))
    batch[ATTRIBUTES_POSITION + 1] |= CONTROL_BIT
    node.log.append(with_checksum(bytes(batch)))
    node.append(3)
    export_directory(node.path, tmp_path / "tables")
    node.close()
    log = ["log", "--output", str(tmp_path / "tables"), "--to", str(tmp_path / "log")]
    assert kraftctl_export(log) == 0
    export_directory(tmp_path / "log", tmp_path / "again")
    for tables in (tmp_path / "tables", tmp_path / "again"):
        types = read_table(tables, "records").column("type").to_pylist()
        assert types == [*["NoOpRecord"] * 3, "Undecodable", *["NoOpRecord"] * 3]
    status = kraftctl(["explain", "quorum", "--directory", str(tmp_path / "node")])
    assert kraftctl(["explain", "quorum", "--directory", str(tmp_path / "log")]) == status
