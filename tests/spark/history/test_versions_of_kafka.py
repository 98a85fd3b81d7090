"""Versions against Kafka's own MetadataImage, at random offsets, with gaps and aborted transactions.

Asked as users do, with the plain SQL files, in DuckDB and in Spark.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import SparkHistory, in_duckdb
from tests.spark.history.test_versions import SEED, Tables, gappy, history
from tests.spark.metadata_histories import History
from tests.spark.view_check import kafka_states, local_spark

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow]

OFFSETS_COMPARED = 50
OF_THEM_IN_SPARK = 6
__all__ = ["gappy", "history"]


def test_what_is_valid_at_an_offset_is_kafkas(history: History, gappy: Tables, tmp_path: Path) -> None:
    known = [offset for part in gappy.known for offset in part]
    offsets = [edge for part in gappy.known for edge in (part[0], part[-1])]
    offsets += random.Random(SEED).sample(known, OFFSETS_COMPARED)
    kafkas = kafka_states(history.values, offsets, tmp_path / "records.txt")
    with in_duckdb(gappy.versions) as in_duck, local_spark() as spark:
        in_spark = SparkHistory(spark, gappy.versions)
        for offset, state in kafkas.items():
            for kind, expected in state.items():
                for row in expected:
                    row.pop("partitions", None)  # Of a topic: their number.
                rows = in_duck.rows(f"{kind}_at", as_of=offset)
                compare_rows(f"{kind} at {offset}", rows, expected)
                if offset in offsets[-OF_THEM_IN_SPARK:]:
                    rows = in_spark.ask(f"{kind}_at", as_of=offset).to_pylist()
                    compare_rows(f"{kind} at {offset} in Spark", rows, expected)
