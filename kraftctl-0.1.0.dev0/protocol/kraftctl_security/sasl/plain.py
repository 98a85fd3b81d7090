"""PLAIN (RFC 4616): a name and a password in clear, for connections that are encrypted.

The users of a listener are in its JAAS entry, as `user_<name>="<password>"`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from kraftctl_protocol.principal import USER_TYPE, KafkaPrincipal
from kraftctl_security.sasl.mechanism import Authenticated, SaslAuthenticationError

USER_PREFIX: Final = "user_"

PARTS_COUNT: Final = 3


class PlainUsers:
    """The users of a listener, with digests of their passwords: each comparison takes the same time."""

    def __init__(self, options: dict[str, str]) -> None:
        """Takes the `options` of the JAAS entry."""
        self._digests = {
            name.removeprefix(USER_PREFIX): _digest(password)
            for name, password in options.items()
            if name.startswith(USER_PREFIX)
        }
        self._unknown = secrets.token_bytes(32)

    def knows(self, name: str, password: str) -> bool:
        """Checks a password; an unknown name takes as much time as a known one."""
        expected = self._digests.get(name, self._unknown)
        return hmac.compare_digest(expected, _digest(password))


class PlainServer:
    """The side of a listener; the texts of its refusals are Kafka's."""

    def __init__(self, users: PlainUsers) -> None:
        self.authenticated: Authenticated | None = None
        self._users = users

    def evaluate(self, token: bytes, wall_ms: int) -> bytes:
        """Checks name and password. Raises SaslAuthenticationError."""
        authorization_id, name, password = _parts(token)
        if not name:
            raise SaslAuthenticationError("Authentication failed: no user name")
        if not password:
            raise SaslAuthenticationError("Authentication failed: no password")
        if not self._users.knows(name, password):
            raise SaslAuthenticationError("Authentication failed: wrong user name or password")
        if authorization_id not in ("", name):
            # CVE-2017-12610: no client acts in the name of another user.
            raise SaslAuthenticationError("Authentication failed: the authorization id is not the user name")
        self.authenticated = Authenticated(KafkaPrincipal(USER_TYPE, name))
        return b""


class PlainClient:
    """The side that opens the connection."""

    mechanism = "PLAIN"

    def __init__(self, name: str, password: str) -> None:
        self.is_complete = False
        self._name = name
        self._password = password

    def evaluate(self, challenge: bytes) -> bytes | None:
        """Returns the only token; the response says whether it is accepted."""
        if self.is_complete or challenge:
            raise SaslAuthenticationError("PLAIN has one token, and the server asks for another")
        self.is_complete = True
        return f"\0{self._name}\0{self._password}".encode(errors="replace")


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode(errors="replace")).digest()


def _parts(token: bytes) -> list[str]:
    """Returns authorization id, name and password."""
    try:
        parts = token.decode().split("\0", PARTS_COUNT)
    except UnicodeDecodeError:
        raise SaslAuthenticationError("Invalid SASL/PLAIN response: it is not UTF-8") from None
    if len(parts) != PARTS_COUNT:
        raise SaslAuthenticationError(
            f"Invalid SASL/PLAIN response: it has {len(parts)} parts, not {PARTS_COUNT}"
        )
    return parts
