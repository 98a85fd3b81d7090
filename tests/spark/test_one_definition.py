"""A view, its file of plain SQL and the page count the same things, also in a log with gaps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kraftctl_spark.history.known_ranges import decode_ranges
from kraftctl_spark.history.questions.questions import query_of
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.views import HISTORY_VIEWS
from kraftctl_spark.views.log import LogHistory
from tests.spark.history.asked import DuckDbHistory, in_duckdb
from tests.spark.history.test_versions import Tables, gappy, history, whole
from tests.spark.page_counts import ON_THE_PAGE, Count, OfPage

__all__ = ["gappy", "history", "whole"]


@pytest.fixture(scope="module", params=["whole", "gappy"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[DuckDbHistory, Contents]]:
    tables: Tables = request.getfixturevalue(request.param)
    with in_duckdb(tables.versions) as asked:
        yield asked, fetch(tables.raw, tables.versions, None, None)


@pytest.mark.parametrize(("question", "count", "of_page"), ON_THE_PAGE)
def test_page_and_file_count_the_same(
    both: tuple[DuckDbHistory, Contents], question: str, count: Count, of_page: OfPage
) -> None:
    asked, page = both
    assert count(asked.rows(question)) == of_page(page)


def test_what_is_in_effect_is_the_state_at_the_end(
    both: tuple[DuckDbHistory, Contents], whole: Tables
) -> None:
    asked, page = both
    end = max(row["end_offset"] for row in asked.rows("known_tables"))
    for table, standing in {"acls": page.acls, "quotas": page.quotas, "features": page.features}.items():
        assert standing.at_end is not None
        assert standing.at_end.total == len(asked.rows(f"{table}_at", as_of=end - 1)), table


def test_a_view_is_its_file(whole: Tables) -> None:
    """Both are made of the text of the question: there is no other definition of a view."""
    log = LogHistory(tuple(decode_ranges(read_versions(whole.versions, "known_ranges"))))
    for name in HISTORY_VIEWS:
        assert f"SELECT * FROM (\n{query_of(name)}\n)" in log.answer(name), name
