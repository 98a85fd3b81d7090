"""Versions against Kafka's own MetadataImage, at random offsets, with gaps and aborted transactions.

Asked in DuckDB, with the SQL that Spark has as well: tests/spark/test_views.py reads views at a few of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.spark.compared_rows import compare_rows
from tests.spark.history.asked import in_duckdb
from tests.spark.history.test_versions import SEED, Tables, gappy, history, with_gaps
from tests.spark.metadata_histories import History, generate
from tests.spark.view_check import kafka_states

pytestmark = [pytest.mark.java, pytest.mark.slow]

OFFSETS_COMPARED = 50
OTHER_LOGS, OFFSETS_OF_EACH = 20, 30
__all__ = ["gappy", "history"]


def test_what_is_valid_at_an_offset_is_kafkas(history: History, gappy: Tables, tmp_path: Path) -> None:
    compare(history, gappy, random.Random(SEED), OFFSETS_COMPARED, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(OTHER_LOGS))
def test_what_is_valid_in_other_logs_is_kafkas(seed: int, tmp_path: Path) -> None:
    """Each with two snapshots, two gaps, and aborted transactions."""
    drawn = generate(seed, 420, (200, 320))
    assert drawn.aborted
    compare(drawn, with_gaps(drawn, tmp_path, 120), random.Random(seed), OFFSETS_OF_EACH, tmp_path)


def compare(history: History, tables: Tables, chance: random.Random, count: int, scratch: Path) -> None:
    """At the edges of what is known, and at so many offsets in it."""
    known = [offset for part in tables.known for offset in part]
    offsets = [edge for part in tables.known for edge in (part[0], part[-1])]
    offsets += chance.sample(known, count)
    kafkas = kafka_states(history.values, offsets, scratch / "records.txt")
    with in_duckdb(tables.versions) as asked:
        for offset, state in kafkas.items():
            for kind, expected in state.items():
                compare_rows(f"{kind} at {offset}", asked.rows(f"{kind}_at", as_of=offset), expected)
