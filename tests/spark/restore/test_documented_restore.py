"""RESTORE.md: its commands are run in order, and print what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from tests.spark.restore.fake_broker import FakeCluster
from tests.spark.restore.test_restore_command import tables

__all__ = ["tables"]

DOCUMENT = (Path(__file__).parents[3] / "spark" / "RESTORE.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
STATUS = {"restore": 0, "diff": 1}


def test_each_block_is_as_it_is_shown(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    with FakeCluster().serve() as node:
        for kind, block in BLOCKS:
            if kind == "toml":
                assert block in (tmp_path / "plan.toml").read_text()
                continue
            command, _, shown = block.partition("\n")
            _, name, *flags = shlex.split(command.removeprefix("$ "))
            places = {"/data/metadata": str(tables), "new:9092": node.address}
            assert main([name, *(places.get(flag, flag) for flag in flags)]) == STATUS[name]
            assert capsys.readouterr().out == shown
            ran += 1
    assert ran == 4
