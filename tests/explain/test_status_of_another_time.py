"""A status is of one moment and one epoch: with a log of another one, its ages would name a wrong cause."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.explain.controller_status import APART_MS_MAX, why_of_another_time
from tests.cli.test_explain import data, written
from tests.support.explained_log import BEGAN_MS, ExplainedLog
from tests.support.written_log import WrittenLog

__all__ = ["data", "written"]

HOUR_MS = 3_600_000


def status_of(**fields: object) -> dict[str, object]:
    brokers = [{"id": 3, "heartbeat_age_ms": 500, "metadata_offset": 13}]
    quorum = {"is_active_controller": True, **fields}
    wall_ms = quorum.pop("wall_ms", None)
    return {"quorum": quorum, "brokers": brokers, **({} if wall_ms is None else {"wall_ms": wall_ms})}


@pytest.mark.parametrize(
    ("apart_ms", "why"),
    [
        (0, ""),
        (APART_MS_MAX, ""),
        (-APART_MS_MAX, ""),
        (APART_MS_MAX + 1, "it is 10 s newer than the log that was read"),
        (-HOUR_MS, "it is 60 min older than the log that was read"),
    ],
)
def test_times(apart_ms: int, why: str) -> None:
    log = ExplainedLog()
    log.voters(1)
    log.brokers(3)
    log.log.last_timestamp_ms = log.now_ms
    at_ms = log.now_ms + apart_ms
    assert why_of_another_time(status_of(wall_ms=at_ms, epoch=7), log.log) == why
    assert why_of_another_time(status_of(wall_ms=at_ms, high_watermark=1), log.log) == why
    same = status_of(wall_ms=at_ms, high_watermark=log.log.end_offset)
    assert why_of_another_time(same, log.log) == "", "nothing is written while nothing changes"


@pytest.mark.parametrize(
    ("epoch", "of_log", "is_same"),
    [(7, 7, True), (6, 7, False), (8, 7, False), (6, -1, True), (None, 7, True)],
)
def test_epochs(epoch: int | None, of_log: int, is_same: bool) -> None:
    """A snapshot does not have the epoch of its leader."""
    log = ExplainedLog()
    log.log.leader_id, log.log.leader_epoch = 1, of_log
    log.log.last_timestamp_ms = BEGAN_MS
    why = why_of_another_time(status_of(wall_ms=BEGAN_MS, epoch=epoch), log.log)
    said = f"it is of epoch {epoch}, and the log of epoch {of_log}, in which controller 1 leads"
    assert why == ("" if is_same else said)


@pytest.mark.parametrize("status", [None, [], {}, {"quorum": 1}, {"quorum": {"epoch": "x"}, "wall_ms": -1}])
def test_what_says_no_time_is_of_any(status: object) -> None:
    assert why_of_another_time(status, ExplainedLog().log) == ""


@pytest.mark.parametrize("is_old", [False, True])
def test_a_heartbeat_of_an_hour_ago_is_no_cause(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], is_old: bool
) -> None:
    """The broker that sent it is down since then."""
    file = tmp_path / "status.json"
    at_ms = BEGAN_MS + 11_000 - (HOUR_MS if is_old else 0)
    file.write_text(json.dumps(status_of(wall_ms=at_ms)))
    assert main(["explain", "broker", "3", "--directory", data, "--status", str(file)]) == 10
    printed = capsys.readouterr()
    assert ("its heartbeats arrive" in printed.out) is not is_old
    assert ("its session seems to have expired" in printed.out) is is_old
    assert printed.err == (
        "--status is left out: it is 60 min older than the log that was read. Next step: read both at the"
        " same time\n"
        if is_old
        else ""
    )


def test_where_the_newer_part_is_held_back_the_step_reads_it(
    written: WrittenLog, data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of three voters: a status of the same moment is newer than what is known to be committed."""
    written.append_voters(1, 2, 3)
    file = tmp_path / "status.json"
    file.write_text(json.dumps(status_of(wall_ms=BEGAN_MS + 11_000)))
    arguments = ["explain", "broker", "3", "--directory", data, "--status", str(file)]
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert "read both at the same time" not in said
    assert "newer than the log that was read. Next step: add --assume-committed, as held back are 15 " in said
    assert main([*arguments, "--assume-committed"]) == 10
    assert capsys.readouterr().err == ""
