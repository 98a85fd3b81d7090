"""Processes of Kafka use the archive of their classes where there is one, and run without it elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev import kafka_distribution
from kraftctl.dev.kafka_distribution import KafkaDistribution
from tests.support.processes.class_archive import ARCHIVE, archived


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KafkaDistribution:
    monkeypatch.setattr(kafka_distribution, "_java_binary", lambda: "java")
    return KafkaDistribution("4.3.1", tmp_path, "kafka.jar")


def test_without_an_archive_the_command_is_the_ordinary_one(plain: KafkaDistribution) -> None:
    assert archived(plain).command("kafka.Kafka", "a") == plain.command("kafka.Kafka", "a")


def test_with_an_archive_only_quick_processes_use_it(plain: KafkaDistribution, tmp_path: Path) -> None:
    (tmp_path / ARCHIVE).touch()
    option = f"-XX:SharedArchiveFile={tmp_path / ARCHIVE}"
    assert option in archived(plain).command("kafka.Kafka", "a")
    assert archived(plain).command("kafka.Kafka", quick=False) == plain.command("kafka.Kafka", quick=False)
