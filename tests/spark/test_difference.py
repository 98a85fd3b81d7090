"""A difference of two points, of a history that is written down."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftctl_spark.history.known_ranges import KnownRange
from kraftctl_spark.history.not_known import NotKnown
from kraftctl_spark.history.schema import encode_versions
from kraftctl_spark.history.versions.kinds import KINDS, PARTITIONS, TOPICS
from kraftctl_spark.history.versions.versions import Version
from kraftctl_spark.views.difference import difference
from kraftctl_spark.views.log import HISTORY, LogHistory
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def began(key: tuple[int | str, ...], values: tuple[object, ...], offset: int) -> Version:
    return Version(key, values, offset, offset * 1000, False, offset)


def test_a_topic_that_grew(tmp_path: Path) -> None:
    """Its own version is the same at both points: those of its partitions say how many there are."""
    nothing = (None,) * (len(PARTITIONS.values) - 1)
    versions = {
        TOPICS: [began(("t",), ("orders",), 3), began(("u",), ("same",), 3)],
        PARTITIONS: [
            began(("t", 0), ("orders", *nothing), 4),
            began(("u", 0), ("same", *nothing), 4),
            began(("t", 1), ("orders", *nothing), 7),
        ],
    }
    with local_spark() as spark:
        for kind in KINDS:
            path = tmp_path / f"{kind.name}.parquet"
            pq.write_table(encode_versions(kind, versions.get(kind, []), "cluster"), path)
            spark.read.parquet(str(path)).createOrReplaceTempView(f"{HISTORY}{kind.name}")
        for before, after, counts in ((5, 8, ("1", "2")), (8, 5, ("2", "1"))):
            rows = spark.sql(difference(LogHistory((), as_of=before), LogHistory((), as_of=after))).collect()
            found = [tuple(row)[1:] for row in rows if row["view"] == "topics"]
            assert found == [('{"topic_id":"t"}', "orders", "changed", "partitions", *counts)]
            assert {row["name"] for row in rows if row["view"] == "partitions"} == {"orders-1"}
            known = KnownRange(0, 0, False, 9, 9, "cluster")
            lost = NotKnown(6, 6, None, None, "undecodable", "", "partitions", None, None, None, 1, "cluster")
            first, second = (
                LogHistory((known,), as_of=as_of, not_known=(lost,)) for as_of in (before, after)
            )
            assert spark.sql(difference(first, second)).collect() == []
