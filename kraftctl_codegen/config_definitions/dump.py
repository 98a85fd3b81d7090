"""Reads the configuration definitions from Kafka's classes with a small Java program."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kraftctl.dev.kafka_distribution import KafkaDistribution

KAFKA_VERSION = "4.4.0"
"""The newest release: its definitions have all keys of the releases before it that were not removed."""

PROGRAM = Path(__file__).parent / "DumpConfigDefinitions.java"


def dump_config_definitions(kafka: KafkaDistribution) -> list[list[str]]:
    """Returns the facts, one list of fields per line."""
    command = [kafka.java, "-Xmx256m", "-cp", kafka.classpath, str(PROGRAM)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [line.split("\t") for line in result.stdout.splitlines() if line]
