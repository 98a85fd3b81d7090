"""Every question has the answer that it had before records expired, or one about the same state."""

from __future__ import annotations

import random
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pyarrow.compute as pc
import pytest

from kraftctl_spark.history.log_files import PastPlace
from kraftctl_spark.history.past_point import past_point
from kraftctl_spark.history.questions.dialects import EXAMPLES
from kraftctl_spark.history.questions.questions import parameters_of, sources
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.versions.events import GAP_BEGINS
from kraftctl_spark.report.header import page_header
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.restore.past_state import PastState, past_state
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from tests.spark.compared_rows import compare_rows
from tests.spark.expired_tables import expire, time_behind
from tests.spark.history.asked import in_duckdb
from tests.spark.history.asked_macros import QUESTIONS, in_plain_numbers, time_text, with_macros
from tests.spark.history.test_documented_questions import events_of, of_this_log
from tests.spark.history.test_versions import Tables, gappy, history, whole
from tests.spark.metadata_histories import History

__all__ = ["gappy", "history", "whole"]

POINTS = 20
KINDS = {"whole": 3, "gappy": 3}
"""The batches that go: of the log with gaps, one of these is a snapshot."""

OF_RECORDS = {"record_types"}
"""The parts of a report that are about the records themselves."""


@pytest.fixture(params=KINDS)
def before(request: pytest.FixtureRequest) -> Tables:
    found: Tables = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def after(before: Tables, request: pytest.FixtureRequest, tmp_path: Path) -> Tables:
    raw = shutil.copytree(before.raw, tmp_path / "raw")
    time = time_behind(raw, KINDS[request.node.callspec.params["before"]])
    assert expire(raw, time, "--execute", "--history", str(before.versions)) == 0
    assert Output(raw).raw_start > 150
    return replace(before, raw=raw)


def test_questions_views_and_macros(before: Tables, after: Tables, tmp_path: Path) -> None:
    values = {name: value for name, (_, value) in EXAMPLES.items()}
    values |= {"as_of": 120, "from_offset": 20, "to_offset": 140, "batch_offset": 40, "of_topic": "a.2"}
    with in_duckdb(before.versions) as asked:
        answers = {
            name: asked.rows(name, **{one: values[one] for one in parameters_of(name)}) for name in sources()
        }
    with in_duckdb(after.versions) as asked:
        for name, rows in answers.items():
            compare_rows(name, asked.rows(name, **{one: values[one] for one in parameters_of(name)}), rows)
    scratch = [tmp_path / "before.d", tmp_path / "after.d"]
    for one in scratch:
        one.mkdir()
    with (
        with_macros(before.raw, before.versions, scratch[0]) as earlier,
        with_macros(after.raw, after.versions, scratch[1]) as later,
    ):
        events = events_of(earlier)
        for question in (one for one in QUESTIONS if " who" not in one):
            text = of_this_log(question, events)
            compare_rows(text, in_plain_numbers(later.rows(text)), in_plain_numbers(earlier.rows(text)))


def test_the_offset_of_a_time(before: Tables, after: Tables, history: History, tmp_path: Path) -> None:
    """It is the same, or there is no event between the two."""
    events = read_versions(before.versions, "events")
    changed = set(events.filter(pc.not_equal(events["kind"], GAP_BEGINS))["offset"].to_pylist())
    times = sorted(set(history.times.values()))
    asked_ms = [times[0] - 1, *(time + add for time in times[::3] for add in (0, 1)), times[-1] + 1]
    scratch = [tmp_path / "before.d", tmp_path / "after.d"]
    for one in scratch:
        one.mkdir()
    others = 0
    with (
        with_macros(before.raw, before.versions, scratch[0]) as earlier,
        with_macros(after.raw, after.versions, scratch[1]) as later,
    ):
        for time_ms in asked_ms:
            was = earlier.value(f"offset_at({time_text(time_ms)})")
            found = later.value(f"offset_at({time_text(time_ms)})")
            if found == was:
                continue
            others += 1
            assert isinstance(found, int), time_ms
            assert isinstance(was, int), time_ms
            assert found < was < Output(after.raw).raw_start
            assert not changed & set(range(found + 1, was + 1))
    assert others > 0


def known(tables: Tables, place: PastPlace) -> PastState | None:
    """The state there; None where it is refused."""
    try:
        point = past_point(tables.raw, Output(tables.raw).manifests(), place, tables.versions)
        return past_state(tables.versions, point)
    except ExportRefusedError:
        return None


def test_the_state_to_restore(before: Tables, after: Tables, history: History) -> None:
    rng = random.Random(1)
    offsets = [PastPlace(offset=one) for one in rng.sample(range(history.end), POINTS)]
    times = [PastPlace(time_ms=one) for one in rng.sample(sorted(set(history.times.values())), POINTS)]
    states = 0
    for place in (*offsets, *times, PastPlace()):
        was, found = known(before, place), known(after, place)
        if was is None:
            assert found is None or found.unknown, place
        else:
            assert found is not None, place
            assert (found.state, found.unknown) == (was.state, was.unknown), place
            states += 1
    assert states > POINTS


@pytest.mark.parametrize("until", [None, 100], ids=["whole", "an-old-period"])
def test_the_report(before: Tables, after: Tables, history: History, until: int | None) -> None:
    until_ms = None if until is None else history.times[until]
    was, found = (fetch(one.raw, one.versions, None, until_ms) for one in (before, after))
    for field in fields(was):
        if field.name != "header" and field.name not in OF_RECORDS:
            assert getattr(found, field.name) == getattr(was, field.name), field.name
    raw_start = Output(after.raw).raw_start
    assert found.header.raw_start == raw_start
    assert found.header.records < was.header.records
    gone = f"those before offset {raw_start:,} have expired"
    assert gone in page_header(found, "now")
    assert gone not in page_header(was, "now")
