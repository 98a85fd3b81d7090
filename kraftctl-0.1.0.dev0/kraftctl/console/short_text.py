"""Shortens what others have named or written: a config or a principal may have a megabyte."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.counted_text import counted

CHARACTERS_MAX: Final = 300


def shortened(text: str) -> str:
    """Returns the text, or its first characters and how many there are."""
    if len(text) <= CHARACTERS_MAX:
        return text
    return f"{text[:CHARACTERS_MAX]}… ({counted(len(text), 'character')})"
