"""Clients that speak another protocol than a listener, or whose certificates it does not accept.

Such a client tries again and again, and a health check does so every few seconds, for months: a line says
what it is, for an address now and then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kraftctl.raft.spoken_reasons import SpokenReasons
from kraftctl.server.connections.foreign_protocols import (
    KAFKA,
    SSL,
    ForeignProtocol,
    foreign_protocol,
    framed_protocol,
)
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.loop.connected_client import ConnectedClient

ssl_logger = logging.getLogger("kraftctl.server.ssl")

SSL_STEP = (
    "give the client the security.protocol of the listener, or map the listener to SSL in"
    " listener.security.protocol.map"
)
NO_SSL_STEP = "check the client's security.protocol: the listener's is {protocol}"


class ForeignClients:
    """For all listeners. Lines about one address, listener and protocol are a minute apart, then longer."""

    def __init__(self, log: RateLimitedLog, now: Callable[[], float]) -> None:
        self._log = log
        self._handshakes = log.beside(ssl_logger)
        self._now = now
        self._spoken = SpokenReasons()

    def note(self, client: ConnectedClient, what: str) -> None:
        """The client is turned away, because of `what`."""
        listener = client.listener_name
        if self._is_due(f"{client.host} {listener} {what}"):
            self._log.warning("Closing connection from %s to listener %s: %s", client.peer, listener, what)

    def note_handshake(self, peer_host: str, peer: str, what: str) -> None:
        """The same for one that does not finish the handshake of SSL."""
        if self._is_due(f"{peer_host} {what}"):
            self._handshakes.warning("Closing connection from %s: %s", peer, what)

    def _is_due(self, reason: str) -> bool:
        """A line that would be left out says nothing: it is counted, and its reason stays due."""
        return not self._log.has_room() or self._spoken.is_due(reason, int(self._now() * 1000))


def why_foreign(head: bytes, *, is_framed: bool, protocol: str) -> str | None:
    """What a connection that begins so is, to a listener with this security protocol; None if it is no other.

    Within SSL and SASL it may be foreign as well.
    """
    found = framed_protocol(head) if is_framed else foreign_protocol(head)
    if found is None:
        return None
    if found.name == SSL:
        return (
            f"it speaks SSL, and the security protocol of this listener is {protocol}. Next step: {SSL_STEP}"
        )
    return f"it speaks {found.name}, and the listener Kafka's protocol. Next step: {found.next_step}"


def why_not_ssl(head: bytes, *, protocol: str) -> str:
    """The same for a listener that uses SSL, where the client does not begin with it."""
    found = foreign_protocol(head)
    if found is None or found.name == SSL:
        found = ForeignProtocol(KAFKA, NO_SSL_STEP.format(protocol=protocol))
    return f"it does not begin with SSL: it speaks {found.name}. Next step: {found.next_step}"


def why_no_sasl(protocol: str) -> str:
    """The same for a client that wants to authenticate to a listener without SASL."""
    return (
        f"it wants to authenticate by SASL, and the security protocol of this listener is {protocol}. Next"
        " step: give the client that security.protocol, or map the listener to another one in"
        " listener.security.protocol.map"
    )
