"""PlantedFault: a named defect, the change of text that causes it, and the tests that must fail."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlantedFault:
    """In `file`, `old` (which occurs exactly once) becomes `new`: at least one of `tests` has to fail.

    `tests` are few and quick, as pytest's arguments. `why` says what would go wrong.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str
