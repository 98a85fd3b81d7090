"""Settings of OpenSSL that Python's ssl has no functions for: groups of the key exchange, and what is kept.

A peer chooses among our groups. One of finite fields (FFDHE) takes up to 0.1 s of our processor, and nothing
of the peer's. Python up to 3.14 can set one group only, which is done first, and everywhere. The rest are
calls of the library that Python's ssl has loaded. Where it cannot be found, in some Pythons that have it
built in, P-256 is the only group, and OpenSSL `keeps_sessions` unless it thinks that they were cut off.
"""

from __future__ import annotations

import ssl
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ctypes

ONLY_GROUP: Final = "prime256v1"
"""P-256, which every client has."""

GROUPS: Final = b"X25519:P-256:P-384:P-521:X448"
"""The curves that OpenSSL offers by default. With TLS 1.2, the keys of clients' certificates are of one of
them."""

CHAIN_BYTES_MAX: Final = 16 * 1024
"""The limit of the certificates that a client shows; they take four times as much in memory. The default of
OpenSSL is 100 KB."""

SESSION_CACHE_OFF: Final = 0
SET_SESSION_CACHE_MODE: Final = 44
SET_MAX_CERT_LIST: Final = 51
SET_GROUPS_LIST: Final = 92
"""Numbers of ssl.h, which are part of OpenSSL's stable interface."""

PYTHONS: Final = ((3, 11), (3, 12), (3, 13), (3, 14))
"""In these, the first field of an SSLContext is its SSL_CTX."""


def choose_groups(context: ssl.SSLContext) -> None:
    """Leaves elliptic curves to the peers of this context."""
    context.set_ecdh_curve(ONLY_GROUP)
    _control(context, SET_GROUPS_LIST, 0, GROUPS)


def keep_nothing_of_clients(context: ssl.SSLContext) -> None:
    """Has no session kept, which holds the client's certificates, and none with many of them made."""
    _control(context, SET_SESSION_CACHE_MODE, SESSION_CACHE_OFF, None)
    _control(context, SET_MAX_CERT_LIST, CHAIN_BYTES_MAX, None)


@cache
def keeps_sessions() -> bool:
    """Returns whether OpenSSL keeps sessions of TLS 1.2, which it does if both sides have said the end."""
    return _library() is None


def _control(context: ssl.SSLContext, command: int, number: int, text: bytes | None) -> None:
    library = _library()
    if library is None:
        return
    import ctypes

    pointer = ctypes.c_void_p.from_address(id(context) + object.__basicsize__).value
    if library.SSL_CTX_get_options(pointer) == int(context.options) & 0xFFFF_FFFF_FFFF_FFFF:
        library.SSL_CTX_ctrl(pointer, command, number, text)


@cache
def _library() -> ctypes.CDLL | None:
    """Returns the functions of the library that Python's ssl uses; None where they cannot be found."""
    if sys.implementation.name != "cpython" or sys.version_info[:2] not in PYTHONS:
        return None
    # Who uses no SSL has no use for them.
    import _ssl
    import ctypes

    try:
        library = ctypes.CDLL(getattr(_ssl, "__file__", None))
        library.SSL_CTX_ctrl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_char_p]
        library.SSL_CTX_ctrl.restype = ctypes.c_long
        library.SSL_CTX_get_options.argtypes = [ctypes.c_void_p]
        library.SSL_CTX_get_options.restype = ctypes.c_uint64
    except (OSError, AttributeError):
        return None
    return library
