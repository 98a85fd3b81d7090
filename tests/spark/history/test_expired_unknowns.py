"""What was not understood and has expired stays unknown: a history is cut back to later offsets alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.tables import expiry
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.progress import progress
from tests.spark.earlier_release import DECODER, forget
from tests.spark.expired_tables import expire
from tests.spark.history.test_cut_back import decode_again
from tests.spark.history.test_not_understood import KNOWN, LATER, frames, history_of, rows_of
from tests.spark.rewritten import rewrite

CONTROLLER = frames([RegisterControllerRecord(7)])
CONFIG = frames([ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="1")])
AGE = "1d"
"""All records are of 1970."""


def forgotten(tmp_path: Path, parts: list[list[bytes]], last_by: str = DECODER) -> tuple[Path, Path]:
    """The tables and the history of a release that does not know controllers; another may write the last
    batch.
    """
    history_of(tmp_path, parts)
    raw, output = tmp_path / "raw", tmp_path / "again"
    forget(raw, RegisterControllerRecord, "unknown version")
    end = Output(raw).position().offset
    rewrite(raw, lambda one: replace(one, decoder=last_by) if one.end == end else one)
    HistoryTables(raw, output).catch_up()
    return raw, output


def expire_by_that_release(raw: Path, output: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expiry, "is_due", lambda batch: False)
        assert expire(raw, AGE, "--execute", "--history", str(output)) == 0


def test_this_release_decodes_them_first(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    raw, output = forgotten(tmp_path, [frames(KNOWN), CONTROLLER, frames(LATER)])
    flags = AGE, "--execute", "--history", str(output)
    assert expire(raw, *flags) == 2
    assert "kraftctl-export compact decodes them again" in caplog.text
    assert Output(raw).raw_start == 0


def test_a_history_that_would_be_computed_again_is_not_enough(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    raw, output = forgotten(tmp_path, [frames(KNOWN), CONTROLLER, frames(LATER)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kraftctl_spark.tables.compaction.RECORDS_PER_MERGE", 1)
        decode_again(raw)
    assert expire(raw, AGE, "--execute", "--history", str(output)) == 2
    assert "were decoded again: kraftctl-export history" in caplog.text
    HistoryTables(raw, output).catch_up()
    assert expire(raw, AGE, "--execute", "--history", str(output)) == 0


def test_it_stays_unknown_and_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The last batch has such a record, too, which is decoded again: nothing is computed again for it."""
    parts = [frames(KNOWN), CONTROLLER, CONTROLLER + frames(LATER)]
    raw, output = forgotten(tmp_path, parts, last_by="that of a later release")
    expire_by_that_release(raw, output)
    expired = progress(Output(raw)).expired
    assert expired is not None
    assert expired["unknown"] == 1
    before = {table: rows_of(output, table) for table in SCHEMAS}
    decode_again(raw)
    assert progress(Output(raw)).unknown == 0
    HistoryTables(raw, output).catch_up()
    HistoryTables(raw, output).merge()
    assert "the history stays as it is, and what it does not know stays unknown" in caplog.text
    assert {table: rows_of(output, table) for table in SCHEMAS} == before
    assert before["not_known"] != []


def test_what_is_behind_it_is_computed_again(tmp_path: Path) -> None:
    """Where only later records were not understood, the history becomes what it is without any loss."""
    raw, output = forgotten(tmp_path, [frames(KNOWN), CONFIG, CONTROLLER + frames(LATER)])
    expire_by_that_release(raw, output)
    decode_again(raw)
    HistoryTables(raw, output).catch_up()
    for table in SCHEMAS:
        assert rows_of(output, table) == rows_of(tmp_path / "history", table), table
