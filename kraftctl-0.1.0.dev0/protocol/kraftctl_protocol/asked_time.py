"""How long a time lasts that an operator has typed: printed times have no fractions, and are typed again."""

from __future__ import annotations

from typing import Final

SECOND_MS: Final = 1_000


def span_ms_of(text: str) -> int:
    """Returns how many ms a time lasts: without a fraction, it is a whole second."""
    return 0 if "." in text or "," in text else SECOND_MS - 1
