"""PlantedFault: a defect by name, the text that brings it about, and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlantedFault:
    """In `file`, `old` (which occurs exactly once) becomes `new`: at least one of `tests` has to fail.

    `tests` are few and quick, as pytest takes them. `why` says what would go wrong.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str
