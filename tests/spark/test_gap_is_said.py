"""A part of the log that was deleted before it was exported: a warning, and a line of the status."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch
from kraftctl_spark import cli
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.progress import progress
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import NO_OP, batches_of, exporting

UNKNOWN_TYPE = bytes([1, 120, 3, 0])
HEADER = SnapshotHeaderRecord(last_contained_log_timestamp=1000)


def test_a_gap_is_a_warning_and_a_line_of_the_status(
    controller: FakeController,
    quorum: FakeQuorum,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    raw, history = tmp_path / "raw", tmp_path / "history"
    tables = HistoryTables(raw, history)
    quorum.append(*batches_of(dict.fromkeys(range(10), NO_OP), size=5))
    with exporting(raw, controller.endpoint) as exporter:
        exporter.export_to(10, 1)
        tables.catch_up()
        assert not [one for one in caplog.records if one.levelname == "WARNING"]
        quorum.batches = batches_of(dict.fromkeys(range(20, 30), NO_OP), size=5)
        quorum.log_start_offset, quorum.snapshot, quorum.high_watermark = 20, (20, 1), 30
        controls = [encode_control_record(one) for one in (HEADER, SnapshotFooterRecord())]
        quorum.snapshot_bytes = encode_control_batch(0, 1, 1000, controls)
        exporter.export_to(30, 1)
        tables.catch_up()
    warnings = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert warnings == [
        "a snapshot replaces offsets 10 to 19, which were deleted before they were exported",
        "the history has a gap from offset 10 to 19: what changed there is not known",
    ]
    assert progress(Output(raw)).gaps == [(10, 20)]
    assert cli.main(["status", "--output", str(raw)]) == 0
    assert "gaps             offsets 10 to 19\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("in_snapshot", "known", "ends"),
    [
        pytest.param(NO_OP, [(0, 5), (19, 30)], [19], id="understood"),
        pytest.param(UNKNOWN_TYPE, [(0, 5), (19, 19)], [19, None], id="not-understood"),
    ],
)
def test_a_snapshot_says_everything_again_if_all_of_it_is_understood(
    controller: FakeController,
    quorum: FakeQuorum,
    tmp_path: Path,
    in_snapshot: bytes,
    known: list[tuple[int, int]],
    ends: list[int | None],
) -> None:
    raw, history = tmp_path / "raw", tmp_path / "history"
    tables = HistoryTables(raw, history)
    quorum.append(*batches_of(dict.fromkeys(range(10), NO_OP) | {5: UNKNOWN_TYPE}, size=5))
    with exporting(raw, controller.endpoint) as exporter:
        exporter.export_to(10, 1)
        tables.catch_up()
        quorum.batches = batches_of(dict.fromkeys(range(20, 30), NO_OP), size=5)
        quorum.log_start_offset, quorum.snapshot, quorum.high_watermark = 20, (20, 1), 30
        header, footer = (encode_control_record(one) for one in (HEADER, SnapshotFooterRecord()))
        quorum.snapshot_bytes = b"".join(
            [
                encode_control_batch(0, 1, 1000, [header]),
                encode_batch(1, 1, 1000, [in_snapshot]),
                encode_control_batch(2, 1, 1000, [footer]),
            ]
        )
        exporter.export_to(30, 1)
        tables.catch_up()
    ranges = read_versions(history, "known_ranges").to_pylist()
    assert [(row["start_offset"], row["end_offset"]) for row in ranges] == known
    assert read_versions(history, "not_known").column("end_offset").to_pylist() == ends
    anew = tmp_path / "anew"
    HistoryTables(raw, anew).rebuild()
    for table in ("known_ranges", "not_known", "events"):
        assert read_versions(anew, table).to_pylist() == read_versions(history, table).to_pylist()
