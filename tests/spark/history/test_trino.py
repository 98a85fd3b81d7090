"""The shipped SQL, run by Trino with its Hive connector: the same answers as DuckDB's.

It needs a JDK 25, and Maven fetches Trino.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from kraftctl_spark.history.questions.dialects import EXAMPLES, TABLES, TRINO
from kraftctl_spark.history.questions.files import text_of
from kraftctl_spark.history.questions.questions import parameters_of, sources
from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import Row, in_duckdb, statements
from tests.spark.history.asked_macros import QUESTIONS, in_plain_numbers, with_macros, written
from tests.spark.history.test_documented_questions import of_this_log
from tests.spark.history.test_versions import Tables, gappy, history
from tests.spark.trino.asked_in_trino import SEPARATOR, ask, hive, values_of

__all__ = ["gappy", "history"]

TIME = r"'(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z'"
FROM_TO = r"\((TIMESTAMP '[^']*'), (TIMESTAMP '[^']*')\)"
IN_WINDOW = r"date_diff('millisecond', greatest(start_time, \2), least(end_time, \3)) AS in_window_ms\1"
WORDS = {
    TIME: r"TIMESTAMP '\1 \2'",
    r"array_contains\(": "contains(",
    r"(\w+)_at\((\d+)\)": r"\1_valid WHERE \2 BETWEEN valid_from_offset AND last_offset",
    rf"in_window_ms( FROM outages{FROM_TO})": IN_WINDOW,
    rf"outages{FROM_TO}": r"outages WHERE start_time < \2 AND end_time > \1",
    rf"incident{FROM_TO}": r"events WHERE time >= \1 AND time < \2",
    r"request\((\d+)\)": r"events WHERE batch_offset = \1",
    r"(WHERE [^\n]*\n?)\s*WHERE": r"\1 AND",
    r"offset_at\((TIMESTAMP '[^']*')\)": r'(SELECT max("offset") FROM records WHERE "timestamp" <= \1)',
}
"""What QUESTIONS.md says that Trino has instead, in this order; one joins two conditions."""

WITH_MACRO = re.compile(r"FROM \w+\(")
IN_TRINO_MIN = 30
SCHEMA = "CREATE SCHEMA history"
OUT_OF_A_GAP = ("offset_at('2026-11-21T12", "offset_at('2026-11-21T10")
"""In a gap, `max("offset")` is not null, as the page says."""

NOT_IN_AN_INCIDENT = (
    *("ISR shrank", "ISR grew", "ISR shrank and grew", "ISR reordered"),
    *("ELR changed", "last known ELR changed", "producer ids changed"),
)

pytestmark = [pytest.mark.long, pytest.mark.java, pytest.mark.timeout(1200)]


def in_trinos_words(question: str) -> str:
    """As QUESTIONS.md says that it is written there."""
    for ours, trinos in WORDS.items():
        question = re.sub(ours, trinos, question)
    return question


def without_names(rows: list[Row]) -> list[Row]:
    """Trino returns a struct as its values."""
    return [{name: values_of(value) for name, value in row.items()} for row in in_plain_numbers(rows)]


def given(question: str, values: Mapping[str, object]) -> str:
    """The file of a question with other parameters than those of its example."""
    text = text_of("trino", question)
    for name in parameters_of(question):
        example = TRINO.assigned(name, EXAMPLES[name][1])
        assert text.count(example) == 1, (question, example)
        text = text.replace(example, TRINO.assigned(name, values[name]))
    return text


def test_each_question_has_the_same_answer(gappy: Tables, tmp_path: Path) -> None:
    """On a log with gaps."""
    as_of = gappy.known[0][-1]
    values = {name: value for name, (_, value) in EXAMPLES.items()}
    values |= {"as_of": as_of, "from_offset": as_of // 2, "to_offset": as_of, "batch_offset": as_of}
    tables = text_of("trino", TABLES).replace("file:///data/history/", f"local://{gappy.versions}/")
    files = {"0-tables": SEPARATOR.join([SCHEMA, *statements(tables)])}
    files |= {question: given(question, values) for question in sources()}
    found = ask(files, {"hive": hive(tmp_path)}, tmp_path)
    with in_duckdb(gappy.versions) as here:
        for question in sources():
            rows = here.rows(question, **{name: values[name] for name in parameters_of(question)})
            compare_rows(question, without_names(found[question]), without_names(rows))


def test_each_documented_question_has_the_same_answer(gappy: Tables, tmp_path: Path) -> None:
    """In two lines, too; those that need arguments are files there, see above."""
    audit_log = tmp_path / "audit"
    audit_log.mkdir()
    line = {
        "outcome": "committed",
        "first_offset": 0,
        "last_offset": 10**6,
        "principal": "User:a",
        "node_id": 1,
    }
    (audit_log / "audit.log").write_text(f"{json.dumps(line)}\n")
    file = written(gappy.raw, gappy.versions, tmp_path, "trino", "--audit-log", str(audit_log))
    with with_macros(gappy.raw, gappy.versions, tmp_path, "--audit-log", f"{audit_log}/*") as macros:
        events = macros.rows('FROM events ORDER BY "offset"')
        asked = [of_this_log(question, events).replace(*OUT_OF_A_GAP) for question in QUESTIONS]
        in_trino = [text for text in map(in_trinos_words, asked) if not WITH_MACRO.search(text)]
        assert len(in_trino) >= IN_TRINO_MIN
        assert all(len(text.splitlines()) <= 2 for text in in_trino)
        views = statements(file.read_text().replace("file:///", "local:///"))
        files = {"0-views": SEPARATOR.join([SCHEMA, *views])}
        files |= {f"question-{number}": text for number, text in enumerate(in_trino)}
        found = ask(files, {"hive": hive(tmp_path)}, tmp_path)
        ours = [text for text in asked if not WITH_MACRO.search(in_trinos_words(text))]
        for number, question in enumerate(ours):
            rows = without_names(found[f"question-{number}"])
            if "incident(" in question:
                rows = [row for row in rows if row["kind"] not in NOT_IN_AN_INCIDENT]
            compare_rows(question, rows, without_names(macros.rows(question)))
