"""Limits of the certificates that a peer shows: their number and size, and the subject of the first."""

from __future__ import annotations

import ssl
from typing import Final

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.tls.distinguished_name import client_name
from kraftctl_security.tls.openssl_settings import CHAIN_BYTES_MAX

CERTIFICATES_MAX: Final = 10
"""The number of certificates that a peer shows: its own, and those of its issuers."""

DER: Final = 2
"""The number of this encoding in Python's module of OpenSSL, `_ssl`."""

KEYS: Final = "ssl.keystore.* of the node"


def why_too_many(connection: ssl.SSLObject) -> str | None:
    """Returns how many certificates were shown, and are allowed; None if these are not too many."""
    # Python 3.13 has it as a public method, which encodes each certificate.
    chain = connection._sslobj.get_unverified_chain() or []  # type: ignore[attr-defined]
    if len(chain) > CERTIFICATES_MAX:
        return f"{len(chain)} certificates, and {CERTIFICATES_MAX} are allowed"
    return None


def refuse_excessive_node(connection: ssl.SSLObject) -> None:
    """Raises AuthenticationFailedError if a node shows more than a client of ours may show.

    OpenSSL limits each of its messages to 100 KB before; of a client's, to what is checked here.
    """
    excess = why_too_many(connection) or _why_too_long(connection)
    if excess is not None:
        raise AuthenticationFailedError(f"SSL: the node shows {excess}", KEYS)


def _why_too_long(connection: ssl.SSLObject) -> str | None:
    chain = connection._sslobj.get_unverified_chain() or []  # type: ignore[attr-defined]
    chain_bytes = sum([len(each.public_bytes(DER)) for each in chain])
    if chain_bytes > CHAIN_BYTES_MAX:
        return f"{chain_bytes:,} bytes of certificates, and {CHAIN_BYTES_MAX:,} are allowed"
    certificate = connection.getpeercert(binary_form=True)
    try:
        if certificate is not None:
            client_name(certificate)
    except DecodeError as error:
        return f"a certificate without a usable name: {error}"
    return None
