"""What docs/security.md says about OAUTHBEARER is done as it is written there."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from kraftctl.dev.settings import random_id
from tests.support.certificates import Authority
from tests.support.https_issuer import ISSUER, HttpsIssuer

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
SECTION = PAGE.read_text().partition("\n## OAUTHBEARER\n")[2].partition("\n## ")[0]
EXPECTED = f"expected.issuer={ISSUER}"


def test_the_controller_of_the_page_serves_holders_of_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_path = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, python_path)))
    monkeypatch.chdir(tmp_path)
    authority = Authority()
    (tmp_path / "ca.pem").write_text(authority.pem)
    (tmp_path / "controller-keystore.pem").write_text(authority.issue("CN=controller").pem())
    controller, client = re.findall(r"^```properties\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    port = free_port()
    with HttpsIssuer(tmp_path, {"controller": "controller-secret", "broker": "broker-secret"}) as issuer:
        assert issuer.truststore.name == "issuer-ca.pem"
        files = {}
        for name, text in {"controller": controller, "client": client}.items():
            text = text.replace(EXPECTED, "KEPT").replace(ISSUER, issuer.url).replace("KEPT", EXPECTED)
            files[name] = tmp_path / f"{name}.properties"
            files[name].write_text(text.replace("9093", str(port)))
        flags = ("--standalone", "-t", random_id(), "-c", str(files["controller"]))
        run_to_the_end(kraftctl_command("format", *flags), "formatting")
        command = kraftctl_command("start", str(files["controller"]))
        process = ManagedProcess("controller", command, tmp_path / "log", {})
        try:
            await_result(lambda: accepts_connections(port), "the controller listens", 30.0)
            process.await_line("Read 1 keys of the issuer", 30.0)
            assert "LeaderId" in quorum(files["client"], port)
            wrong = files["client"].read_text().replace("=broker-secret", "=guessed")
            files["client"].write_text(wrong)
            with pytest.raises(ProcessFailedError, match="answers 401: invalid_client"):
                quorum(files["client"], port)
        finally:
            process.signal(signal.SIGTERM)
            assert process.wait(30.0) == 0


def quorum(file: Path, port: int) -> str:
    flags = ("--bootstrap-controller", f"localhost:{port}", "--command-config", str(file))
    return run_to_the_end(kraftctl_command("quorum", *flags, "describe", "--status"), "asking")
