"""The questions as files of plain SQL, as a build writes them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

DIRECTORY = Path(__file__).parents[1] / "sql"


@cache
def text_of(dialect: str, name: str) -> str:
    """Returns the file of a question, or of the `tables`. A tree of sources has none: it is written now."""
    path = DIRECTORY / dialect / f"{name}.sql"
    if path.exists():
        return path.read_text()
    from kraftctl_spark.history.questions.write import text

    return text(dialect, name)
