"""The reasons why a node and its client do not accept each other, and which of Kafka's keys decide about
them.
"""

from __future__ import annotations

import ssl
from typing import Final

from kraftctl_protocol.escaped_text import escaped

SECURITY_PROTOCOL: Final = "security.protocol"

HOST_MISMATCHES: Final = (62, 64)
"""These are OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""

EXPIRED: Final = 10
NOT_YET_VALID: Final = 9
"""These are OpenSSL's X509_V_ERR_CERT_HAS_EXPIRED and X509_V_ERR_CERT_NOT_YET_VALID."""

EXPIRED_KEYS: Final = (
    "ssl.keystore.* of the node, whose certificate has to be renewed, and the clock of this host, before any"
    " key"
)
NOT_YET_VALID_KEYS: Final = "the clock of this host and that of the node's certificates, before any key"
"""The keys to check before the truststore of this side, which is right."""

KEYS_OF_DATES: Final = {EXPIRED: EXPIRED_KEYS, NOT_YET_VALID: NOT_YET_VALID_KEYS}

NO_SSL_HERE: Final = frozenset(("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"))
"""OpenSSL's reasons for bytes that are not a record of TLS."""

PROTOCOL_REASONS: Final = ("PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL", "NO_PROTOCOLS_AVAILABLE")
CIPHER_REASONS: Final = ("NO_SHARED_CIPHER", "INSUFFICIENT_SECURITY")

SSL_ALERT: Final = b"\x15\x03"
"""The type of the record and the first byte of its version, in all versions of TLS."""

ENDED: Final = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
"""The connection has ended, which says nothing about keys and certificates."""

MESSAGE_CHARACTERS_MAX: Final = 300
"""An error repeats at most this much of a node's message."""


class AuthenticationFailedError(Exception):
    """SSL or SASL has failed in a way that another attempt with the same configuration does not change.

    `keys` names those that decide about it, as a client has them: without the prefix of a listener.
    """

    def __init__(self, reason: str, keys: str) -> None:
        super().__init__(reason)
        self.keys = keys


def failure_of_ssl(error: ssl.SSLError) -> AuthenticationFailedError | None:
    """Returns None when the connection has only ended."""
    if isinstance(error, ENDED):
        return None
    return AuthenticationFailedError(f"SSL: {_ssl_text(error)}", _ssl_keys(error))


def refuse_ssl_alert(received: bytes) -> None:
    """Raises AuthenticationFailedError when a response to a client without SSL begins as an SSL alert.

    Read as Kafka's protocol, it would be the size of a frame of 352 MB.
    """
    if received.startswith(SSL_ALERT):
        raise AuthenticationFailedError("the node answers with SSL", SECURITY_PROTOCOL)


def plain_text(message: str) -> str:
    """Returns a message of the node in one line of limited length."""
    line = " ".join(message.split())
    return escaped(line)[:MESSAGE_CHARACTERS_MAX]


def _ssl_text(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {plain_text(error.verify_message)}"
    return plain_text(error.reason or str(error))


def _ssl_keys(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in HOST_MISMATCHES:
            return "ssl.endpoint.identification.algorithm, or the host of the address"
        return KEYS_OF_DATES.get(error.verify_code, "ssl.truststore.*")
    reason = error.reason or ""
    if reason in NO_SSL_HERE:
        return SECURITY_PROTOCOL
    if any(each in reason for each in PROTOCOL_REASONS):
        return "ssl.enabled.protocols"
    if any(each in reason for each in CIPHER_REASONS):
        return "ssl.cipher.suites"
    if "ALERT" in reason:
        return "ssl.keystore.*"
    return "ssl.*"
