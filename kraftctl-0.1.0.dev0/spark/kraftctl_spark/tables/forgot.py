"""What an output says about a name that was forgotten: what has replaced it, and not the name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Forgot:
    """The part of a commit about it. The first commit of a name replaces it, the last one says that nothing
    is left to do.
    """

    kind: str
    """What had the name: `principal` or `topic`."""
    pseudonym: str
    """It is random: nothing of the name is in it."""
    records: int = 0
    files: int = 0
    """How many records were changed, and how many files were replaced."""
    is_finished: bool = False


@dataclass(frozen=True)
class ForgottenName:
    """A name of which the output has nothing any more, once that is finished."""

    kind: str
    pseudonym: str
    records: int
    files: int
    number: int
    """The commit that has replaced it."""
    at_ms: int
    finished_at_ms: int = 0
    """0 until old files are deleted, published tables are new, and a search has found nothing."""
