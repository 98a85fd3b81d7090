"""One blocking connection to a broker or a controller: SSL and SASL, then a request and its response."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.addresses.host_addresses import (
    ATTEMPT_DELAY_SECONDS,
    NOT_AUTHENTICATED,
    SASL_SECONDS_MAX,
    Failure,
)
from kraftctl_security.addresses.known_hosts import KnownHost
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.blocking_attempt import RECEIVE_BYTES, closed_by_node
from kraftctl_security.blocking_race import BlockingRace
from kraftctl_security.client_config import ClientSecurity
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.sasl.client_exchange import ClientExchange

Endpoint = tuple[str, int]
"""The host and the port of a node."""


class UnservedRequestError(Exception):
    """The node does not serve this API in a version that has all fields of the request."""


def endpoint_text(endpoint: Endpoint) -> str:
    """Returns `host:port` for people to read, with an IPv6 address in brackets: other nodes name hosts."""
    host, port = escaped(endpoint[0]), endpoint[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class BlockingConnection:
    """Not thread-safe. After any exception but UnservedRequestError it is unusable: close it, connect again.

    Requests raise OSError or DecodeError when another attempt, or another node, may succeed, and
    AuthenticationFailedError when the configuration has to change first.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        client_id: str,
        software: tuple[str, str],
        security: ClientSecurity,
        setup_timeout_s: float,
        timeout_s: float,
        known: KnownHost | None = None,
    ) -> None:
        """Connects (with SSL) in `setup_timeout_s`; asks for versions and authenticates in `timeout_s`.

        `software` is the name and version that the node sees; `known` remembers which addresses of its name
        have failed.
        """
        self.endpoint = endpoint
        self._security = security
        self._client_id = client_id
        self._software = software
        self._known = known or KnownHost(*endpoint)
        self._has_served = False
        """Whether a request has had a response: if the connection ends later, that is not counted against
        the address."""
        self._renew_at: float | None = None
        deadline = time.monotonic() + setup_timeout_s + timeout_s
        while True:
            left_s = max(0.0, deadline - time.monotonic())
            self._open(min(setup_timeout_s, left_s), min(timeout_s, left_s))
            if self._begin(min(timeout_s, left_s)):
                return
            self._socket.close()

    def _open(self, setup_timeout_s: float, timeout_s: float) -> None:
        won = BlockingRace(
            self._known,
            context=self._security.ssl_context,
            new_codec=lambda: PeerCodec(self._client_id, self._software),
            setup_timeout_s=setup_timeout_s,
            timeout_s=timeout_s,
        ).run()
        self.address = won.address
        self._codec = won.codec
        self._socket = won.socket

    def _begin(self, timeout_s: float) -> bool:
        """Authenticates. Returns False when that takes so long that another address should be tried first."""
        has_alternative = self._known.addresses.has_alternative(self.address)
        wait_s = min(SASL_SECONDS_MAX, timeout_s) if has_alternative else timeout_s
        try:
            self._authenticate(time.monotonic() + wait_s, wait_s)
        except TimeoutError:
            if has_alternative and wait_s < timeout_s:
                return False
            self._socket.close()
            raise
        except BaseException:
            self._socket.close()
            raise
        return True

    @property
    def is_of_broker(self) -> bool:
        """Whether the node is a broker."""
        return self._codec.is_of_broker

    def close(self) -> None:
        """Closes the socket and never raises."""
        self._socket.close()

    def try_another_address(self, reason: str) -> bool:
        """Returns whether the next connection is to another address: the name may have several nodes."""
        if len(self._known.addresses.to_try()) < 2:
            return False
        failure = Failure(reason, ATTEMPT_DELAY_SECONDS, time.monotonic())
        self._known.addresses.failed(self.address, failure)
        return True

    def ask(self, request: Message, timeout_s: float, lowest_version: int = 0) -> Message:
        """Returns the response, in the highest common version, which is not before `lowest_version`.

        Raises UnservedRequestError if there is none.
        """
        deadline = time.monotonic() + timeout_s
        if self._renew_at is not None and time.monotonic() >= self._renew_at:
            self._authenticate(deadline, timeout_s)
        payload = self._codec.encode(request, lowest_version)
        if payload is None:
            versions = f" in version {lowest_version} or later" if lowest_version else ""
            raise UnservedRequestError(f"it does not serve this {request.NAME}{versions}")
        with self._noted(f"{request.NAME} was not answered within {timeout_s:.1f} s"):
            response = self._codec.decode(self._exchange(payload, deadline))
        self._has_served = True
        self._known.addresses.served(self.address)
        return response

    def _authenticate(self, deadline: float, timeout_s: float) -> None:
        """Authenticates the first time, and again before the session expires (KIP-368)."""
        if self._security.new_sasl_client is None:
            return
        exchange = ClientExchange(self._codec, self._security.new_sasl_client)
        answer: bytes | None = None
        with self._noted(f"{NOT_AUTHENTICATED} within {timeout_s:.1f} s"):
            while (payload := exchange.advance(answer)) is not None:
                answer = self._exchange(payload, deadline)
        renewed_after_s = exchange.renewed_after_seconds
        self._renew_at = None if renewed_after_s is None else time.monotonic() + renewed_after_s

    @contextmanager
    def _noted(self, silence: str) -> Iterator[None]:
        """Counts silence against the address, and every failure before the first response."""
        began_at = time.monotonic()
        try:
            yield
        except (OSError, DecodeError, AuthenticationFailedError) as error:
            is_silent = isinstance(error, TimeoutError)
            reason = silence if is_silent else str(error) or type(error).__name__
            now = time.monotonic()
            if is_silent or not self._has_served:
                self._known.addresses.failed(self.address, Failure(reason, now - began_at, now))
            if is_silent:
                raise TimeoutError(reason) from error
            raise

    def _exchange(self, payload: bytes, deadline: float) -> bytes:
        try:
            self._wait_until(deadline)
            self._socket.sendall(encode_frame(payload))
            while True:
                self._wait_until(deadline)
                data = self._socket.recv(RECEIVE_BYTES)
                if not data:
                    raise closed_by_node()
                response = self._codec.receive(data)
                if response is not None:
                    return response
        except ssl.SSLError as error:
            raise closed_by_node() from error

    def _wait_until(self, deadline: float) -> None:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left_s)
