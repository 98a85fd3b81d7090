"""The input of `make bench-export`: a log that a controller could have written, and equal rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from kraftctl_spark.history.questions.questions import sources
from kraftctl_spark.rows.log_rows import rows_of_log
from kraftctl_spark.rows.tables import encode_tables
from kraftctl_spark.tables.table_files import RangeWriter, publish_files
from tests.bench import export_engines, export_history, export_log, export_ready
from tests.bench.processes import DRIVER, WORKERS
from tests.spark.history.asked_macros import QUESTIONS
from tests.spark.log_directory import LogDirectory

RECORDS = 6_000
CLUSTER_ID = "c0ffeec0ffeec0ffeec0ff"


def test_the_log_is_one_that_a_controller_loads() -> None:
    image = MetadataImage()
    types: Counter[str] = Counter()
    offset = 0
    for batch in read_batches(b"".join(export_log.batches(2 * RECORDS))):
        for record in batch.records:
            assert record.offset == offset
            message = decode_metadata_record(record.value or b"").record
            replay(image, message, offset)
            types[message.NAME] += offset >= RECORDS
            offset += 1
    assert offset == 2 * RECORDS
    assert 0.80 < types["PartitionChangeRecord"] / RECORDS < 0.85
    assert len(image.topics.topics) == export_log.TOPICS


def test_ready_rows_are_written_as_they_are(tmp_path: Path) -> None:
    batches = read_batches(b"".join(export_log.batches(RECORDS)))
    for first, last in ((0, 3999), (4000, RECORDS - 1)):
        with RangeWriter(tmp_path / "export", f"{first:020}-{last:020}") as writer:
            for rows in rows_of_log(batches, first, last + 1):
                writer.add(encode_tables(rows, CLUSTER_ID))
            publish_files(tmp_path / "export", writer.finish())
    ready = tmp_path / "ready"
    assert export_ready.make_ready(tmp_path / "export", ready) == RECORDS
    for way in export_ready.WAYS:
        export_ready.main(way, ready, tmp_path / way)
    for table in sorted(path.name for path in ready.iterdir()):
        expected = pa.concat_tables(
            pq.read_table(path) for path in sorted((tmp_path / "export" / table).iterdir())
        )
        files = sorted((tmp_path / "files" / table).iterdir())
        assert pa.concat_tables(pq.read_table(path) for path in files).equals(expected)
        whole = pq.ParquetFile(tmp_path / "tables" / f"{table}.parquet")
        assert whole.read().equals(expected)
        assert whole.num_row_groups == len(files)


@pytest.mark.long
def test_the_history_is_measured(tmp_path: Path) -> None:
    """Without Spark."""
    times = export_history.measure(None, tmp_path, export_history.Size(3_000, 80), lambda text: None)
    assert times.stage_us > 0
    assert times.alone_us > 0
    asked = [*sources(), *QUESTIONS]
    assert [name for _, name in times.questions_ms] == asked
    reports = ["report", "report of one hour"]
    assert [row.what for row in times.rows() if row.met] == [
        *reports,
        *(f"DuckDB: {name}" for name in asked),
    ]


@pytest.mark.slow
def test_an_engine_is_measured(tmp_path: Path) -> None:
    """The one that starts quickly."""
    log = LogDirectory(tmp_path / "log", segment_bytes=1 << 20)
    log.append(RECORDS, size=200)
    log.close()
    used = export_engines.export("local", log.path, tmp_path / "output", "--history")
    assert used.cpu_s[WORKERS] > 0
    assert used.cpu_s[DRIVER] > 0
    assert used.peak_bytes > 50_000_000
    assert used.tables_bytes == export_engines.size_of(tmp_path / "output") - used.history_bytes > 0
    assert export_engines.dumped_bytes(log.partition) > 1
