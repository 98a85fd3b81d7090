"""Finds the certificate of a node for an error about its dates, which OpenSSL reports without it.

Another handshake asks for it, without verification; nothing is sent over that connection.
"""

from __future__ import annotations

import socket
import ssl
from typing import Final

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import (
    EXPIRED_KEYS,
    NOT_YET_VALID_KEYS,
    AuthenticationFailedError,
)
from kraftctl_security.tls.ssl_socket import ClientSslSocket

SECONDS_MAX: Final = 3.0


def with_certificate(error: AuthenticationFailedError, host: str, port: int) -> AuthenticationFailedError:
    """Adds name and dates of the certificate at this address to an error about dates.

    It may wait for SECONDS_MAX. The error stays as it is if the node shows no certificate to a client
    without one.
    """
    if error.keys not in (EXPIRED_KEYS, NOT_YET_VALID_KEYS):
        return error
    text = shown_certificate(host, port)
    return error if text is None else AuthenticationFailedError(f"{error} ({text})", error.keys)


def shown_certificate(host: str, port: int) -> str | None:
    """Returns the certificate's subject and dates in words; None if it is not shown in time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with socket.create_connection((host, port), timeout=SECONDS_MAX) as plain:
            secured = ClientSslSocket(plain, context, host)
            secured.do_handshake()
            certificate = secured.ssl.getpeercert(binary_form=True)
    except (OSError, ValueError, DecodeError, AuthenticationFailedError):
        return None
    return None if certificate is None else _text(certificate, host, port)


def _text(data: bytes, host: str, port: int) -> str | None:
    # With the library for certificates: 8 MiB that a process without SSL has no use for.
    from cryptography import x509

    from kraftctl_security.tls.store_replacement import name_of

    try:
        certificate = x509.load_der_x509_certificate(data)
    except ValueError:
        return None
    since, until = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return (
        f"{host}:{port} shows the certificate '{name_of(certificate)}', valid from {since.isoformat()} to"
        f" {until.isoformat()}; if that is not over, one of its issuers is"
    )
