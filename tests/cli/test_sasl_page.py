"""What docs/security.md says about SASL is done as it is written there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from tests.cli.test_ssl_page import PAGE, PORT, quorum
from tests.support.processes.kafka import ToolFailedError, kafka, tools

SECTION = PAGE.read_text().partition("\n## SASL\n")[2].partition("\n## ")[0]
CERTIFICATES = PAGE.read_text().partition("\n## SSL\n")[2].partition("\n## ")[0]


def blocks(kind: str, section: str = SECTION) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


class Page:
    """The files and the commands of the page in a directory, for the ports of a test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.controller, self.broker, self.client = blocks("properties")
        self.formatting, self.joining = (shlex.split(text.replace("\\\n", " ")) for text in blocks("sh"))
        self.port, self.broker_port = free_port(), free_port()
        for name, text in (("controller", self.controller), ("broker", self.broker), ("admin", self.client)):
            (directory / f"{name}.properties").write_text(self.placed(text))

    def placed(self, text: str) -> str:
        return text.replace(PORT, str(self.port)).replace("9092", str(self.broker_port))

    def broker_commands(self) -> list[list[str]]:
        """Format, start and allow: the words of each."""
        words = list(map(self.placed, self.joining))
        begins = [index for index, word in enumerate(words) if word.startswith("kafka-")]
        return [words[begin:end] for begin, end in pairwise([*begins, len(words)])]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """Its controller runs, with the certificates of the page."""
    paths = [os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.chdir(tmp_path)
    shell = shutil.which("sh")
    assert shell is not None
    (certificates,) = blocks("sh", CERTIFICATES)
    subprocess.run([shell, "-ec", certificates], check=True, capture_output=True)
    page = Page(tmp_path)
    run_to_the_end(kraftctl_command(*page.formatting[1:]), "formatting")
    log = tmp_path / "log"
    process = ManagedProcess("controller", kraftctl_command("start", "controller.properties"), log, {})
    try:
        await_result(lambda: accepts_connections(page.port), "the controller listens", 30.0)
        yield page
    finally:
        process.signal(signal.SIGTERM)
        assert process.wait(30.0) == 0
    assert "secret" not in log.read_text()


@pytest.mark.slow
def test_the_controller_of_the_page_serves_its_users(page: Page) -> None:
    assert "LeaderId" in quorum(page.directory / "admin.properties", page.port)
    for known, unknown, expected in (
        ("ada-secret", "wrong", "invalid credentials"),
        ("SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-512"),
    ):
        other = page.directory / "other.properties"
        other.write_text(page.client.replace(known, unknown) + "default.api.timeout.ms=3000\n")
        with pytest.raises(ProcessFailedError, match=expected):
            quorum(other, page.port)


@pytest.mark.slow
@pytest.mark.interop
@pytest.mark.timeout(240)
def test_the_broker_of_the_page_joins_and_its_clients_have_the_rights_that_they_get(page: Page) -> None:
    formatting, starting, allowing = page.broker_commands()
    assert starting == ["kafka-server-start", "-daemon", "broker.properties"]
    tools().output(*formatting)
    command = kafka().node_command(page.directory / starting[-1], heap="256m")
    broker = ManagedProcess("broker", command, page.directory / "broker-log", {})
    topic = (
        "kafka-topics",
        "--bootstrap-server",
        f"localhost:{page.broker_port}",
        "--create",
        "--topic",
        "t",
    )
    try:
        broker.await_line("Kafka Server started", 120.0)
        with pytest.raises(ToolFailedError, match="Authorization failed"):
            tools().output(*topic)
        tools().output(*allowing)
        assert "Created topic t" in tools().output(*topic)
    finally:
        broker.terminate()
