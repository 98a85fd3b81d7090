"""Checks the name of a topic."""

from __future__ import annotations

import re
from typing import Final

TOPIC_NAME_LENGTH_MAX: Final = 249

LEGAL_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def why_topic_name_invalid(name: str) -> str | None:
    """Returns why a topic cannot have this name; None if it can."""
    if not name:
        return "Topic name is invalid: it is empty"
    if name in (".", ".."):
        return f"Topic name is invalid: '{name}' is not allowed"
    if len(name) > TOPIC_NAME_LENGTH_MAX:
        return f"Topic name is invalid: it is longer than {TOPIC_NAME_LENGTH_MAX} characters"
    if LEGAL_TOPIC_NAME.fullmatch(name) is None:
        return f"Topic name is invalid: '{name}' may have only ASCII letters, digits, '.', '_' and '-'"
    return None
