"""The text of an error of a client of Delta, Iceberg or a catalog, for logs, `status` and a note.

A client's own text may have a signature, a password or a whole answer: of it, one line without these stays.
"""

from __future__ import annotations

import re
from typing import Final

from kraftctl_protocol.escaped_text import escaped
from kraftctl_spark.stores.store_error import CODE, store_error

LINE_MAX: Final = 300
READ_MAX: Final = 1_000
"""What is looked at of a line, in characters: its text may be anything that a server sends."""

_STATUS = re.compile(r"status (\d{3})\b")
"""deltalake has `with status 403` where obstore has `status code: 403`."""
_OBJECT = re.compile(r"<[\w.]+(?: object at 0x[0-9a-f]+|\(host=[^>]*)>:? ?")
_BODY = re.compile(r"\s*[<{\[(]?[<{].*")
_USER = re.compile(r"//[^/@\s]*@")
_QUERY = re.compile(r"\?\S*=[^\s)'\"]*")
_SECRET = re.compile(
    r"(?:key|sign(?:ature)?|token|passw(?:or)?d|pwd|secret|authorization|credentials?)\w*['\"]?\s*(?:[=:]|bearer)"
    r"|bearer |basic ",
    re.IGNORECASE,
)


def client_error(error: BaseException, location: str) -> str:
    """Returns the text of an error while a table at `location` was published; it is one line.

    `location` is a URL where it decides which store's answer it may be, and a path otherwise.
    """
    kind, text = type(error).__name__, str(error)
    if "://" in location and (CODE.search(text) or _STATUS.search(text) or isinstance(error, OSError)):
        known = _STATUS.sub(r"status code: \1", text)
        return f"{kind}: {store_error(OSError(known), 'publish', location)}"
    line = one_line(text)
    return f"{kind}: {line}" if line else kind


def one_line(text: str) -> str:
    """Returns the first line without bodies, users, queries and what is not printable; empty where it names a
    secret.
    """
    line = next(iter(text.strip().splitlines()), "")[:READ_MAX]
    line = _BODY.sub("", _OBJECT.sub("", line))
    line = escaped(_QUERY.sub("", _USER.sub("//", line)))[:LINE_MAX].rstrip(" :")
    return "" if _SECRET.search(line) else line
