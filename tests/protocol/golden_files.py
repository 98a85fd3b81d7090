"""Writes `golden/`: the bytes that Kafka's classes produce for every case of `golden_cases`.

One file per message, one line per version and case: version, case, digest of the JSON that Kafka's
converter gives for it, and the bytes in hex. `python -m tests.protocol.golden_files` asks Kafka again and
rewrites them.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from kraftctl_protocol.generated.index import all_messages
from kraftctl_protocol.json_converter import to_json
from kraftctl_protocol.message import Message
from tests.protocol.golden_cases import CASES, build, is_possible

GOLDEN = Path(__file__).parent / "golden"
ORACLE = Path(__file__).parent / "oracle/MessageOracle.java"
KAFKA_VERSIONS = ("4.4.0", "3.9.2")
"""The newest that knows a message and version is asked."""


class GoldenCase(NamedTuple):
    """One line."""

    cls: type[Message]
    version: int
    case: str
    json_digest: str
    data: bytes


def digest_of(value: Any) -> str:
    """Short, stable name for a JSON value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_golden(cls: type[Message]) -> list[GoldenCase]:
    """All lines of one message."""
    lines = (GOLDEN / f"{cls.NAME}.txt").read_text(encoding="ascii").splitlines()
    parts = [line.split(" ") for line in lines]
    return [
        GoldenCase(cls, int(version), case, digest, bytes.fromhex(data))
        for version, case, digest, data in parts
    ]


def wanted_cases() -> list[tuple[type[Message], int, str]]:
    """Every case there should be, in the order of the files."""
    return [
        (cls, version, case)
        for cls in all_messages()
        for version in range(cls.LOWEST_VERSION, cls.HIGHEST_VERSION + 1)
        for case in CASES
        if is_possible(cls, version, case)
    ]


def ask_kafka(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A response of `MessageOracle` for each question, from the newest Kafka that has one."""
    from tests.support.processes.kafka import run_java_source

    answers: list[dict[str, Any]] = [{"unknown": True} for _ in questions]
    for kafka_version in KAFKA_VERSIONS:
        open_ones = [index for index, answer in enumerate(answers) if "unknown" in answer]
        if not open_ones:
            break
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
            file.writelines(json.dumps(questions[index]) + "\n" for index in open_ones)
            file.flush()
            printed = run_java_source(ORACLE, file.name, version=kafka_version)
        for index, line in zip(open_ones, _json_lines(printed), strict=True):
            answers[index] = line
    return answers


def _json_lines(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def question_for(cls: type[Message], version: int, case: str) -> dict[str, Any]:
    """Kafka writes the case from JSON; unknown tags, which have no JSON, it reads and writes back."""
    message = build(cls, version, case)
    question: dict[str, Any] = {"name": cls.NAME, "version": version}
    if case == "unknown":
        return {**question, "hex": message.encode(version).hex()}
    return {**question, "json": to_json(message, version)}


def main() -> int:
    cases = wanted_cases()
    answers = ask_kafka([question_for(*case) for case in cases])
    files: dict[str, list[str]] = {}
    for (cls, version, case), answer in zip(cases, answers, strict=True):
        if "hex" not in answer:
            print(f"{cls.NAME} version {version} {case}: {answer}", file=sys.stderr)
            return 1
        line = f"{version} {case} {digest_of(answer['json'])} {answer['hex']}\n"
        files.setdefault(cls.NAME, []).append(line)
    for stale in GOLDEN.glob("*.txt"):
        stale.unlink()
    for name, lines in files.items():
        (GOLDEN / f"{name}.txt").write_text("".join(lines), encoding="ascii")
    print(f"{len(cases)} cases of {len(files)} messages written by Kafka")
    return 0


if __name__ == "__main__":
    sys.exit(main())
