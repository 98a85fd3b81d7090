"""The questions in plain SQL give the same answers in Spark as in DuckDB."""

from __future__ import annotations

from typing import Any

import pytest

from kraftctl_codegen import dialects
from tests.spark.history.asked import SparkHistory, in_duckdb
from tests.spark.history.test_versions import Tables, gappy, history, whole
from tests.spark.metadata_histories import History
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow]
__all__ = ["gappy", "history", "whole"]


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(str(list(row.items())) for row in rows)


@pytest.mark.parametrize("kind", [pytest.param("whole", marks=pytest.mark.long), "gappy"])
def test_every_question(kind: str, whole: Tables, gappy: Tables, history: History) -> None:
    tables = {"whole": whole, "gappy": gappy}[kind]
    with in_duckdb(whole.versions) as asked:
        some = asked.rows("happened", from_offset=100, to_offset=400)
    values = {"as_of": 500, "from_offset": 100, "to_offset": 400, "batch_offset": some[9]["batch_offset"]}
    values["topic"] = next(row["subject"] for row in some if row["kind"] == "topic created")
    values["from_time"], values["until_time"] = (
        some[3]["time"].isoformat(" "),
        some[-3]["time"].isoformat(" "),
    )
    answered = 0
    with local_spark() as spark, in_duckdb(tables.versions) as in_duck:
        in_spark = SparkHistory(spark, tables.versions)
        for question in dialects.questions():
            expected = in_duck.ask(question, **values)
            found = in_spark.ask(question, **values)
            assert found.column_names == expected.column_names, question
            assert in_order(found.to_pylist()) == in_order(expected.to_pylist()), question
            answered += found.num_rows > 0
    assert answered > 25
