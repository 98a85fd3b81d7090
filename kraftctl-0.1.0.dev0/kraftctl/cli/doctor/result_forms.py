"""The results of the checks as a table or as JSON, without the secrets of the file."""

from __future__ import annotations

import json
from typing import Final

from kraftctl.cli.doctor.diagnosis import Diagnosis
from kraftctl.cli.doctor.subject import Subject
from kraftctl.cli.hidden_values import HiddenValues
from kraftctl_protocol.escaped_text import escaped

HEADINGS: Final = ("LEVEL", "CHECK", "KEY", "FOUND", "NEXT-STEP")

FIELDS: Final = ("level", "check", "key", "found", "next_step")

ALIGNED_COUNT: Final = 3
"""The last two columns are sentences."""


def text_of(subject: Subject, found: list[tuple[str, Diagnosis]]) -> str:
    """Returns a line per result, with columns."""
    rows = [HEADINGS, *_lines(subject, found)]
    widths = [max(len(row[index]) for row in rows) for index in range(ALIGNED_COUNT)]
    return "\n".join(
        "  ".join(
            [*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), *row[ALIGNED_COUNT:]]
        )
        for row in rows
    )


def json_of(subject: Subject, found: list[tuple[str, Diagnosis]]) -> str:
    """Returns an object with all results."""
    lines = [dict(zip(FIELDS, line, strict=True)) for line in _lines(subject, found)]
    return json.dumps({"findings": lines}, indent=2)


def _lines(subject: Subject, found: list[tuple[str, Diagnosis]]) -> list[tuple[str, ...]]:
    hidden = HiddenValues(subject.properties)
    return [
        tuple(
            map(escaped, (each.level, name, each.key, hidden.hide(each.found), hidden.hide(each.next_step)))
        )
        for name, each in found
    ]
