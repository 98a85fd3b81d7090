"""What chaos must not find."""

from __future__ import annotations


class FindError(AssertionError):
    """Something that must not happen: what, and where it was seen."""
