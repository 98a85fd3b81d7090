"""What docs/security.md says about SASL is done as it is written there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from tests.cli.test_ssl_page import PAGE, PORT, quorum

SECTION = PAGE.read_text().partition("\n## SASL\n")[2].partition("\n## ")[0]
CERTIFICATES = PAGE.read_text().partition("\n## SSL\n")[2].partition("\n## ")[0]


def blocks(kind: str, section: str = SECTION) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_controller_of_the_page_serves_its_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.chdir(tmp_path)
    shell = shutil.which("sh")
    assert shell is not None
    (certificates,) = blocks("sh", CERTIFICATES)
    subprocess.run([shell, "-ec", certificates], check=True, capture_output=True)
    (formatting,) = blocks("sh")
    controller, client = blocks("properties")
    port = free_port()
    file, command_config = tmp_path / "controller.properties", tmp_path / "client.properties"
    file.write_text(controller.replace(PORT, str(port)))
    command_config.write_text(client)
    words = shlex.split(formatting.replace("\\\n", " "))
    run_to_the_end(kraftctl_command(*words[1:]), "formatting")
    log = tmp_path / "log"
    process = ManagedProcess("controller", kraftctl_command("start", str(file)), log, {})
    try:
        await_result(lambda: accepts_connections(port), "the controller listens", 30.0)
        assert "LeaderId" in quorum(command_config, port)
        for known, unknown, expected in (
            ("ada-secret", "wrong", "invalid credentials"),
            ("SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-512"),
        ):
            other = tmp_path / "other.properties"
            other.write_text(client.replace(known, unknown) + "default.api.timeout.ms=3000\n")
            with pytest.raises(ProcessFailedError, match=expected):
                quorum(other, port)
    finally:
        process.signal(signal.SIGTERM)
        assert process.wait(30.0) == 0
    assert "secret" not in log.read_text()
