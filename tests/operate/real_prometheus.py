"""Prometheus itself, as a process: installed here, or unpacked from the distribution's package."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
from pathlib import Path
from types import TracebackType
from typing import Any

from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from tests.operate.operated_quorum import get

PACKAGE = "prometheus"
"""Of Debian and its descendants, with promtool."""

CONFIGURATION = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: ["{rules}"]
scrape_configs:
  - job_name: "{job}"
    static_configs:
      - targets: {targets}
"""


def prometheus(unpacked: Path) -> Path:
    """Returns the program: the one that is installed, or that of the package, which apt-get fetches."""
    found = shutil.which("prometheus")
    if found is not None:
        return Path(found)
    unpacked.mkdir()
    subprocess.run(["apt-get", "-qq", "download", PACKAGE], cwd=unpacked, check=True)
    (package,) = unpacked.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked / "files")], check=True)
    return unpacked / "files" / "usr" / "bin" / "prometheus"


class RunningPrometheus:
    """Scrapes the ports each second, and evaluates the rules as often."""

    def __init__(self, directory: Path, job: str, ports: list[int], rules: Path) -> None:
        self.port = free_port()
        program = prometheus(directory / "package")
        file = directory / "prometheus.yml"
        targets = json.dumps([f"127.0.0.1:{port}" for port in ports])
        file.write_text(CONFIGURATION.format(rules=rules, job=job, targets=targets))
        command = [
            *(str(program), f"--config.file={file}", f"--storage.tsdb.path={directory / 'series'}"),
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]
        self._process = ManagedProcess("prometheus", command, directory / "prometheus.log")

    def _get(self, path: str) -> Any:
        status, body = get(self.port, path)
        if status in (0, 503):
            return None  # it does not listen yet, or does not serve yet
        answer = json.loads(body)
        assert answer["status"] == "success", f"{path}: {answer}"
        return answer["data"]

    def query(self, expression: str) -> list[dict[str, Any]] | None:
        """Returns the samples of an instant query; None while it does not answer yet."""
        found = self._get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        return None if found is None else found["result"]

    def rules(self) -> dict[str, dict[str, Any]]:
        """Returns what it knows of each alert, by name."""
        found = self._get("/api/v1/rules")
        return {rule["name"]: rule for group in found["groups"] for rule in group["rules"]}

    def __enter__(self) -> RunningPrometheus:
        await_result(lambda: self.query("up") is not None, "prometheus answers", 60.0, 0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
