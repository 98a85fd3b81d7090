"""What docs/security.md says about SSL is done as it is written there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from kraftctl.dev.settings import random_id

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
SECTION = PAGE.read_text().partition("\n## SSL\n")[2].partition("\n## ")[0]
PORT = "9093"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)


def quorum(file: Path, port: int) -> str:
    flags = ("--bootstrap-controller", f"localhost:{port}", "--command-config", str(file))
    return run_to_the_end(kraftctl_command("quorum", *flags, "describe", "--status"), "asking")


@pytest.mark.slow
def test_the_controller_of_the_page_serves_holders_of_its_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, _python_path())))
    monkeypatch.chdir(tmp_path)
    (script,) = blocks("sh")
    shell = shutil.which("sh")
    assert shell is not None
    subprocess.run([shell, "-ec", script], check=True, capture_output=True)
    assert {path.stat().st_mode & 0o077 for path in tmp_path.glob("*keystore.pem")} == {0}
    controller, client = blocks("properties")
    port = free_port()
    file, command_config = tmp_path / "controller.properties", tmp_path / "client.properties"
    file.write_text(controller.replace(PORT, str(port)))
    command_config.write_text(client)
    flags = ("--standalone", "-t", random_id(), "-c", str(file))
    run_to_the_end(kraftctl_command("format", *flags), "formatting")
    process = ManagedProcess("controller", kraftctl_command("start", str(file)), tmp_path / "log", {})
    try:
        await_result(lambda: accepts_connections(port), "the controller listens", 30.0)
        await_result(lambda: _names_leader(command_config, port), "the controller is active", 30.0)
        without = tmp_path / "without.properties"
        kept = [line for line in client.splitlines() if "keystore" not in line]
        without.write_text("\n".join([*kept, "default.api.timeout.ms=3000"]))
        with pytest.raises(ProcessFailedError, match=r"(?i)certificate.required"):
            quorum(without, port)
    finally:
        process.signal(signal.SIGTERM)
        assert process.wait(30.0) == 0


def _names_leader(command_config: Path, port: int) -> bool:
    """A new controller has no metadata.version until its first records are committed."""
    try:
        return "LeaderId" in quorum(command_config, port)
    except ProcessFailedError as error:
        if "UNSUPPORTED_VERSION" in str(error):
            return False
        raise


def _python_path() -> list[str]:
    return [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
