"""The console of a quorum that loses its leader, and has one again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from tests.support.processes.quorum import Quorum

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]

SECONDS_MAX = 60.0


def picture(port: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(urlopen(f"http://127.0.0.1:{port}/picture.json", timeout=20.0).read())
    return found


def texts(port: int) -> list[str]:
    found = picture(port)
    return [each["text"] for each in found.get("troubles", ())] + found["problems"]


def is_well(port: int) -> bool:
    """Whether everything is read, and nothing is wrong."""
    return "troubles" in picture(port) and texts(port) == []


def test_a_lost_leader_is_the_first_trouble_until_there_is_one(tmp_path: Path) -> None:
    with Quorum(tmp_path / "quorum", size=1, dynamic=True) as quorum:
        (node,) = quorum.nodes
        port = free_port()
        command = kraftctl_command(
            "console", "--bootstrap-controllers", node.address, "--listen", f"http://127.0.0.1:{port}"
        )
        console = ManagedProcess("console", command, tmp_path / "console.log")
        try:
            console.await_line("has the console, until", 30.0)
            await_result(lambda: is_well(port), "the log is read", SECONDS_MAX)
            read = picture(port)
            assert read["quorum"]["leader_id"] == node.node_id
            node.kill()
            lost = "The quorum has no leader that answers"
            await_result(lambda: texts(port)[:1] == [lost], "no leader is named", SECONDS_MAX)
            without = picture(port)
            assert without["badges"][0] == {"name": "quorum", "value": "not known", "level": "warning"}
            assert without["log"]["end_offset"] >= read["log"]["end_offset"]
            node.start()
            await_result(lambda: is_well(port), "the leader is back", SECONDS_MAX)
            await_result(
                lambda: picture(port)["log"]["end_offset"] > without["log"]["end_offset"],
                "the log is followed again",
                SECONDS_MAX,
            )
            assert picture(port)["problems"] == []
        finally:
            console.terminate()
    assert "Traceback" not in (tmp_path / "console.log").read_text()
