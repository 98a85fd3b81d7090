"""Writes the questions as files of plain SQL, as a build does for what it installs.

python -m kraftctl_spark.history.questions.write DIRECTORY
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from kraftctl_spark.history.questions.dialects import DIALECTS, TABLES
from kraftctl_spark.history.questions.macro_files import macro_file
from kraftctl_spark.history.questions.macros import MACROS, WITH_AUDIT_LOG
from kraftctl_spark.history.questions.questions import sources


def text(dialect: str, name: str) -> str:
    """Returns the file of a question, of the tables, or of the macros."""
    return macro_file(dialect, name) if name in (MACROS, WITH_AUDIT_LOG) else DIALECTS[dialect].file(name)


def files() -> Iterator[tuple[str, str]]:
    """Returns path and text of every file."""
    for dialect in DIALECTS:
        for name in (TABLES, MACROS, WITH_AUDIT_LOG, *sources()):
            yield f"{dialect}/{name}.sql", text(dialect, name)


def write(directory: Path) -> None:
    """Writes every file below a directory."""
    for path, written in files():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(written)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
