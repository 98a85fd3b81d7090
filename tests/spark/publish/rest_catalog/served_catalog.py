"""Iceberg's own REST catalog as a process on a loopback port, which can be stopped and started again."""

from __future__ import annotations

from pathlib import Path

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from tests.support.maven_classpath import maven_classpath

HERE = Path(__file__).parent
START_SECONDS_MAX = 120.0


class ServedCatalog:
    """Its tables and its database are in `place`, and stay there when it stops."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.port = free_port()
        self._process: ManagedProcess | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            *("java", *QUICK_JAVA_OPTIONS, "-Xmx512m", "-cp", maven_classpath(HERE / "pom.xml")),
            *(str(HERE / "ServeCatalog.java"), str(self.place), str(self.port)),
        ]
        self._process = ManagedProcess("rest-catalog", command, self.place / "rest-catalog.log")
        self._process.await_line("listening on", START_SECONDS_MAX)

    def stop(self) -> None:
        """With SIGKILL."""
        if self._process is not None:
            self._process.kill()
