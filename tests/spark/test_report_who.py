"""Who asked for a change, on the page: the audit logs of controllers joined by offset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark.cli import main
from kraftctl_spark.report.contents import AuditCoverage, Contents
from kraftctl_spark.report.current_history import current_history
from kraftctl_spark.report.page import render
from kraftctl_spark.report.queries.fetch import fetch
from tests.spark.fake_controller import CLUSTER_ID
from tests.spark.made_history import Steps, made_tables, until
from tests.spark.report_contents import busy

TOPIC = 2
STEPS: Steps = [
    (1, TopicRecord("orders", ONE_UUID)),
    (2, ConfigRecord(TOPIC, "orders", "retention.ms", "7")),
    (3, ConfigRecord(TOPIC, "orders", "retention.ms", "8")),
    (3, ConfigRecord(TOPIC, "orders", "retention.ms", "9")),
    until(9),
]
CUT_OFF = '{"time_ms": 1, "princ'


def line(first: int, last: int, principal: str, outcome: str = "committed", of: str = CLUSTER_ID) -> str:
    fields = {"first_offset": first, "last_offset": last, "principal": principal, "outcome": outcome}
    return json.dumps(fields | {"address": "10.0.0.7", "time_ms": 1, "cluster_id": of}) + "\n"


def audit_log(directory: Path) -> Path:
    """Two files, one of which is still being written."""
    older = line(0, 0, "User:alice") + line(1, 1, "User:mallory", "denied") + line(1, 3, "User:slices")
    older += line(3, 3, "User:of another cluster", of="other")
    (directory / "audit.log.1").write_text(older)
    (directory / "audit.log").write_text(line(2, 2, "User:bob") + CUT_OFF)
    return directory / "audit.log*"


def contents_of(directory: Path, log: Path | None) -> Contents:
    tables = made_tables(directory / "tables", STEPS)
    return fetch(tables, current_history(tables, tables / "history", directory), None, None, log)


def test_every_change_has_the_request_that_asked_for_it(tmp_path: Path) -> None:
    contents = contents_of(tmp_path, audit_log(tmp_path))
    assert [(row.offset, row.who) for row in contents.config_changes.rows] == [
        (3, "User:slices from 10.0.0.7"),
        (2, "User:bob from 10.0.0.7"),
        (1, "User:slices from 10.0.0.7"),
    ]
    (created,) = contents.topic_changes.rows
    assert (created.kind, created.subject, created.who) == (
        *("topic created", "orders"),
        "User:alice from 10.0.0.7",
    )
    assert contents.audited == AuditCoverage(5, 1, 4, 4)
    page = render(contents, "made by a test")
    assert "4 of 4 changes of the period have the request" in page
    assert "1 of its lines are not whole." in page
    assert any("asked by User:alice from 10.0.0.7" in text for one in contents.timeline for text in one.texts)


def test_without_an_audit_log_the_page_says_how_to_give_it(tmp_path: Path) -> None:
    contents = contents_of(tmp_path, None)
    assert {row.who for row in contents.config_changes.rows} == {None}
    page = render(contents, "made by a test")
    assert "kraftctl-export report --audit-log adds it here." in page
    assert "asked by" not in page.partition("<script>")[0]
    assert "asked by" in render(busy(), "made by a test").partition("<script>")[0]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.log", "none.log: no file has this name or matches it"),
        ("other.log", "other.log is no audit log of kraftctl: no line has an outcome"),
        ("of-another.log", f"of-another.log has no line of cluster {CLUSTER_ID}: it is of another one"),
    ],
)
def test_it_refuses_another_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, reason: str
) -> None:
    (tmp_path / "of-another.log").write_text(line(0, 0, "User:alice", of="other"))
    (tmp_path / "other.log").write_text("[2026-11-21] INFO a line of another log\n")
    tables = made_tables(tmp_path / "tables", STEPS)
    page = tmp_path / "report.html"
    flags = ["--output", str(tables), "--to", str(page), "--audit-log", str(tmp_path / name)]
    assert main(["report", *flags]) == 2
    assert reason in caplog.text
    assert not page.exists()
