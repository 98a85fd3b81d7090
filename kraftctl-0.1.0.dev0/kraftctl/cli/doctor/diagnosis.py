"""What a check says: a level, the key concerned, what was found, and the next step."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Final

OK: Final = "OK"
WARN: Final = "WARN"
UNKNOWN: Final = "UNKNOWN"
"""The check could not be carried out."""
ERROR: Final = "ERROR"

STATUS_OK: Final = 0
STATUS_CANNOT_TELL: Final = 1
STATUS_ERRORS: Final = 10

NEXT_STEP: Final = "Next step: "
NONE: Final = "-"

_KEY: Final = re.compile(r"[a-z][a-z0-9]*(?:[.-][A-Za-z0-9_]+)+")
_AT: Final = re.compile(r"for configuration ([^ :]+):")
_MEANT: Final = re.compile(r"[Dd]id you mean ([^ ?]+)\?")


@dataclass(frozen=True)
class Diagnosis:
    """One line of the result of a check."""

    level: str
    found: str
    next_step: str = NONE
    key: str = NONE


def ok(found: str, key: str = NONE) -> Diagnosis:
    return Diagnosis(OK, found, key=key)


def of_sentence(level: str, sentence: str, keys: Container[str], key: str = NONE) -> Diagnosis:
    """Splits an error of the product into what was found and the next step.

    Without a `key`, it is the first one of `keys` that the sentence names.
    """
    found, _, step = sentence.partition(NEXT_STEP)
    meant = _MEANT.search(found)
    if not step:
        step = f"rename it to {meant.group(1)}" if meant is not None else "correct the value"
    at = _AT.search(sentence)
    if key == NONE and at is not None and at.group(1) in keys:
        key = at.group(1)
    if key == NONE:
        key = next((name for name in _KEY.findall(sentence) if name in keys), NONE)
    return Diagnosis(level, found.strip().rstrip(":;"), step.strip(), key)


def status_of(found: list[Diagnosis]) -> int:
    """Returns the exit status: errors come before what could not be checked."""
    levels = {each.level for each in found}
    if ERROR in levels:
        return STATUS_ERRORS
    return STATUS_CANNOT_TELL if UNKNOWN in levels else STATUS_OK
