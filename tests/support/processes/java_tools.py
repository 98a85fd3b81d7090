"""Kafka's command line tools, many calls in one JVM: to start one costs a second."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from types import TracebackType

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS, KafkaDistribution
from kraftctl.dev.tools import main_class

PROGRAM = Path(__file__).parent / "ToolsOracle.java"

VERDICT = "verdict\t"


class JavaTools:
    """The tools of one release, one call after the other."""

    def __init__(self, distribution: KafkaDistribution) -> None:
        self._distribution = distribution
        command = [distribution.java, *QUICK_JAVA_OPTIONS, "-Djava.security.manager=allow", "-Xmx512m"]
        self._process = subprocess.Popen(
            [*command, "-cp", distribution.classpath, str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, tool: str, *arguments: str) -> tuple[int, str]:
        """Returns the exit status and the standard output."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        words = [main_class(self._distribution, tool) or tool, *arguments]
        self._process.stdin.write(" ".join(map(_encoded, words)) + "\n")
        self._process.stdin.flush()
        found = next(line for line in self._process.stdout if line.startswith(VERDICT))
        _, status, output, _ = found.rstrip("\n").split("\t")
        return int(status), base64.b64decode(output).decode()

    def __enter__(self) -> JavaTools:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()


def _encoded(word: str) -> str:
    return base64.b64encode(word.encode()).decode() or "-"
