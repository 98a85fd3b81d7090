"""Runs a handshake of two SSL contexts in memory, to see whether their peers accept each other."""

from __future__ import annotations

import ssl
from typing import Final

STEPS_MAX: Final = 10
"""The limit of steps of each side. TLS 1.2 needs three."""


def why_no_handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> str | None:
    """Returns None when both sides finish. The client must not check host names: there is none here."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        ("the client does not accept the server", client.wrap_bio(to_client, to_server)),
        ("the server does not accept the client", server.wrap_bio(to_server, to_client, server_side=True)),
    ]
    for _ in range(STEPS_MAX):
        finished = 0
        for refusal, side in sides:
            try:
                side.do_handshake()
                finished += 1
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError as error:
                return f"{refusal}: {handshake_failure(error)}"
        if finished == len(sides):
            return None
    return f"there is no end after {STEPS_MAX} steps"


def handshake_failure(error: ssl.SSLError) -> str:
    """Returns why a handshake or a record has failed, in a few words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (error.reason or str(error)).replace("_", " ").lower()
