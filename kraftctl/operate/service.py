"""Opens the listener for probes and metrics before a controller starts, and closes it after its end.

A service manager is sent the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.operate_config import HTTPS, LISTENERS, TOKEN_PATH, is_on_loopback
from kraftctl.operate.listener import HttpListener
from kraftctl.operate.pages import Pages
from kraftctl.operate.supervision import Supervision
from kraftctl.operate.token_file import read_token
from kraftctl.operate.watch import Watch
from kraftctl.server.listeners.bound_sockets import bind_endpoint
from kraftctl.server.logs.audit_log import AuditLog
from kraftctl.server.operation import Operation
from kraftctl.server.process.clock import Clock
from kraftctl.server.process.detached_calls import call_detached
from kraftctl.server.process.service_manager import ServiceManager

logger = logging.getLogger("kraftctl.server.operate")

DISK_SECONDS: Final = 5.0
"""The interval in which the room on the disk is looked at."""


@asynccontextmanager
async def watched(
    config: ControllerConfig, audit_log: AuditLog | None, manager: ServiceManager | None
) -> AsyncIterator[Operation | None]:
    """Serves, and informs the manager, while the context lasts; None if nothing of this is configured.

    Raises ConfigException, StoreError or ListenError.
    """
    if not config.operate.endpoints and manager is None:
        yield None
        return
    watch = Watch(config, Clock(), audit_log)
    looking = asyncio.ensure_future(_look_at_disk(watch))
    supervision = None if manager is None else Supervision(watch, manager)
    try:
        async with _served(config, watch):
            yield supervision or watch
    finally:
        looking.cancel()
        if supervision is not None:
            supervision.close()


@asynccontextmanager
async def _served(config: ControllerConfig, watch: Watch) -> AsyncIterator[None]:
    """Serves the pages while the context lasts, if a listener is configured."""
    if not config.operate.endpoints:
        yield
        return
    pages = Pages(
        watch, read_token(config.operate.token_path, warns=True) if config.operate.token_path else b""
    )
    listener = HttpListener(await _bound(config, watch), pages.respond)
    listener.start()
    for endpoint in config.operate.endpoints:
        logger.info("%s has the probes /livez, /readyz and /startupz, and /metrics", endpoint)
        if not config.operate.token_path and not is_on_loopback(endpoint):
            logger.warning(
                "Any client that reaches %s reads the metrics and the addresses of this quorum. Next step:"
                " set %s, or let only operators and orchestrators reach it",
                endpoint,
                TOKEN_PATH,
            )
    try:
        yield
    finally:
        listener.stop()


async def _bound(config: ControllerConfig, watch: Watch) -> list[tuple[socket.socket, ssl.SSLContext | None]]:
    sockets: list[tuple[socket.socket, ssl.SSLContext | None]] = []
    try:
        for endpoint in config.operate.endpoints:
            context = _context(config, watch) if endpoint.listener == HTTPS else None
            sockets.append((await bind_endpoint(endpoint, config, LISTENERS), context))
    except BaseException:
        for bound, _ in sockets:
            bound.close()
        raise
    return sockets


def _context(config: ControllerConfig, watch: Watch) -> ssl.SSLContext:
    """Returns a context that shows the certificate which the controller listener shows at the time.

    Its clients show none: they are known by the token.
    """
    from kraftctl_security.tls.contexts import server_context

    name = config.operate.ssl_listener
    context = server_context(config.ssl[name])
    context.verify_mode = ssl.CERT_NONE

    def use_present_certificate(shown: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        if watch.has_started:
            shown.context = watch.server.security.ssl_listeners[name].context

    context.sni_callback = use_present_certificate
    return context


async def _look_at_disk(watch: Watch) -> None:
    """Runs until it is cancelled. A file system that does not answer leaves the last result."""
    while True:
        with contextlib.suppress(OSError):
            found = await call_detached(lambda: os.statvfs(watch.config.metadata_log_dir))
            watch.free_bytes = found.f_bavail * found.f_frsize
        await asyncio.sleep(DISK_SECONDS)
