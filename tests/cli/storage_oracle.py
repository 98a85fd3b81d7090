"""What kafka-storage makes of arguments: asked many at a time, in one JVM."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS
from tests.support.processes.kafka import kafka

ORACLE = Path(__file__).parent / "oracle" / "StorageOracle.java"
OK = "ok"


def kafkas_verdicts(command: str, arguments: Sequence[Sequence[str]]) -> list[str]:
    """For each list of words, "ok ..." or "refused REASON"."""
    lines = [" ".join([command, *(_encoded(word) for word in words)]) for words in arguments]
    java = [kafka().java, *QUICK_JAVA_OPTIONS, "-Xmx256m", "-cp", kafka().classpath, str(ORACLE)]
    result = subprocess.run(java, input="\n".join(lines), capture_output=True, encoding="utf-8", check=False)
    assert result.returncode == 0, result.stderr
    prefix = "verdict\t"
    verdicts = [line.removeprefix(prefix) for line in result.stdout.splitlines() if line.startswith(prefix)]
    assert len(verdicts) == len(arguments)
    return verdicts


def _encoded(word: str) -> str:
    return base64.b64encode(word.encode()).decode() or "-"
