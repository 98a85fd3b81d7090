"""One picture that cannot be computed is a problem on the page, and not the end of all pictures."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl.cli.console.command import reading_of_directory
from kraftctl.cli.console.quorum_round import no_leader_view
from kraftctl.cli.quorum.quorum_survey import NoLeaderError
from kraftctl.console.live_log import LiveLog
from kraftctl.console.node_status import CertificateDate
from kraftctl.console.page_drawing import PageDrawing
from kraftctl.console.painter import NotReadError, Painter
from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.dev.polling import await_result
from kraftctl.explain.evidence import NoLeaderView
from kraftctl.server.process.clock import Clock
from kraftctl_observer.directory_reader import DirectoryReader
from tests.spark.log_directory import LogDirectory
from tests.support.console_stage import Console, StagedLog, five_troubles, statuses
from tests.support.explained_log import BEGAN_MS

BEYOND_FLOAT = (CertificateDate("C", 10**400),)


def drawn_number(console: Console) -> int:
    """The number by which a browser knows whether the picture is another one."""
    found = re.search(r'data-number="(\d+)"', console.get("/parts")[2])
    assert found is not None
    return int(found[1])


def test_a_picture_that_fails_is_a_problem_until_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = StagedLog(tmp_path / "data")
    five_troubles(log)
    (first, _) = statuses()
    broken = log.reading(replace(first, certificates=BEYOND_FLOAT))
    readings: list[QuorumReading] = [log.reading(first)]

    def problems() -> list[str]:
        return list(json.loads(console.get("/picture.json")[2])["problems"])

    with closing(log), Console(log.path, lambda: readings[-1]) as console:
        assert problems() == []
        readings.append(broken)
        await_result(lambda: any("OverflowError" in each for each in problems()), "it fails", 20.0)
        failed, drawn = console.painter.painting.number, drawn_number(console)
        assert drawn < failed
        assert 'id="troubles"' in console.get("/")[2]
        console.await_new_picture()
        assert console.painter.painting.number > failed
        assert drawn_number(console) == drawn
        readings.append(log.reading(first))
        await_result(lambda: problems() == [], "it is computed again", 20.0)
        assert drawn_number(console) > failed
    assert capsys.readouterr().err.count("OverflowError") == 1


LOST = NoLeaderView(3, 2, ["controller-1.example:9093 knows no leader of epoch 7"], 3000)
NO_LEADER = "The quorum has no leader that answers"


@pytest.mark.parametrize("path", ["/quorum", "/controller/3001", "/controller/3009"])
def test_without_a_leader_no_page_names_one(tmp_path: Path, path: str) -> None:
    log = StagedLog(tmp_path / "data")
    five_troubles(log)
    with closing(log), Console(log.path, QuorumReading(no_leader=LOST)) as console:
        status, _, page = console.get(path)
        assert console.get("/controller/1234")[0] == 404
    assert status == 200
    assert NO_LEADER in page
    assert "controller 3000, which is named as the leader, is not" in page
    assert "as the leader of epoch" not in page


def test_before_anything_is_read_the_reason_is_the_true_one(tmp_path: Path) -> None:
    log = StagedLog(tmp_path / "data")
    readings = [QuorumReading()]
    console = Console(log.path, lambda: readings[-1])
    painter = console.painter
    painter.start()  # and nothing reads the log
    try:
        with pytest.raises(NotReadError, match="the snapshot is being read"):
            painter.question(lambda *_: None).result(20.0)
        readings.append(QuorumReading(no_leader=LOST))
        await_result(lambda: NO_LEADER.encode() in painter.painting.json, "no leader is known", 20.0)
        with pytest.raises(
            NotReadError, match=rf"{NO_LEADER}: 2 of the 3 .* Next step: start controller 3000"
        ):
            painter.question(lambda *_: None).result(20.0)
    finally:
        painter.stop()
        log.close()


def test_a_leader_that_is_not_reached_is_named() -> None:
    error = NoLeaderError("none", asked_count=3, answered_count=2, lines=["a\x1b"], unreached_leader_id=3000)
    found = no_leader_view(error)
    assert (found.asked_count, found.reached_count, found.unreached_leader_id) == (3, 2, 3000)
    assert "\x1b" not in found.lines[0]


def test_a_directory_has_the_ages_of_its_newest_record(tmp_path: Path) -> None:
    log = StagedLog(tmp_path / "data")
    log.now_ms = BEGAN_MS
    five_troubles(log)
    log.close()
    reader, drawing = DirectoryReader(log.path, assume_committed=True), PageDrawing()
    live = LiveLog(reader)
    painter = Painter(live, QuorumReading, drawing.parts, Clock(), is_directory=True, static_voters=(7, 8))
    live.start()
    painter.start()
    try:
        await_result(lambda: b'id="troubles"' in painter.painting.parts, "the log is read", 20.0)
    finally:
        live.stop()
        painter.stop()
    found = json.loads(painter.painting.json)
    assert found["now_ms"] == log.now_ms == found["as_of"]["last_record_ms"]
    assert found["as_of"]["text"].startswith("As of 2027-01-15 08:00:")
    assert found["as_of"]["text"].endswith(f"before offset {log.offset + 1}; read from the log")
    assert found["as_of"]["text"] in painter.painting.parts.decode()
    fenced = next(each for each in found["troubles"] if each["kind"] == "fenced")
    assert fenced["text"].startswith("Broker 3 is fenced since 08:00:")
    assert fenced["text"].endswith("s)")


def test_a_broker_that_the_status_leaves_out_is_said_to_be(tmp_path: Path) -> None:
    log = StagedLog(tmp_path / "data")
    five_troubles(log)
    (first, _) = statuses()
    with closing(log), Console(log.path, log.reading(replace(first, left_out_contacts=40))) as console:
        story = json.loads(console.get("/broker/3/json")[2])
    facts = story["explanations"][0]["facts"]
    assert any("leaves out 40, with broker 3: its heartbeats are not known" in each for each in facts)


def test_what_is_held_back_is_said(tmp_path: Path) -> None:
    with closing(LogDirectory(tmp_path / "data")) as made:
        made.static_voters([3000, 3001, 3002])
        made.append(10)
    reader = DirectoryReader(tmp_path / "data")
    reader.position(0, 0)
    assert reader.held_back.startswith("10 offsets from 0 on: there are 3 voters")
    assert reader.held_back in reading_of_directory(reader).problem
    reader = DirectoryReader(tmp_path / "data", assume_committed=True)
    reader.position(0, 0)
    assert reader.held_back == ""
    assert "left out" not in reading_of_directory(reader).problem


def test_a_question_that_fails_leaves_the_others(tmp_path: Path) -> None:
    log = StagedLog(tmp_path / "data")
    five_troubles(log)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with closing(log), Console(log.path, log.reading()) as console:
        asked = console.painter.question(fail)
        with pytest.raises(ZeroDivisionError):
            asked.result(20.0)
        assert console.get("/broker/3")[0] == 200
