"""Base64 as Java's decoders read it: padding may be left out, and if it is there, it has to be right.

Python's own reader wants the padding, and takes more of it than there should be.
"""

from __future__ import annotations

import base64
import re
from typing import Final

_BASIC: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?")
_URL: Final = re.compile(r"(?:[A-Za-z0-9_-]{4})*+(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?")


def decode_base64(text: str) -> bytes | None:
    """Decodes as `Base64.getDecoder().decode` does; None where that throws. Bits behind the last byte are
    ignored.
    """
    return _decoded(text) if _BASIC.fullmatch(text) is not None else None


def decode_base64url(text: str) -> bytes | None:
    """Decodes as `Base64.getUrlDecoder().decode` does; None where that throws."""
    if _URL.fullmatch(text) is None:
        return None
    return _decoded(text.replace("-", "+").replace("_", "/"))


def _decoded(text: str) -> bytes:
    characters = text.rstrip("=")
    return base64.b64decode(characters + "=" * (-len(characters) % 4))
