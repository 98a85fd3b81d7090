"""The secrets of delegation tokens are made of their ids with `delegation.token.secret.key` (KIP-48)."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

HMAC_ALGORITHM: Final = "sha512"


class TokenSecrets:
    """The key, which every node of the cluster has."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    def secret_of(self, token_id: str) -> bytes:
        return hmac.digest(self._key, token_id.encode(), HMAC_ALGORITHM)

    def digest_of(self, token_id: str) -> bytes:
        return digest(self.secret_of(token_id))


def digest(secret: bytes) -> bytes:
    """Returns what a secret is found by: how long that takes says nothing about the secret itself."""
    return hashlib.sha256(secret).digest()
