"""Every list that the page cuts says how many of how many it shows, and which view or macro has all."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

import pytest

from kraftctl_spark.history.questions.macros import macros
from kraftctl_spark.report.contents import Contents, Listed, Present, Standing, Unknown
from kraftctl_spark.report.page import render
from tests.spark.report_contents import busy

TOTAL = 987_654


def lists() -> list[str]:
    """Every list of the contents, as a path of fields."""
    found = [one.name for one in fields(Contents) if one.type.startswith("Listed")]
    for outer in fields(Contents):
        inner = {"Present": Present, "Standing": Standing}.get(outer.type.partition("[")[0])
        found += [
            f"{outer.name}.{one.name}" for one in fields(inner or Present) if inner and "Listed" in one.type
        ]
    return found


def with_cut(contents: Any, path: str) -> Any:
    name, _, rest = path.partition(".")
    value = getattr(contents, name)
    return replace(contents, **{name: with_cut(value, rest) if rest else Listed(value.rows[:1], TOTAL)})


@pytest.mark.parametrize("path", lists())
def test_a_list_that_is_cut_says_where_the_rest_is(path: str) -> None:
    contents = busy()
    if path == "not_known":
        unknown = Unknown(1, None, None, "unknown type", "record type 120 version 3", 1)
        contents = replace(contents, not_known=Listed((unknown,), 1))
    page = render(with_cut(contents, path), "made by a test")
    notes = re.findall(
        r"Shown are the [a-z]+ 1 of 987,654 [^.]*\. All: ([a-z_]+)[^.]* in spark/QUESTIONS\.md\.", page
    )
    assert notes
    assert set(notes) <= {macro.name for macro in macros()}
