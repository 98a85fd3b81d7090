"""The first message of an OAUTHBEARER client (RFC 7628 section 3.1), with the extensions of KIP-342."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

SEPARATOR: Final = b"\x01"

ERROR_ACKNOWLEDGEMENT: Final = SEPARATOR
"""A client sends this after the server's error."""

AUTH_KEY: Final = "auth"

# Possessive: a peer's bytes are looked at once, and the matcher keeps no places to return to.
_NAME: Final = rb"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)++"
_KEY: Final = rb"[A-Za-z]++"
_VALUE: Final = rb"[\x21-\x7e \t\r\n]++"

_MESSAGE: Final = re.compile(
    rb"n,(?:a=(?P<authorization_id>" + _NAME + rb"))?+,\x01"
    rb"(?P<pairs>(?:" + _KEY + rb"=" + _VALUE + rb"\x01)*+)\x01"
)
_AUTH: Final = re.compile(r"(?P<scheme>[A-Za-z0-9_]++) ++(?P<token>[-_~+/.a-zA-Z0-9]++=*+)")

_EXTENSION_NAME: Final = re.compile(_KEY.decode())
_EXTENSION_VALUE: Final = re.compile(_VALUE.decode())


class InitialResponseError(Exception):
    """The bytes are not a first message, or have an invalid extension. The text has no token."""


class InitialResponse:
    """A token as its issuer wrote it. `authorization_id` may be empty, and is not decoded, as in Kafka."""

    def __init__(
        self, token: str, *, authorization_id: str = "", extensions: Mapping[str, str] | None = None
    ) -> None:
        """Raises InitialResponseError for an extension that is not valid."""
        self.token = token
        self.authorization_id = authorization_id
        self.extensions = dict(extensions or {})
        _check(self.extensions)

    def to_bytes(self) -> bytes:
        """Returns the bytes that Kafka's clients would send."""
        authorization = f"a={self.authorization_id}" if self.authorization_id else ""
        pairs = [f"{AUTH_KEY}=Bearer {self.token}"]
        pairs += [f"{name}={value}" for name, value in self.extensions.items()]
        return f"n,{authorization},\x01{''.join(each + chr(1) for each in pairs)}\x01".encode()


def parse_initial_response(message: bytes) -> InitialResponse:
    """Parses a first message; for a repeated key the last value counts. Raises InitialResponseError."""
    match = _MESSAGE.fullmatch(message)
    if match is None:
        raise InitialResponseError("the first message of OAUTHBEARER is malformed")
    pairs = dict(_pair(each) for each in match["pairs"].split(SEPARATOR) if each)
    auth = pairs.pop(AUTH_KEY, None)
    if auth is None:
        raise InitialResponseError("the first message of OAUTHBEARER has no auth")
    found = _AUTH.fullmatch(auth)
    if found is None:
        raise InitialResponseError("auth in the first message of OAUTHBEARER is malformed")
    if found["scheme"].lower() != "bearer":
        raise InitialResponseError("the scheme in the first message of OAUTHBEARER must be Bearer")
    authorization_id = (match["authorization_id"] or b"").decode("ascii")
    return InitialResponse(found["token"], authorization_id=authorization_id, extensions=pairs)


def _pair(text: bytes) -> tuple[str, str]:
    name, _, value = text.decode("ascii").partition("=")
    return name, value


def _check(extensions: Mapping[str, str]) -> None:
    for name, value in extensions.items():
        if name == AUTH_KEY or not _EXTENSION_NAME.fullmatch(name):
            raise InitialResponseError(
                f"Extension name {name} is invalid: it has letters only, and is not auth"
            )
        if not _EXTENSION_VALUE.fullmatch(value):
            raise InitialResponseError(
                f"The value of extension {name} is invalid: it has printable ASCII only"
            )
