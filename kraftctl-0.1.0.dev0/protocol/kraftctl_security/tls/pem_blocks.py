"""Finds the blocks of a PEM text, in one pass: a text may have a million dashes, or beginnings without ends.

A block may be on one line, as a property usually is. Text around blocks, and the headers within them that end
before the first line without a colon, are ignored.
"""

from __future__ import annotations

import base64
import re
from typing import Final

_MARKER: Final = re.compile(r"-(BEGIN|END) ([A-Z0-9 ]{1,64})-")
_CONTENT: Final = re.compile(r"[a-zA-Z0-9/+=\s]*")
_LINE_END: Final = re.compile(r"[\r\n]+")


def pem_blocks(text: str, kinds: tuple[str, ...]) -> list[tuple[str, bytes]]:
    """Returns kind and content of each block of one of `kinds`. Raises binascii.Error."""
    found: list[tuple[str, bytes]] = []
    begin: re.Match[str] | None = None
    for marker in _MARKER.finditer(text):
        if marker.group(1) == "BEGIN":
            begin = marker
            continue
        kind = marker.group(2)
        if begin is not None and begin.group(2) == kind and kind in kinds:
            inner = text[begin.end() : marker.start()].strip("-")
            content = _without_headers(inner)
            if inner[:1].isspace() and _CONTENT.fullmatch(content):
                found.append((kind, base64.b64decode("".join(content.split()))))
        begin = None
    return found


def _without_headers(content: str) -> str:
    position = 0
    for end in _LINE_END.finditer(content):
        line = content[position : end.start()]
        if line.strip(" \t") and ":" not in line:
            break
        position = end.end()
    return content[position:]
