"""Versions against Kafka's own MetadataImage, at random offsets, with gaps and aborted transactions.

Asked in DuckDB, with the SQL that Spark has as well: tests/spark/test_views.py reads views at a few of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import in_duckdb
from tests.spark.history.test_versions import SEED, Tables, gappy, history
from tests.spark.metadata_histories import History
from tests.spark.view_check import kafka_states

pytestmark = [pytest.mark.java, pytest.mark.slow]

OFFSETS_COMPARED = 50
__all__ = ["gappy", "history"]


def test_what_is_valid_at_an_offset_is_kafkas(history: History, gappy: Tables, tmp_path: Path) -> None:
    known = [offset for part in gappy.known for offset in part]
    offsets = [edge for part in gappy.known for edge in (part[0], part[-1])]
    offsets += random.Random(SEED).sample(known, OFFSETS_COMPARED)
    kafkas = kafka_states(history.values, offsets, tmp_path / "records.txt")
    with in_duckdb(gappy.versions) as asked:
        for offset, state in kafkas.items():
            for kind, expected in state.items():
                compare_rows(f"{kind} at {offset}", asked.rows(f"{kind}_at", as_of=offset), expected)
