"""Java's regular expressions in configurations: allowlist.pattern, ssl.principal.mapping.rules.

Python's `re` reads most of them alike; what it reads differently or not at all is refused.
"""

from __future__ import annotations

import re
import warnings
from typing import Final

_DIFFERENT_IN_JAVA: Final = re.compile(r"&&|\(\?[axLsmu-]|\(\?P|\\[ZvN0]|\[(?:\\.|[^\]\\])*\[")
"""Classes within classes, and some flags, groups and escapes, have another meaning in Java."""

_BRACES: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{[0-9]+(?:,[0-9]*)?\}|(\{)", re.DOTALL)
"""A brace that begins no quantifier is an error in Java, and text in Python."""

_NAMED_GROUP: Final = re.compile(r"(?<!\\)\(\?<([a-zA-Z])")


class PatternError(Exception):
    """A pattern that cannot be used here; the text says which and why."""


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Matches what Java matches, in texts of one line; raises PatternError."""
    has_odd_brace = any(match.group(1) for match in _BRACES.finditer(pattern))
    if has_odd_brace or _DIFFERENT_IN_JAVA.search(pattern) is not None:
        raise PatternError(f"the pattern '{pattern}' has an element of Java's that is not supported here")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of nested sets, which Java reads as unions
            return re.compile(_NAMED_GROUP.sub(r"(?P<\1", pattern), re.ASCII)
    except (re.error, Warning) as error:
        raise PatternError(f"the pattern '{pattern}' cannot be used: {error}") from error
