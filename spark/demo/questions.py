"""Three questions to the demo's history, as DuckDB answers them from the plain SQL files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb

from kraftctl_spark.history.questions.files import text_of

QUESTIONS = {
    "elections": ("offset", "topic", "partition_id", "old_leader", "new_leader", "kind", "cause"),
    "fencing_timeline": ("broker_id", "broker_epoch", "state", "start_offset", "end_offset"),
    "config_audit": ("offset", "resource_type", "resource_name", "name", "old_value", "new_value"),
}
"""The questions, each with the columns that are shown."""
ROWS_SHOWN = 15


def answers(history: Path) -> Iterator[str]:
    """Yields each question with its answer."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"SET file_search_path = '{history}'")
        connection.execute(text_of("duckdb", "tables"))
        for name, columns in QUESTIONS.items():
            text = text_of("duckdb", name)
            found = connection.sql(text).to_arrow_table().select(list(columns))
            rows = [list(map(str, row.values())) for row in found.to_pylist()]
            meaning = text.splitlines()[0].removeprefix("-- ")
            yield "\n".join([f"{name}.sql: {meaning}", *_aligned([list(columns), *rows[:ROWS_SHOWN]])])
            if len(rows) > ROWS_SHOWN:
                yield f"  ... {len(rows)} in all"


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
