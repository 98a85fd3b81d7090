"""Kafka's names of the numbers in records, as SQL."""

from __future__ import annotations

from collections.abc import Mapping


def named(column: str, names: Mapping[int, str]) -> str:
    """Returns SQL for the name of a number; the number itself where only a newer Kafka has a name for it."""
    cases = " ".join(f"WHEN {number} THEN '{name}'" for number, name in names.items())
    return f"CASE {column} {cases} ELSE CAST({column} AS STRING) END"
