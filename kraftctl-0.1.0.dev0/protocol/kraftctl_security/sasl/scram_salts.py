"""Salts of SCRAM: those of new credentials, and those of users that do not exist, which look the same.

A client sees salt and iterations of a user before it has proved anything. What an unknown user gets is made
of the name and a secret, so it stays the same; its form is that of an existing user, the same for a name.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Final

from kraftctl_protocol.scram import HASHES, ITERATIONS_MIN, ScramCredential

SALT_BITS: Final = 130
"""Kafka's tools write this many random bits as a number (ScramFormatter.secureRandomString)."""

_DIGITS: Final = b"0123456789abcdefghijklmnopqrstuvwxyz"
_KAFKA_SALT_BYTES: Final = range(20, 27)
"""A number of 130 bits has 25 or 26 digits, and once in a million times fewer."""

Examples = Mapping[str, ScramCredential]
"""Some users of one mechanism, by name."""


def new_salt() -> bytes:
    """Returns a salt for a new credential."""
    return _kafka_salt(secrets.randbits(SALT_BITS))


def derived_salt(secret: bytes, mechanism: int, name: str, *, token_auth: bool = False) -> bytes:
    """Returns a salt that is always the same for a name, in the form of `new_salt`."""
    return _salt(_key(secret, mechanism, name, token_auth), None)


def unknown_credential(
    secret: bytes, mechanism: int, name: str, examples: Examples, *, token_auth: bool = False
) -> ScramCredential:
    """Returns a credential that no password fits. It resembles one of `examples`, the same one for a name."""
    key = _key(secret, mechanism, name, token_auth)
    example = None
    if examples:
        example = examples[max(examples, key=lambda other: hmac.digest(key, other.encode(), "sha256"))]
    hash_name = HASHES[mechanism]
    return ScramCredential(
        salt=_salt(key, example),
        stored_key=hmac.digest(key, b"stored key", hash_name),
        server_key=hmac.digest(key, b"server key", hash_name),
        iterations=ITERATIONS_MIN if example is None else example.iterations,
    )


def _key(secret: bytes, mechanism: int, name: str, token_auth: bool) -> bytes:
    """Users and tokens have different ones: the same salt for both would show that neither exists."""
    return hmac.digest(secret, f"{mechanism} {token_auth:d} {name}".encode(), "sha512")


def _salt(key: bytes, example: ScramCredential | None) -> bytes:
    """Makes a salt in the form of the example's: each client library has its own."""
    if example is None or _is_of_kafka(example.salt):
        form, size = b"number", SALT_BITS // 8 + 1
    else:
        form, size = b"bytes %d" % len(example.salt), len(example.salt)
    stream = hashlib.shake_256(key + form).digest(size)
    if form == b"number":
        return _kafka_salt(int.from_bytes(stream) % (1 << SALT_BITS))
    return stream


def _is_of_kafka(salt: bytes) -> bool:
    return len(salt) in _KAFKA_SALT_BYTES and not salt.translate(None, _DIGITS)


def _kafka_salt(number: int) -> bytes:
    digits = bytearray()
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    digits.reverse()
    return bytes(digits) or b"0"
