"""Compares rows of two sources, in any order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

SORTED_LISTS = ("end_points", "features", "log_dirs", "entity")
"""Fields that Kafka keeps as sets or maps."""


def comparable(rows: Iterable[Mapping[str, Any]], columns: set[str]) -> list[str]:
    """Rows as sorted text: only these columns, all of them when there are none."""
    return sorted(
        json.dumps(
            {
                name: _plain(name, value)
                for name, value in sorted(row.items())
                if not columns or name in columns
            }
        )
        for row in rows
    )


def _plain(name: str, value: Any) -> Any:
    if name in SORTED_LISTS and value is not None:
        return sorted(value, key=str)
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    return value


def compare_rows(view: str, found: Iterable[Mapping[str, Any]], wanted: Iterable[Mapping[str, Any]]) -> None:
    """AssertionError with the first rows that only one of the two has; in the columns of `wanted`."""
    expected = list(wanted)
    columns = set(expected[0]) if expected else set()
    left, right = comparable(found, columns), comparable(expected, columns)
    differing = [f"found {row}" for row in left if row not in right]
    differing += [f"wanted {row}" for row in right if row not in left]
    assert left == right, f"{view}: " + "\n".join(differing[:8])
