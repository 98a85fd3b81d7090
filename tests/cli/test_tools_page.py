"""Each command of docs/operations/tools.md is run against a controller, and ends as the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from tests.support.processes.called_command import call_command
from tests.support.processes.started_controller import StartedController

PAGE = Path(__file__).parents[2] / "docs" / "operations" / "tools.md"

COMMANDS = re.findall(r"^\$ kraftctl (.*)$", PAGE.read_text(), re.MULTILINE)

REFUSED = {"cluster unregister": "BROKER_ID_NOT_REGISTERED"}
"""This controller has no brokers."""


PORT = "localhost:9093"


def test_the_commands_of_the_page(
    controller: StartedController, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"127.0.0.1:{controller.port}"
    await_result(lambda: _has_leader(address), "there is a leader", 30.0)
    for command in COMMANDS:
        words = shlex.split(command.replace(PORT, address))
        called = call_command(*words)
        refusal = REFUSED.get(" ".join(words[:2]))
        assert (command, called.status) == (command, 0 if refusal is None else 1), called
        assert (refusal or "") in called.errors
    assert len(COMMANDS) == len(set(COMMANDS)) > 0


def _has_leader(address: str) -> bool:
    return call_command("quorum", "--bootstrap-controller", address, "describe", "--status").status == 0
