"""URLs of the issuer, which are https or a file, and on the list of allowed ones (CVE-2025-27817)."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote, urlsplit

from kraftctl_security.sasl.oauthbearer.oauthbearer_values import OAuthBearerValues

ALLOWED_URLS: Final = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
"""The key is a system property of the JVM in Kafka; here it is a key of the file without prefix. Empty by
default."""

HTTPS: Final = "https"
FILE: Final = "file"


class IssuerUrl:
    """A URL as it is configured, in `text`. `path` is that of a file, None with https."""

    def __init__(self, text: str) -> None:
        """Raises ValueError, whose text says what is wrong."""
        parts = urlsplit(text)
        self.text = text
        self.scheme = parts.scheme
        self.host = parts.hostname or ""
        self.port = parts.port or 443
        self.target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self.path = unquote(parts.path) if parts.scheme == FILE else None
        if parts.scheme == FILE:
            if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
                raise ValueError("the URL of a file is file:/ with an absolute path")
        elif parts.scheme != HTTPS:
            raise ValueError("it must begin with https:// or file:/, never with http://")
        elif not parts.hostname or parts.username is not None or parts.fragment:
            raise ValueError("it must have a host, and neither a user nor a fragment")
        elif not text.isascii() or any(each <= " " for each in text):
            raise ValueError("it has characters that must be encoded")


def read_issuer_url(values: OAuthBearerValues, key: str, allowed: list[str]) -> IssuerUrl | None:
    """Returns None if it is not there or refused, which is noted."""
    text = values.optional_text(key)
    if text is None:
        return None
    try:
        url = IssuerUrl(text)
    except ValueError as error:
        if "@" in text:
            values.refuse_secret(key, f"{error}")  # there may be a password before it
        else:
            values.refuse(key, text, f"{error}")
        return None
    if text not in allowed:
        values.refuse(
            key, text, f"it is not in {ALLOWED_URLS}. Next step: add it if it is that of your issuer"
        )
        return None
    return url
