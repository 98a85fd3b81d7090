"""A server whose keystore and truststore are files, and its reloading."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography import x509

from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.process.clock import Clock
from kraftctl.server.security.ssl_reloading import SslReloading
from kraftctl_security.tls.contexts import load_stores
from tests.server.security.ssl_serving import (
    BROKER,
    authority,
    connect_ssl,
    context_of,
    identity,
    serving_ssl,
    write_stores,
)
from tests.server.serving import Handler, expect_served
from tests.support.certificates import Identity

REQUIRED = {"ssl.client.auth": "required"}
NO_TEXTS = {"ssl.keystore.key": "", "ssl.keystore.certificate.chain": "", "ssl.truststore.certificates": ""}
PREFIX = "listener.name.controller."


class RunningDriver:
    """What reloading needs of the driver: dynamic configs, and somebody to take the context of a client."""

    def __init__(self) -> None:
        self.dynamic: dict[str, str] | None = {}
        self.contexts: list[ssl.SSLContext] = []

    def use_ssl_context(self, context: ssl.SSLContext) -> None:
        self.contexts.append(context)

    def dynamic_configs(self) -> dict[str, str] | None:
        return self.dynamic


class Reloaded:
    """A server whose stores are files in `directory`, and its reloading."""

    def __init__(self, server: SocketServer, handler: Handler, directory: Path) -> None:
        self.server = server
        self.handler = handler
        self.driver = RunningDriver()
        self.reloading = SslReloading(server.security, self.driver, Clock().wall_ms, read=load_stores)
        self.keystore = directory / "keystore.pem"
        self.truststore = directory / "truststore.pem"

    async def settle(self) -> None:
        """Two looks, as a change is used with the second."""
        await self.reloading.look()
        await self.reloading.look()

    async def serial(self, context: ssl.SSLContext | None = None) -> int:
        """The serial number of the certificate that a new connection is shown."""
        client = await connect_ssl(self.server, context or context_of(identity(BROKER)))
        await expect_served(client)
        shown = client.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        client.writer.transport.abort()
        return x509.load_der_x509_certificate(shown).serial_number


@asynccontextmanager
async def reloading(directory: Path, properties: dict[str, str] | None = None) -> AsyncIterator[Reloaded]:
    found = write_stores(directory, identity())
    async with serving_ssl({**NO_TEXTS, **found, **REQUIRED, **(properties or {})}) as (server, handler):
        running = Reloaded(server, handler, directory)
        await running.settle()
        yield running


def serial_of(own: Identity) -> int:
    return own.chain[0].serial_number


def renewed() -> Identity:
    """A new key and certificate for the same controller."""
    return authority().issue("CN=controller", ("127.0.0.1",))


def swap(path: Path, text: str) -> None:
    """Replace a file as programs do that write it anew."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(path)
