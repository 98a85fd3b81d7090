"""Asks a program that uses Kafka's own classes what Kafka makes of many cases."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION, QUICK_JAVA_OPTIONS
from tests.support.processes.kafka import kafka

VERDICT = "verdict\t"


def ask_kafka(program: Path, cases: str, *options: str, version: str = DEFAULT_KAFKA_VERSION) -> str:
    """Returns what a single-file Java program prints that reads these cases."""
    release = kafka(version)
    command = [release.java, *QUICK_JAVA_OPTIONS, "-Xmx512m", *options, "-cp", release.classpath]
    done = subprocess.run(
        [*command, str(program)], input=cases, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def kafkas_answers(program: Path, lines: Sequence[str], version: str = DEFAULT_KAFKA_VERSION) -> list[str]:
    """Returns one word for each line."""
    answers = ask_kafka(program, "".join(f"{line}\n" for line in lines), version=version).split()
    assert len(answers) == len(lines)
    return answers


def kafkas_verdicts(program: Path, lines: Sequence[str], version: str = DEFAULT_KAFKA_VERSION) -> list[str]:
    """Returns one verdict for each line, of a program that prints other lines as well."""
    printed = ask_kafka(program, "".join(f"{line}\n" for line in lines), version=version).splitlines()
    verdicts = [line.removeprefix(VERDICT) for line in printed if line.startswith(VERDICT)]
    assert len(verdicts) == len(lines)
    return verdicts
