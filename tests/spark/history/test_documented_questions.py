"""Each question of QUESTIONS.md is at most two lines, and runs in DuckDB and Spark with the same answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kraftctl_spark.history.questions.macros import macros, with_audit_log
from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import Row, statements
from tests.spark.history.asked_macros import (
    DOCUMENT,
    QUESTIONS,
    Macros,
    about,
    in_plain_numbers,
    with_macros,
    written,
)
from tests.spark.history.test_versions import Tables, gappy, history, whole

__all__ = ["gappy", "history", "whole"]

AS_OF = 190
ANSWERED_MIN = 24
"""This many have rows about the generated log; the others say rightly that there was no such thing."""


def of_this_log(question: str, events: list[Row]) -> str:
    """The question with things that are in the log."""
    created = next(row for row in events if row["kind"] == "partition created")
    topic = created["subject"].rpartition("-")[0]
    request = next(row["batch_offset"] for row in events if row["kind"] == "ISR shrank")
    names = {"request(4000)": f"request({request})", "4000": str(AS_OF), "'orders'": f"'{topic}'"}
    return about(question, names | {"User:alice": "User:a"})


def audited(log: Path, events: list[Row]) -> None:
    """An audit log of one large request, in which others deleted topics and changed ACLs."""
    lines = [{"outcome": "committed", "first_offset": 0, "last_offset": 10**6, "principal": "User:large"}]
    for row in events:
        if row["kind"] == "topic deleted" or row["kind"].startswith("ACL "):
            place = {"first_offset": row["offset"], "last_offset": row["offset"]}
            who = {
                "principal": f"User:{row['offset']}",
                "address": "127.0.0.1",
                "client_id": None,
                "api": "X",
            }
            lines += [place | who | {"outcome": "committed"}, place | {"outcome": "denied", "principal": "x"}]
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def events_of(asked: Macros) -> list[Row]:
    return asked.rows('FROM events ORDER BY "offset"')


def test_the_page_names_every_macro() -> None:
    """By name, or with others of the same kind."""
    for macro in macros():
        if macro.parameters and not re.fullmatch(r"\w+_(?:at|diff)", macro.name):
            assert f"`{macro.name}(" in DOCUMENT, macro.name
    assert all(f"`{macro.name}`" in DOCUMENT for macro in with_audit_log())


def test_each_is_two_lines_at_most() -> None:
    assert len(QUESTIONS) >= 36
    assert all(len(question.splitlines()) <= 2 for question in QUESTIONS)


def test_each_runs(whole: Tables, gappy: Tables, tmp_path: Path) -> None:
    """On a whole log and on one with gaps."""
    log = tmp_path / "audit.log"
    log.write_text("")
    for tables in (gappy, whole):
        answered = set()
        with with_macros(tables.raw, tables.versions, tmp_path, "--audit-log", str(log)) as asked:
            events = events_of(asked)
            audited(log, events)
            for question in QUESTIONS:
                rows = asked.rows(of_this_log(question, events))
                answered |= {question} if rows else set()
            deleted = asked.rows("FROM who WHERE kind = 'topic deleted'")
            others = asked.rows("FROM who WHERE kind = 'ISR shrank'")
            assert len(asked.rows("FROM who")) == len(events)
        assert len(answered) >= ANSWERED_MIN, set(QUESTIONS) - answered
        assert deleted
        assert all(row["principal"] == f"User:{row['offset']}" for row in deleted)
        assert {row["principal"] for row in others} == {"User:large"}


@pytest.mark.java
@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("kind", ["whole", "gappy"])
def test_each_has_the_same_answer_in_spark(kind: str, whole: Tables, gappy: Tables, tmp_path: Path) -> None:
    from tests.spark.view_check import local_spark

    tables = {"whole": whole, "gappy": gappy}[kind]
    log = tmp_path / "audit.log"
    log.write_text("")
    flags = ("--audit-log", str(log))
    with with_macros(tables.raw, tables.versions, tmp_path, *flags) as asked, local_spark() as spark:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        events = events_of(asked)
        audited(log, events)
        for statement in statements(
            written(tables.raw, tables.versions, tmp_path, "spark", *flags).read_text()
        ):
            spark.sql(statement)
        for question in QUESTIONS:
            text = of_this_log(question, events)
            found = spark.sql(text).toArrow().to_pylist()
            compare_rows(text, in_plain_numbers(found), in_plain_numbers(asked.rows(text)))
