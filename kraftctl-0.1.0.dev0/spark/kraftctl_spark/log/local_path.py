"""Accepts local paths, also as a `file:` URI, and refuses other schemes.

As a path, `s3a://bucket/x` would be a local directory `s3a:`, in which an export succeeds.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_SCHEME = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]+):/")
_FILE = re.compile(r"^file:(?://(?:localhost)?)?(/(?!/).*)$", re.IGNORECASE)


def local_path(text: Path | str) -> Path:
    """Returns the path; ValueError for a location that is not a path of the file system."""
    given = str(text)
    if found := _FILE.match(given):
        return Path(unquote(found[1]))
    if scheme := _SCHEME.match(given):
        raise ValueError(
            f"{given}: {scheme[1]}: is not supported. Give a path, or file:///path, of a file system that is "
            "mounted under the same path wherever the export runs"
        )
    return Path(given)
