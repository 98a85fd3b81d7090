"""A SocketServer whose listener uses SSL, clients for it, and an authority that both trust."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from kraftctl.server.listeners.listener import SocketServer
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.contexts import client_context, server_context
from kraftctl_security.tls.ssl_config import read_client_ssl_config, read_listener_ssl_config
from tests.server.serving import Client, Handler, serving
from tests.support.certificates import Authority, Identity

BROKER = "CN=broker-1,OU=brokers,O=Example"


@cache
def authority() -> Authority:
    return Authority()


@cache
def identity(
    subject: str = "CN=controller", *, hosts: tuple[str, ...] = ("127.0.0.1",), expired: bool = False
) -> Identity:
    return authority().issue(subject, hosts, expired=expired)


def stores(own: Identity | None, trusted: Authority | None) -> dict[str, str]:
    """Keystore and truststore as texts."""
    found: dict[str, str] = {}
    if own is not None:
        found |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": own.key_pem(),
            "ssl.keystore.certificate.chain": own.certificates_pem,
        }
    if trusted is not None:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": trusted.pem}
    return found


def context_of(
    own: Identity | None = None, *, trusted: Authority | None = None, **keys: str
) -> ssl.SSLContext:
    """A client's, from Kafka's keys; `__` in a name is a dot."""
    named = {key.replace("__", "."): value for key, value in keys.items()}
    values = ConfigValues({**stores(own, trusted or authority()), **named})
    config = read_client_ssl_config(values)
    values.raise_errors()
    return client_context(config)


def node_context(own: Identity | None = None, **keys: str) -> ssl.SSLContext:
    """A listener's; `__` in a name is a dot."""
    named = {key.replace("__", "."): value for key, value in keys.items()}
    values = ConfigValues({**stores(own or identity(), authority()), **named})
    config = read_listener_ssl_config(values, "CONTROLLER")
    values.raise_errors()
    return server_context(config)


@asynccontextmanager
async def serving_ssl(
    properties: dict[str, str] | None = None, own: Identity | None = None
) -> AsyncIterator[tuple[SocketServer, Handler]]:
    ssl_properties = {
        "listener.security.protocol.map": "CONTROLLER:SSL",
        **stores(own or identity(), authority()),
    }
    async with serving({**ssl_properties, **(properties or {})}) as served:
        yield served


async def connect_ssl(
    server: SocketServer,
    context: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    listener: str = "CONTROLLER",
) -> Client:
    port = server.bound_ports[listener]
    context = context or context_of()
    return Client(
        *await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=host, limit=4096)
    )


def write_stores(directory: Path, own: Identity) -> dict[str, str]:
    """The same as files."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "keystore.pem").write_text(own.pem())
    (directory / "keystore.pem").chmod(0o600)
    (directory / "truststore.pem").write_text(authority().pem)
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(directory / "keystore.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(directory / "truststore.pem"),
    }
