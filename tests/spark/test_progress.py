"""The output of `kraftctl-export status`, before and after files were merged."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.cli import main
from kraftctl_spark.tables.commit_log import COMMITS
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.progress import HOUR_MS, Progress, TableProgress, progress
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.typed_export import ABORT, BEGIN, batches_of, exporting, mixed_value

UNKNOWN_TYPE = bytes([1, 120, 3, 0])
UNKNOWN_VERSION = bytes([1, 2, 77, 0])
"""A TopicRecord of a future version."""
DAMAGED = b"\x07nonsense"
SECRET = encode_metadata_record(
    UserScramCredentialRecord(name="u", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"k"), 0
)


@pytest.fixture
def exported(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> Output:
    """A snapshot instead of offsets 0 to 19, then two batches; 7 records of the log are not exported."""
    values = {offset: mixed_value(offset) for offset in range(20, 67)}
    values |= {25: BEGIN, 30: ABORT, 40: UNKNOWN_TYPE, 41: UNKNOWN_TYPE, 42: UNKNOWN_VERSION, 43: DAMAGED}
    values |= {50: SECRET}
    quorum.log_start_offset = 20
    quorum.snapshot = (20, 1)
    quorum.snapshot_bytes = encode_batch(0, 1, 5, [mixed_value(offset) for offset in range(3)])
    quorum.append(*batches_of(values))
    directory = tmp_path / "tables"
    with exporting(directory, controller.endpoint) as exporter:
        exporter.export_to(45, 1)
    with exporting(directory, controller.endpoint, include_secrets=True) as exporter:
        exporter.export_to(49, 1)
    with exporting(directory, controller.endpoint) as exporter:
        exporter.export_to(60, 1)
    return Output(directory)


def from_files(output: Output) -> dict[str, TableProgress]:
    """The same from the files in the directory."""
    found: dict[str, TableProgress] = {}
    for path in output.directory.glob("[!_]*/*.parquet"):
        rows = pq.ParquetFile(path).metadata.num_rows
        found.setdefault(path.parent.name, TableProgress()).add(rows, path.stat().st_size)
    return found


def assert_reports_the_truth(found: Progress, output: Output) -> None:
    assert (found.cluster_id, found.offset, found.epoch) == (CLUSTER_ID, 60, 1)
    assert (found.high_watermark, found.lag_records) == (67, 7)
    assert found.last_timestamp_ms == 1000 + 55, "batches of 7, each of one time"
    assert (found.unknown, found.unknown_types) == (3, {"120/3": 2, "2/77": 1})
    records = read_table(output.directory, "records")
    assert found.undecodable == records.column("type").to_pylist().count("Undecodable") == 1
    assert found.redacted == sum(records.column("redacted").to_pylist()) > 0
    assert found.aborted == sum(records.column("aborted").to_pylist()) == 4
    assert found.snapshots == [(0, 20)]
    assert found.missing == []
    assert found.with_secrets == [(45, 49)]
    assert found.batches == 4
    assert found.tables == from_files(output)
    assert found.total.rows == sum(table.rows for table in found.tables.values())
    assert found.total.files == sum(table.files for table in found.tables.values())


def test_status_of_tables(exported: Output) -> None:
    found = progress(exported)
    assert_reports_the_truth(found, exported)
    assert (found.manifests, found.batches_last_hour) == (4, 4)
    assert found.last_commit_at_ms == max(one.committed_at_ms for one in exported.manifests())
    assert found.lag_ms == found.last_commit_at_ms - 1055
    later = progress(exported, found.last_commit_at_ms + HOUR_MS)
    assert later.batches_last_hour == 0
    assert later.since_last_commit_ms == HOUR_MS


def test_status_after_a_compaction(exported: Output) -> None:
    """Rows with secrets are not merged with redacted ones."""
    before = progress(exported)
    with_old_files = from_files(exported)
    compact(exported, HOUR_MS)
    with_grace = progress(exported)
    assert with_grace.last_commit_at_ms == before.last_commit_at_ms, "a merge is no news"
    assert with_grace.batches_last_hour == before.batches_last_hour
    assert from_files(exported) == with_old_files, "nothing stood side by side that could be merged"
    assert_reports_the_truth(with_grace, exported)


@pytest.mark.parametrize("grace_ms", [0, HOUR_MS], ids=["at-once", "with-grace"])
def test_merged_batches_are_counted(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, grace_ms: int
) -> None:
    """A merge is not a new batch, even when nothing is left of the merged ones."""
    quorum.append(*batches_of({offset: mixed_value(offset) for offset in range(60)}))
    for end in (20, 40, 60):
        with exporting(tmp_path, controller.endpoint) as exporter:
            exporter.export_to(end, 1)
    before = progress(Output(tmp_path))
    compact(Output(tmp_path), grace_ms)
    after = progress(Output(tmp_path))
    assert (before.manifests, after.manifests) == (3, 1)
    assert (after.batches, after.batches_last_hour) == (3, 3)
    assert after.last_commit_at_ms == before.last_commit_at_ms
    assert after.total.rows == before.total.rows
    assert before.last_commit_at_ms is not None
    later = progress(Output(tmp_path), before.last_commit_at_ms + HOUR_MS)
    assert (later.batches_last_hour, later.since_last_commit_ms) == (0, HOUR_MS)


def test_status_from_the_command_line(
    exported: Output, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", "--output", str(exported.directory)]) == 0
    text = capsys.readouterr().out
    assert "offset 60, epoch 1\nhigh watermark   67," in text
    assert "unknown          3 (type/version 120/3: 2, type/version 2/77: 1)" in text
    assert "with secrets     offsets 45 to 48" in text
    assert "snapshots        offsets 0 to 19" in text
    assert main(["status", "--output", str(exported.directory), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["tables"]["records"]["rows"] == 43
    assert printed["lag_records"] == 7
    assert main(["status", "--output", str(tmp_path / "elsewhere")]) == 2


def test_status_before_the_first_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / COMMITS).mkdir()
    assert main(["status", "--output", str(tmp_path)]) == 0
    assert "nothing has been committed yet" in capsys.readouterr().out
    assert progress(Output(tmp_path)).offset == 0
