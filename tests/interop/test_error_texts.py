"""Kafka's own controller still refuses as tests/data/kafka-4.3.1-refusals.tsv says. REWRITE=1 writes it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from tests.support.processes.kafka import kafka, run_java_source
from tests.support.wire import refusing_controller
from tests.support.wire.refusing_controller import RECORDED, SETTINGS, lines_of, prepare, refused

pytestmark = [pytest.mark.interop, pytest.mark.long]

STANDARD_TEXTS = Path(refusing_controller.__file__).parent / "StandardTexts.java"


def test_what_kafka_refuses_is_recorded(tmp_path: Path) -> None:
    printed = run_java_source(STANDARD_TEXTS)
    standard = dict(line.split("\t", 1) for line in printed.splitlines() if "\t" in line)
    with Cluster(kafka(), tmp_path, brokers=0, java_controller=True, controller_settings=SETTINGS) as cluster:
        prepare(cluster.controller.port, cluster.cluster_id)
        found = lines_of(refused(cluster.controller.port), standard)
    if os.environ.get("REWRITE"):
        RECORDED.write_text(found)
    assert found == RECORDED.read_text()
