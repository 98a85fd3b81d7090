"""examples/metadata.ipynb: a notebook as Jupyter expects it, whose cells answer over tables of an export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.spark.history.test_versions import Tables, history, whole

__all__ = ["history", "whole"]

NOTEBOOK = Path(__file__).parents[3] / "examples" / "metadata.ipynb"


def notebook() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    return read


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def test_it_has_the_form_of_a_notebook() -> None:
    """Version 4, without outputs: who opens it sees results of their own cluster only."""
    read = notebook()
    assert (read["nbformat"], read["metadata"]["kernelspec"]["language"]) == (4, "python")
    kinds = [cell["cell_type"] for cell in read["cells"]]
    assert set(kinds) == {"markdown", "code"}
    code = [cell for cell in read["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert [cell for cell in read["cells"] if not isinstance(cell["source"], list)] == []


def test_every_cell_has_an_answer(whole: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    for part in whole.raw.iterdir():
        (tables / part.name).symlink_to(part)
    (tables / "history").symlink_to(whole.versions)
    monkeypatch.chdir(tmp_path)
    first, *questions = [source_of(cell) for cell in notebook()["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    exec(first, names)
    relations = [eval(question, names) for question in questions]
    assert [relation for relation in relations if "rows" not in repr(relation)] == []
    answers = [relation.to_arrow_table().to_pylist() for relation in relations]
    assert len(answers) == 7
    assert [question for question, rows in zip(questions, answers, strict=True) if not rows] == []
