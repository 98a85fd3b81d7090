"""One picture that cannot be computed is a problem on the page, and not the end of all pictures."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl.console.node_status import CertificateDate
from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.dev.polling import await_result
from tests.support.console_stage import Console, StagedLog, five_troubles, statuses

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
