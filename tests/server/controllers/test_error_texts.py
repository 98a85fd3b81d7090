"""An error has a text of our own where Kafka's says more than its code, and none where Kafka has none.

Without a text, clients show their own for the code, which their users know and search for. What Kafka's
controller answers is in tests/data/kafka-4.3.1-refusals.tsv; tests/interop/test_error_texts.py asks it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.settings import random_id
from tests.support.wire.refused_requests import refused_requests
from tests.support.wire.refusing_controller import SETTINGS, TEXT, prepare, recorded, refused

pytestmark = pytest.mark.slow

OTHER_ERRORS = {
    "CreateAcls: any-operation": "UNKNOWN_SERVER_ERROR in Kafka: see docs/differences.md",
    "CreateAcls: any-pattern": "the same",
    "CreateAcls: any-permission": "the same",
    "CreateAcls: any-type": "the same",
    "CreateAcls: match-pattern": "the same",
    "CreatePartitions: too-many": "the same",
}
"""Requests that Kafka 4.3.1 answers with another code."""


def test_texts_are_where_kafkas_are(tmp_path: Path) -> None:
    cluster_id = random_id()
    node = KraftctlController(3000, tmp_path, cluster_id, properties=SETTINGS)
    node.format()
    try:
        node.start()
        prepare(node.port, cluster_id)
        found = refused(node.port)
    finally:
        node.kill()
    kafkas = recorded()
    assert found.keys() == kafkas.keys()
    differences: list[str] = []
    for name, answers in found.items():
        theirs = kafkas[name]
        if name in OTHER_ERRORS:
            continue
        if [(each.place, each.error.name) for each in answers] != [row[:2] for row in theirs]:
            differences.append(f"{name}: {answers}, Kafka {theirs}")
        for answer, (_, _, text) in zip(answers, theirs, strict=False):
            if answer.text and text != TEXT:
                differences.append(f"{name}: {answer.text!r}, Kafka has no text")
    assert differences == []


def test_the_requests_are_of_all_apis_that_name_what_they_refuse() -> None:
    assert len(refused_requests()) >= 130
    assert len({name.partition(":")[0] for name in refused_requests()}) >= 17
