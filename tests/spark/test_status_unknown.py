"""The status says what is not known: since which offset, and until which one, as the history has it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_spark import cli
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.known_ranges import KnownRange
from kraftctl_spark.history.known_to_history import listed_of
from kraftctl_spark.history.not_known import NotKnown
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.tables.not_understood import BEHIND_WHICH_TABLES_ARE_LOST, UNDECODABLE
from tests.spark.earlier_release import forget
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.history.test_expired_unknowns import CONTROLLER, expire_by_that_release, forgotten
from tests.spark.history.test_not_understood import KNOWN, LATER, frames
from tests.spark.metadata_histories import EPOCH, History, generate
from tests.spark.typed_export import exporting

FIRST_PART = 60
CONTROLLERS = "RegisterControllerRecord version 0 since offset 3 (unknown version, 1 records): controllers"


def export_more(history: History, raw: Path, start: int, end: int) -> None:
    """Continues an export after the log before a snapshot was deleted; a start of 0 deletes nothing."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches_from(start))
    if start:
        quorum.log_start_offset = start
        quorum.snapshot, quorum.snapshot_bytes = (start, EPOCH), history.snapshots[start]
    try:
        with exporting(raw, controller.endpoint) as exporter:
            exporter.export_to(end, EPOCH)
    finally:
        controller.close()


def listed(raw: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert cli.main(["status", "--output", str(raw), "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["not_understood"]
    return found


def shown(raw: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert cli.main(["status", "--output", str(raw)]) == 0
    lines = capsys.readouterr().out.splitlines()
    return next(line for line in lines if line.startswith("not understood"))


def in_history(history: Path) -> set[tuple[Any, ...]]:
    tables: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for row in read_versions(history, "not_known").to_pylist():
        if row["reason"] in BEHIND_WHICH_TABLES_ARE_LOST:
            what = row["start_offset"], row["end_offset"], row["reason"], row["subject"], row["records"]
            tables[what].append(row["history_table"])
    return {(*what, *found) for what, found in tables.items()}


@pytest.mark.parametrize("message", [TopicRecord, RegisterBrokerRecord])
@pytest.mark.parametrize("again", [False, True])
def test_what_a_snapshot_says_again_is_not_unknown_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], message: type[Message], again: bool
) -> None:
    """Also where more of the same kind follows: that is not known since its own first record."""
    made = generate(3, 240, snapshots=(120,))
    (snapshot,) = made.snapshots
    raw = tmp_path / "raw"
    export_more(made, raw, 0, FIRST_PART)
    if not again:
        forget(raw, message, "unknown version")
    export_more(made, raw, snapshot, made.end)
    if again:
        forget(raw, message, "unknown version")
    HistoryTables(raw, raw / DIRECTORY).catch_up()
    found = [one for one in listed(raw, capsys) if one["reason"] in BEHIND_WHICH_TABLES_ARE_LOST]
    keys = ("since_offset", "until_offset", "reason", "subject", "records")
    assert {(*(one[key] for key in keys), *one["tables"]) for one in found} == in_history(raw / DIRECTORY)
    assert next(one["until_offset"] for one in found) == snapshot - 1
    assert f", until {snapshot - 1})" in shown(raw, capsys)
    assert any(one["until_offset"] is None for one in found) == again


def test_what_has_expired_is_said_since_when_it_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, _ = forgotten(tmp_path, [frames(KNOWN), CONTROLLER, frames(LATER)])
    HistoryTables(raw, raw / DIRECTORY).catch_up()
    assert shown(raw, capsys) == f"not understood   {CONTROLLERS}"
    before = listed(raw, capsys)
    expire_by_that_release(raw, raw / DIRECTORY)
    assert shown(raw, capsys) == f"not understood   {CONTROLLERS}"
    assert listed(raw, capsys) == before


def test_without_a_history_the_status_does_not_say_that_all_was_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, output = forgotten(tmp_path, [frames(KNOWN), CONTROLLER, frames(LATER)])
    expire_by_that_release(raw, output)
    assert shown(raw, capsys) == "not understood   1 records that have expired: see the history"


def test_a_kind_that_began_in_expired_records_is_listed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, _ = forgotten(tmp_path, [frames(KNOWN), CONTROLLER, frames([RegisterControllerRecord(8)])])
    HistoryTables(raw, raw / DIRECTORY).catch_up()
    expire_by_that_release(raw, raw / DIRECTORY)
    (one,) = listed(raw, capsys)
    assert (one["since_offset"], one["records"], one["tables"]) == (3, 2, ["controllers"])


def row(offset: int, table: str | None, subject: str = "undecodable record") -> NotKnown:
    return NotKnown(offset, 0, None, None, UNDECODABLE, subject, table, None, None, None, 1, "c")


@pytest.mark.parametrize(
    "rows", [[row(3, "quorum"), row(5, None)], [row(5, None), row(7, "quorum")]], ids=["before", "behind"]
)
def test_where_nothing_is_known_no_table_is(rows: list[NotKnown]) -> None:
    """A control record that cannot be decoded has the same name as a record without a type."""
    known = KnownRange(0, 0, False, 5, 0, "c")
    (one,) = listed_of(rows, [known]).values()
    assert (one["since_offset"], one["tables"]) == (rows[0].start_offset, None)


def test_behind_the_end_of_what_is_known_a_second_kind_is_not_known_either() -> None:
    known = [KnownRange(0, 0, False, 5, 0, "c"), KnownRange(20, 0, True, 30, 0, "c")]
    rows = [row(2, None, "NoOpRecord"), row(5, None, "a"), row(7, None, "b"), row(20, None, "LaterNoOp")]
    found = {one["subject"]: one["tables"] for one in listed_of(rows, known).values()}
    assert found == {"NoOpRecord": (), "a": None, "b": None, "LaterNoOp": ()}
