"""The commands of docs/operations/health-and-doctor.md, run as they are there beside a controller."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kraftctl.cli import COMMANDS, main, parsers
from kraftctl.cli.doctor.checks import CHECKS
from tests.operate.operated_quorum import OperatedQuorum

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

PAGE = Path(__file__).resolve().parents[2] / "docs/operations/health-and-doctor.md"

TYPED = re.findall(r"^\$ kraftctl (.+)$", PAGE.read_text(), re.MULTILINE)


def test_each_command_of_the_page_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(TYPED) >= 7
    with OperatedQuorum(tmp_path, 1) as alone:
        (controller,) = alone.controllers
        controller.await_ready()
        monkeypatch.chdir(controller.file.parent)
        (controller.directory / "data").chmod(0o700)
        address = controller.properties["listeners"].removeprefix("CONTROLLER://")
        for line in TYPED:
            here = line.replace("localhost:19093", address)
            here = here.replace("127.0.0.1:19099", f"127.0.0.1:{controller.operate_port}")
            assert main(shlex.split(here)) == 0, (here, capsys.readouterr())
        assert (controller.directory / "bundle.tar.gz").stat().st_size > 0


def test_the_page_has_each_check_and_flag() -> None:
    text = PAGE.read_text()
    assert [row.name for row in CHECKS if f"`{row.name}`" not in text] == []
    named = set(re.findall(r"`(--[a-z-]+)", text)) | set(re.findall(r" (--[a-z-]+)", " ".join(TYPED)))
    known: set[str] = set()
    for name in COMMANDS:
        known.update(parsers(name)[1][name]._option_string_actions)
    assert named <= known
