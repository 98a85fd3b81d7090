"""SCRAM (RFC 5802) as Kafka has it: mechanisms, bounds, and the credential that a server keeps (KIP-554)."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

MECHANISM_NAMES: Final[dict[int, str]] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
"""The mechanisms by their number on the wire and in the log."""

HASHES: Final[dict[int, str]] = {1: "sha256", 2: "sha512"}

MECHANISM_NUMBERS: Final[dict[str, int]] = {name: number for number, name in MECHANISM_NAMES.items()}

ITERATIONS_MIN: Final = 4_096
ITERATIONS_MAX: Final = 16_384
"""Kafka's limit for both mechanisms."""


class ScramCredential:
    """A server keeps this in place of a password (RFC 5802). It does not change after construction."""

    def __init__(self, *, salt: bytes, stored_key: bytes, server_key: bytes, iterations: int) -> None:
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ScramCredential)
            and self.salt == other.salt
            and self.stored_key == other.stored_key
            and self.server_key == other.server_key
            and self.iterations == other.iterations
        )

    def __hash__(self) -> int:
        return hash(self.salt)

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations})"


def salt_password(mechanism: int, password: bytes, salt: bytes, iterations: int) -> bytes:
    """The salted password, from which a client proves that it knows the password. Takes milliseconds.

    As in Kafka, and unlike in RFC 5802, a password is not normalized: it is what UTF-8 makes of it.
    """
    return hashlib.pbkdf2_hmac(HASHES[mechanism], password, salt, iterations)


def credential(mechanism: int, *, salt: bytes, salted_password: bytes, iterations: int) -> ScramCredential:
    """Returns what a server needs to check a password and to prove that it knows it."""
    hash_name = HASHES[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", hash_name)
    return ScramCredential(
        salt=salt,
        stored_key=hashlib.new(hash_name, client_key).digest(),
        server_key=hmac.digest(salted_password, b"Server Key", hash_name),
        iterations=iterations,
    )


def credential_record(
    *, name: str, mechanism: int, salt: bytes, salted_password: bytes, iterations: int
) -> UserScramCredentialRecord:
    """Returns the credential of a user as the log keeps it."""
    kept = credential(mechanism, salt=salt, salted_password=salted_password, iterations=iterations)
    return UserScramCredentialRecord(
        name=name,
        mechanism=mechanism,
        salt=kept.salt,
        stored_key=kept.stored_key,
        server_key=kept.server_key,
        iterations=kept.iterations,
    )
