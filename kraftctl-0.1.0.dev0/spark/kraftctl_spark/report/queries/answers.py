"""The answers of the history's questions, for the queries of the page: they clip, sum up and cut them."""

from __future__ import annotations

from kraftctl_spark.history.questions.files import text_of


def answer(question: str) -> str:
    """Returns SQL for the answer, as a table."""
    return f"({text_of('duckdb', question).rstrip().removesuffix(';')}\n)"


def intervals(question: str) -> str:
    """Returns the same, with the start and the end of each row named as in tables of versions."""
    return f"""(SELECT * RENAME (start_offset AS valid_from_offset, start_time AS valid_from_time,
                                 end_offset AS valid_to_offset, end_time AS valid_to_time)
                FROM {answer(question)})"""
