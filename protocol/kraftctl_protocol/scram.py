"""SCRAM (RFC 5802) as Kafka has it: mechanisms, bounds, and what a server keeps of a password (KIP-554)."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

MECHANISM_NAMES: Final[dict[int, str]] = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
"""By the number of the wire and the log."""

HASHES: Final[dict[int, str]] = {1: "sha256", 2: "sha512"}

ITERATIONS_MIN: Final = 4_096
ITERATIONS_MAX: Final = 16_384
"""Kafka's limit for both mechanisms."""


def credential_record(
    *, name: str, mechanism: int, salt: bytes, salted_password: bytes, iterations: int
) -> UserScramCredentialRecord:
    """The log keeps what a server needs to check a password, never the salted password itself."""
    hash_name = HASHES[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", hash_name)
    return UserScramCredentialRecord(
        name=name,
        mechanism=mechanism,
        salt=salt,
        stored_key=hashlib.new(hash_name, client_key).digest(),
        server_key=hmac.digest(salted_password, b"Server Key", hash_name),
        iterations=iterations,
    )
