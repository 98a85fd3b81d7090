"""Every metadata record type in every part of the exporter: rows, history, events, views, difference, report.

As `test_service.py`: a new type is tried by itself, and what leaves it out has a reason in its row.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, read_batch
from kraftctl_protocol.record_types import HISTORY, NOTHING, RECORD_TYPES_BY_NAME, TIMELINE, RecordType
from kraftctl_spark.history.partitions.steps import Step, schema_of
from kraftctl_spark.history.questions.questions import sources
from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import EVENTS
from kraftctl_spark.history.stage import HistoryStage
from kraftctl_spark.history.versions.events import GAP_BEGINS
from kraftctl_spark.history.versions.kinds import KINDS, QUORUM, Kind
from kraftctl_spark.history.versions.versions import GAP
from kraftctl_spark.report.queries import timeline
from kraftctl_spark.rows.metadata_rows import CONTROL_RECORD_CLASSES, MetadataRows
from kraftctl_spark.rows.record_names import column_name, field_name
from kraftctl_spark.rows.tables import RECORDS, encode_tables
from kraftctl_spark.views.difference import difference
from kraftctl_spark.views.log import LogHistory
from kraftctl_spark.views.registration import STATE_VIEWS
from tests.record_types.examples import ALL_TYPES, example, records_before, with_another
from tests.record_types.examples import BY_NAME as TYPES_BY_NAME
from tests.support.metadata_row import struct_value

EVERY_TYPE = pytest.mark.parametrize("message", ALL_TYPES, ids=[message.NAME for message in ALL_TYPES])
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])

CLUSTER = "cluster"

KINDS_BY_NAME = {kind.name: kind for kind in KINDS}


def row_of(message: type[Message]) -> RecordType:
    """KeyError for a type that has no row."""
    return RECORD_TYPES_BY_NAME[message.NAME]


def tables_of(records: list[Message], first_offset: int = 0) -> dict[str, pa.Table]:
    """The typed tables of consecutive records, a batch."""
    values = [encode_metadata_record(record, record.HIGHEST_VERSION) for record in records]
    rows = MetadataRows()
    rows.add(read_batch(encode_batch(first_offset, 1, 1_000, values), 0))
    return encode_tables(rows, CLUSTER)


def step_of(records: list[Message], first_offset: int = 0) -> Step:
    """The same as the stage of the history takes it."""
    tables = {}
    for name, table in tables_of(records, first_offset).items():
        if name in COLUMNS:
            names = ("offset", "offset", "timestamp", "batch_offset", *COLUMNS[name])
            columns = [table.column(one) for one in names]
            arrays = [column.cast(field.type) for column, field in zip(columns, schema_of(name), strict=True)]
            tables[name] = pa.Table.from_arrays(arrays, schema=schema_of(name))
    return Step(tables, False)


def happened(message: type[Message], record: Message) -> dict[str, pa.Table]:
    """What the record ended and began in a history, and its events."""
    before = records_before(message)
    stage = HistoryStage(CLUSTER)
    stage.apply(step_of(before))
    stage.take()
    stage.apply(step_of([record], len(before)))
    stage.end_at_gap(len(before) + 1, None)  # what is open is among the rows, too
    rows = stage.take().rows()
    rows[EVENTS] = rows[EVENTS].filter(pc.not_equal(rows[EVENTS].column("kind"), GAP_BEGINS))
    return rows


@cache
def of_example(name: str) -> dict[str, pa.Table]:
    """What the example of a type ended and began, and its events."""
    message = TYPES_BY_NAME[name]
    return happened(message, example(message))


@EVERY_TYPE
def test_it_has_a_typed_table_with_every_field(message: type[Message]) -> None:
    record = example(message)
    tables = tables_of([record])
    assert tables[RECORDS].column("type").to_pylist() == [message.NAME]
    if not message.FIELDS:
        assert list(tables) == [RECORDS]
        return
    (row,) = tables[column_name(message)].to_pylist()
    fields = {field_name(field): row[field_name(field)] for field in message.FIELDS}
    assert fields == struct_value(message, record, message.HIGHEST_VERSION)


@EVERY_TYPE
def test_the_history_takes_every_field(message: type[Message]) -> None:
    if row_of(message).effect == NOTHING:
        assert column_name(message) not in COLUMNS
        return
    fields = {field_name(field) for field in message.FIELDS}
    ignored = row_of(message).fields_left_out(HISTORY)
    assert set(COLUMNS[column_name(message)]) == fields - ignored


@EVERY_TYPE
def test_every_field_matters_to_the_history(message: type[Message]) -> None:
    if row_of(message).effect == NOTHING:
        return
    expected = of_example(message.NAME)
    for field in message.FIELDS:
        if field.name in row_of(message).fields_left_out(HISTORY):
            continue
        found = None
        with contextlib.suppress(AssertionError):  # what it refers to is not there
            found = happened(message, with_another(message, field))
        assert found != expected, field.name


@EVERY_TYPE
def test_the_history_has_an_event_of_it(message: type[Message]) -> None:
    found = of_example(message.NAME)[EVENTS]
    assert (found.num_rows == 0) == (row_of(message).effect == NOTHING)


@cache
def engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@EVERY_TYPE
def test_the_report_has_a_mark_for_it(message: type[Message]) -> None:
    events = of_example(message.NAME)[EVENTS]
    if row_of(message).effect == NOTHING:
        return
    marks = engine().from_arrow(events).project(timeline._ROW).fetchall()
    assert any(mark is not None for (mark,) in marks) != (row_of(message).leaves_out(TIMELINE))


@EVERY_KIND
def test_a_kind_is_what_some_record_sets(kind: Kind) -> None:
    """Of control records, the quorum."""
    if kind.name == "quorum":
        assert {column_name(one) for one in CONTROL_RECORD_CLASSES} & set(COLUMNS) == {
            column_name(one) for one in (LeaderChangeMessage, VotersRecord, KRaftVersionRecord)
        }
        return
    set_by = {message.NAME for message in ALL_TYPES if kind.name in changed_kinds(message)}
    assert set_by, kind.name


def changed_kinds(message: type[Message]) -> set[str]:
    """In which tables of versions something begins or ends with the example."""
    offset = len(records_before(message))
    rows = of_example(message.NAME)
    names = [kind.name for kind in KINDS]
    return {
        name
        for name in names
        if offset in rows[name].column("valid_from_offset").to_pylist() + ended_at(rows[name], offset)
    }


def ended_at(rows: pa.Table, offset: int) -> list[int]:
    by_record = rows.filter(pc.not_equal(rows.column("ended_by"), GAP))
    return [one for one in by_record.column("valid_to_offset").to_pylist() if one == offset]


@EVERY_KIND
def test_the_page_about_the_history_lists_it(kind: Kind) -> None:
    page = (Path(__file__).parents[2] / "spark" / "HISTORY.md").read_text()
    key = ", ".join(f"`{name}`" for name in kind.key)
    assert f"\n| `{kind.name}` | {key}{' ' if key else ''}| " in page


@EVERY_KIND
def test_a_kind_is_compared_and_shown_or_said_to_be_left_out(kind: Kind) -> None:
    left_out_by = kind == QUORUM  # who leads is no metadata: the view quorum_changes shows it
    assert (is_compared(kind.name), is_shown(kind.name)) == (not left_out_by, not left_out_by)


@EVERY_TYPE
def test_a_difference_compares_what_it_changes(message: type[Message]) -> None:
    changed = changed_kinds(message)
    assert (not changed) == (row_of(message).effect == NOTHING)
    assert all(is_compared(kind) for kind in changed)


@EVERY_TYPE
def test_a_view_of_the_state_shows_what_it_changes(message: type[Message]) -> None:
    changed = changed_kinds(message)
    assert (not changed) == (row_of(message).effect == NOTHING)
    assert all(is_shown(kind) for kind in changed)


STATE = LogHistory((), as_of=3)


def is_compared(kind: str) -> bool:
    """With all its values."""
    sql = difference(STATE, replace(STATE, as_of=5))
    if f"'{kind}' AS view" not in sql:
        return False
    fields = set(re.findall(r"'(\w+)' AS field", sql))
    assert fields.issuperset(KINDS_BY_NAME[kind].values)
    return True


def is_shown(kind: str) -> bool:
    """With all its key and values."""
    if kind not in STATE_VIEWS:
        return False
    found = set(re.findall(r"\w+", sources()[STATE_VIEWS[kind]]))
    assert found.issuperset((*KINDS_BY_NAME[kind].key, *KINDS_BY_NAME[kind].values))
    return True
