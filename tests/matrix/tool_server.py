"""Kafka's command line tools in one JVM, which takes a tenth of the time of as many starts."""

from __future__ import annotations

import subprocess
from base64 import b64decode, b64encode
from pathlib import Path
from types import TracebackType

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS
from kraftctl.dev.tools import ToolResult, main_class
from tests.support.processes.kafka import KafkaDistribution

SOURCE = Path(__file__).with_name("ToolServer.java")


class ToolServer:
    """Runs tools of one Kafka distribution, as `KafkaTools` does; ends with the `with`."""

    def __init__(self, distribution: KafkaDistribution) -> None:
        self._distribution = distribution
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        distribution = self._distribution
        options = [*QUICK_JAVA_OPTIONS, "-Xmx512m", "-Dkraftctl.log.level=ERROR"]
        options.append(f"-Dlog4j2.configurationFile={distribution.directory / 'log4j2.properties'}")
        command = [distribution.java, *options, "-cp", distribution.classpath, str(SOURCE)]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def run(self, tool: str, *arguments: str, stdin: str = "") -> ToolResult:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        name = main_class(self._distribution, tool) or tool
        words = ["=" + b64encode(word.encode()).decode() for word in (name, stdin, *arguments)]
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            # Wrong arguments: the parser of some tools ends the JVM.
            ended = self._process.wait()
            self._process = self._started()
            return ToolResult("", ended)
        status, _, output = line.strip().partition(" ")
        return ToolResult(b64decode(output).decode(), int(status))

    def __enter__(self) -> ToolServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
