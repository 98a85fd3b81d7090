"""Versions against Kafka's own MetadataImage, at random offsets, with gaps and aborted transactions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.spark.history.test_versions import SEED, Tables, as_of, at_offset, gappy, history
from tests.spark.metadata_histories import History
from tests.spark.view_check import compare_rows, kafka_states

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow]

OFFSETS_COMPARED = 40
__all__ = ["gappy", "history"]


def test_what_is_valid_at_an_offset_is_kafkas(history: History, gappy: Tables, tmp_path: Path) -> None:
    known = [offset for part in gappy.known for offset in part]
    offsets = random.Random(SEED).sample(known, OFFSETS_COMPARED)
    offsets += [edge for part in gappy.known for edge in (part[0], part[-1])]
    kafkas = kafka_states(history.values, offsets, tmp_path / "records.txt")
    for offset, state in kafkas.items():
        for kind, expected in state.items():
            rows = as_of(gappy.versions, kind, at_offset(offset))
            for row in expected:
                row.pop("partitions", None)  # Of a topic: their number.
            compare_rows(f"{kind} at {offset}", rows, expected)
