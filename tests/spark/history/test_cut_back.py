"""Once records have been decoded again, a history continues where they had not been understood."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.message import Message
from kraftctl_spark.history.history_manifest import read_manifest
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from tests.spark.earlier_release import forget
from tests.spark.history.test_never_set import NEVER_SET
from tests.spark.history.test_not_understood import (
    KNOWN,
    LATER,
    UNKNOWN_TYPE,
    continued_to,
    exported,
    frames,
    history,
    history_of,
    later_version,
    rows_of,
    types_with_a_table,
)
from tests.spark.metadata_histories import History
from tests.spark.rewritten import rewrite_history

__all__ = ["exported", "history"]

REASONS = ("unknown type", "unknown version", "undecodable")


def decode_again(raw: Path) -> None:
    with Output(raw).compacting(wait=True):
        compact(Output(raw), grace_ms=0)


def first_not_known(output: Path) -> int:
    return int(min(read_versions(output, "not_known").column("start_offset").to_pylist()))


def files_of(output: Path) -> dict[str, bytes]:
    manifest = read_manifest(output)
    assert manifest is not None
    return {file.path: (output / file.path).read_bytes() for file in manifest.files}


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_before_it_is_not_computed_again(
    tmp_path: Path, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    history_of(tmp_path, [frames(KNOWN), frames(LATER), frames([RegisterControllerRecord(7)]), frames(LATER)])
    raw, output, at = tmp_path / "raw", tmp_path / "again", len(KNOWN) + len(LATER)
    forget(raw, RegisterControllerRecord, reason)
    continued_to(raw, output, (len(KNOWN), at, at + 2))
    assert first_not_known(output) == at
    (before,) = (output / "partitions").glob("0*-00000000000000000003.parquet")
    inode = before.stat().st_ino
    decode_again(raw)
    caplog.set_level("INFO")
    HistoryTables(raw, output).catch_up()
    assert f"the history is computed again from offset {at} on" in caplog.text
    assert before.stat().st_ino == inode
    for table in SCHEMAS:
        assert rows_of(output, table) == rows_of(tmp_path / "history", table), table


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("message", types_with_a_table())
def test_it_has_the_bytes_of_one_that_is_computed_from_the_start(
    exported: Path, history: History, tmp_path: Path, message: type[Message], reason: str
) -> None:
    raw, output, anew = tmp_path / "raw", tmp_path / "history", tmp_path / "anew"
    shutil.copytree(exported / "raw", raw)
    forget(raw, message, reason)
    continued_to(raw, output, (60, 120, history.end))
    decode_again(raw)
    HistoryTables(raw, output).catch_up()
    HistoryTables(raw, output).merge()
    HistoryTables(raw, anew).rebuild()
    assert files_of(output) == files_of(anew)


def test_where_a_count_spans_it_everything_is_computed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """How many records about a thing that was never set came before it, is not in the tables."""
    never_set = frames([NEVER_SET[0][0]])
    history_of(tmp_path, [frames(KNOWN), never_set, frames([RegisterControllerRecord(7)]), never_set])
    raw, output = tmp_path / "raw", tmp_path / "again"
    forget(raw, RegisterControllerRecord, "unknown version")
    HistoryTables(raw, output).catch_up()
    decode_again(raw)
    caplog.set_level("INFO")
    HistoryTables(raw, output).catch_up()
    assert "the history is computed again from offset 0 on" in caplog.text
    assert rows_of(output, "not_known") == rows_of(tmp_path / "history", "not_known")


def test_a_history_of_a_release_that_ended_everything_is_computed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was right, but knew too little."""
    parts = [frames(KNOWN), [later_version(RegisterControllerRecord.API_KEY)], frames(LATER)]
    history_of(tmp_path / "now", parts)
    earlier = history_of(tmp_path / "earlier", [parts[0], [UNKNOWN_TYPE], parts[2]])
    manifest = read_manifest(earlier)
    assert manifest is not None
    (file,) = manifest.of("not_known", still_open=True)
    rows = pq.read_table(earlier / file.path).to_pylist()
    changed = [
        row | {"reason": "unknown version", "subject": "RegisterControllerRecord version 99"} for row in rows
    ]
    pq.write_table(pa.Table.from_pylist(changed, SCHEMAS["not_known"]), earlier / file.path)
    rewrite_history(earlier)
    caplog.set_level("INFO")
    tables = HistoryTables(tmp_path / "now" / "raw", earlier)
    tables.catch_up()
    assert f"some tables: the history is computed again from offset {len(KNOWN)} on" in caplog.text
    for table in SCHEMAS:
        assert rows_of(earlier, table) == rows_of(tmp_path / "now" / "history", table), table
    caplog.clear()
    HistoryTables(tmp_path / "now" / "raw", earlier).catch_up()
    assert "computed again" not in caplog.text
