"""A running controller without SSL and OAUTHBEARER has not loaded the libraries that only these need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.processes.started_controller import StartedController

CERTIFICATES = "cryptography/hazmat/bindings"


def test_no_library_for_certificates_is_mapped(controller: StartedController) -> None:
    mapped = Path(f"/proc/{controller.process.pid}/maps").read_text()
    assert "uvloop" in mapped, "it has loaded others"
    assert CERTIFICATES not in mapped


def test_no_module_of_tokens_and_certificates_is_imported_to_start() -> None:
    program = "import sys, kraftctl.cli.start; print(*{'cryptography', 'jwt'}.intersection(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
