"""What kafka-storage of 4.4 makes of arguments: asked many at a time, in one JVM."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from tests.support.processes.oracle import kafkas_verdicts

ORACLE = Path(__file__).parent / "oracle" / "StorageOracle.java"
OK = "ok"


def storage_verdicts(command: str, arguments: Sequence[Sequence[str]]) -> list[str]:
    """For each list of words, "ok ..." or "refused REASON"."""
    lines = [" ".join([command, *(_encoded(word) for word in words)]) for words in arguments]
    return kafkas_verdicts(ORACLE, lines, version="4.4.0")


def _encoded(word: str) -> str:
    return base64.b64encode(word.encode()).decode() or "-"
