"""Spark gives the same answers as DuckDB, as views and from the files of plain SQL."""

from __future__ import annotations

from typing import Any

import pytest

from kraftctl_spark.history.questions.questions import sources
from kraftctl_spark.views import HISTORY_VIEWS, register_views
from tests.spark.history.asked import SparkHistory, in_duckdb
from tests.spark.history.test_versions import Tables, gappy, history, whole
from tests.spark.metadata_histories import History
from tests.spark.view_check import local_spark

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow]
__all__ = ["gappy", "history", "whole"]

FROM_FILES = ("outages", "growth_per_hour")
"""The questions without parameters that are asked from files, too."""


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(str(list(row.items())) for row in rows)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["whole", "gappy"])
def test_every_question(kind: str, whole: Tables, gappy: Tables, history: History) -> None:
    """In a session whose hours begin in the middle of those of UTC."""
    tables = {"whole": whole, "gappy": gappy}[kind]
    with in_duckdb(whole.versions) as asked:
        some = asked.rows("happened", from_offset=100, to_offset=400)
    values = {"as_of": 500, "from_offset": 100, "to_offset": 400, "batch_offset": some[9]["batch_offset"]}
    values["topic"] = next(row["subject"] for row in some if row["kind"] == "topic created")
    values["from_time"], values["until_time"] = (
        some[3]["time"].isoformat(" "),
        some[-3]["time"].isoformat(" "),
    )
    values |= {"of_topic": values["topic"], "of_principal": "User:a", "of_operation": "READ"}
    values |= {"of_resource_type": "TOPIC", "of_resource": "b"}
    answered = 0
    with local_spark() as spark, in_duckdb(tables.versions) as in_duck:
        spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
        register_views(spark, tables.raw, prefix="view_", history=tables.versions)
        in_spark = SparkHistory(spark, tables.versions)
        for question in sources():
            expected = in_duck.ask(question, **values)
            answers = []
            if question in HISTORY_VIEWS:
                answers.append(spark.table(f"view_{question}").toArrow())
            if question not in HISTORY_VIEWS or question in FROM_FILES:
                answers.append(in_spark.ask(question, **values))
            for found in answers:
                assert found.column_names == expected.column_names, question
                assert found.schema.types == expected.schema.types, question
                assert in_order(found.to_pylist()) == in_order(expected.to_pylist()), question
            answered += expected.num_rows > 0
    assert answered > 25
