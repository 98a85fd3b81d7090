"""One https request to the issuer, bounded in time and size. No redirect is followed, no proxy used."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from kraftctl_security.sasl.oauthbearer.issuer_url import IssuerUrl
from kraftctl_security.tls.contexts import client_context
from kraftctl_security.tls.ssl_config import SslConfig
from kraftctl_security.tls.store_error import StoreError

TIMEOUT_MS: Final = 20_000
"""The time to connect, and of each read, unless a key sets less. It is the default of jose4j, which Kafka
uses."""

EXCHANGE_SECONDS_MAX: Final = 60
"""The limit of the whole exchange: a response byte by byte would reset any other limit."""

BODY_BYTES_MAX: Final = 1024 * 1024
"""Keys and tokens have some thousand bytes. http.client bounds the header: 100 lines of 64 KiB."""


class ExchangeError(Exception):
    """The issuer has not responded; the text says why, and has nothing of what was sent."""


class HttpsResponse:
    """A response of any HTTP status."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body


def https_exchange(
    url: IssuerUrl,
    ssl_config: SslConfig,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    connect_timeout_ms: int | None = None,
    read_timeout_ms: int | None = None,
) -> HttpsResponse:
    """Sends a request and blocks: not for the loop. Certificates are read each time. Raises ExchangeError."""
    try:
        connection = http.client.HTTPSConnection(
            url.host,
            url.port,
            timeout=(connect_timeout_ms or TIMEOUT_MS) / 1_000,
            context=client_context(ssl_config),
        )
    except StoreError as error:
        raise ExchangeError(f"{error}") from error
    try:
        connection.connect()
        connection.sock.settimeout((read_timeout_ms or TIMEOUT_MS) / 1_000)
        with _limited_in_time(connection.sock):
            connection.request(method, url.target, body, dict(headers or {}))
            response = connection.getresponse()
            content = response.read(BODY_BYTES_MAX + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        # An SSLError is an OSError; some errors of http.client quote what they have read.
        raise ExchangeError(f"{type(error).__name__}: {error}"[:300]) from error
    finally:
        connection.close()
    if len(content) > BODY_BYTES_MAX:
        raise ExchangeError(f"its response has more than {BODY_BYTES_MAX} bytes")
    if 300 <= response.status < 400:
        raise ExchangeError(f"it answers {response.status}, a redirect, which is not followed")
    return HttpsResponse(response.status, content)


@contextmanager
def _limited_in_time(connected: socket.socket) -> Iterator[None]:
    """Shuts the connection down when the time is up, which ends a read that blocks on another thread."""
    timer = threading.Timer(EXCHANGE_SECONDS_MAX, _shut_down, (connected,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut_down(connected: socket.socket) -> None:
    try:
        # Not that of SSLSocket, which forgets its state while the other thread reads.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        return
