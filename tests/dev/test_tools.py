"""Kafka's command line tools: each script of `kraftctl dev` names a class that its release has."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import pytest

from kraftctl.dev.kafka_distribution import KafkaDistribution
from kraftctl.dev.tools import MAIN_CLASSES, KafkaTools
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.java

RELEASES = ("3.9.2", "4.1.2", "4.3.1", "4.4.0")

TOOL_PACKAGES = re.compile(
    r"(?:org/apache/kafka/tools(?:/reassign|/consumer/group|/streams|/consumer)?|kafka/admin|kafka/tools)"
    r"/\w+\.class"
)


@cache
def classes_of(distribution: KafkaDistribution) -> set[str]:
    """All in the packages of tools, as the jars have them."""
    names: set[str] = set()
    for jar in distribution.classpath.split(":"):
        if "/org/apache/kafka/" in jar:
            with ZipFile(jar) as archive:
                names.update(name for name in archive.namelist() if TOOL_PACKAGES.fullmatch(name))
    return {name.removesuffix(".class").replace("/", ".") for name in names}


@pytest.mark.parametrize("release", RELEASES)
def test_each_script_names_a_class_of_its_release(tmp_path: Path, release: str) -> None:
    distribution = kafka(release)
    KafkaTools(distribution).write_scripts(tmp_path)
    there = classes_of(distribution)
    scripts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert [name for name, text in scripts.items() if not there.intersection(text.split())] == []


@pytest.mark.parametrize("release", RELEASES)
def test_no_tool_is_left_out_that_a_release_has(tmp_path: Path, release: str) -> None:
    distribution = kafka(release)
    KafkaTools(distribution).write_scripts(tmp_path)
    there = classes_of(distribution)
    expected = {tool for tool, candidates in MAIN_CLASSES.items() if there.intersection(candidates)}
    assert {path.name for path in tmp_path.iterdir()} == expected
    assert {"kafka-configs", "kafka-dump-log", "kafka-topics", "kafka-storage"} <= expected


@pytest.mark.interop
def test_kafka_configs_of_4_4_runs(tmp_path: Path) -> None:
    """Its class has moved since 4.3."""
    told = KafkaTools(kafka("4.4.0")).run("kafka-configs", "--version")
    assert (told.exit_code, told.output.split()[0]) == (0, "4.4.0"), told.output
