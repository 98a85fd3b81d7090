"""Replaces keys and certificates while the controller runs: after a change, an alteration, or SIGHUP.

New connections get new SSL contexts, so that no session of the old ones is resumed. Those that exist stay.
Unusable stores change nothing: a line says why, and the next change is tried again.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
import ssl
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from kraftctl.config.dynamic_keys import DYNAMIC_TRUST, changes_trust
from kraftctl.controller.results.failures import reason_of
from kraftctl.server.process.detached_calls import call_detached
from kraftctl.server.security.expiry_lines import ExpiryLines
from kraftctl.server.security.listener_security import ListenerSecurity
from kraftctl.server.security.store_reader import read_stores
from kraftctl.server.security.watched_stores import Replacement, WatchedStores
from kraftctl_security.config_values import ConfigException
from kraftctl_security.tls.contexts import Stores
from kraftctl_security.tls.ssl_config import SslConfig, listener_prefix
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.store_replacement import name_of

logger = logging.getLogger("kraftctl.server.ssl")

LOOK_SECONDS: Final = 2.0
"""The interval between two checks of the files. A changed file is read at the check after, if it is the
same then."""

LATE_SECONDS: Final = 30.0
"""Files that are not read by then are on a file system that does not respond."""


class Driver(Protocol):
    """The interface of the running node."""

    def use_ssl_context(self, context: ssl.SSLContext) -> None:
        """Sets the context for connections to other controllers from now on."""
        ...

    def dynamic_configs(self) -> dict[str, str] | None:
        """Returns the dynamic configs of this node; None as long as they are not known."""
        ...


class SslReloading:
    """Watches all listeners. Connections to other controllers use the keys of the first."""

    def __init__(
        self,
        security: ListenerSecurity,
        driver: Driver,
        wall_ms: Callable[[], int],
        late_seconds: float = LATE_SECONDS,
        read: Callable[[SslConfig], Stores] = read_stores,
    ) -> None:
        self._security = security
        self._driver = driver
        self._wall_ms = wall_ms
        self._late_seconds = late_seconds
        self._metrics = security.ssl_metrics
        self._to_controllers = security.config.controller_listener_names[0]
        self._watched = [
            WatchedStores(
                listener,
                security.config.originals,
                security.config.ssl[listener],
                stores,
                read,
                reaches_controllers=listener == self._to_controllers,
            )
            for listener, stores in security.ssl_stores.items()
        ]
        self._expiry_lines = ExpiryLines(security.ssl_metrics)
        self._late: dict[str, asyncio.Task[Replacement | None]] = {}
        self._left_out: dict[str, str] = {}
        self._readable: dict[str, tuple[str, str] | None] = {}

    async def run(self, requested: asyncio.Event) -> None:
        """Checks every two seconds, and immediately when `requested` is set; until it is cancelled."""
        self._expiry_lines.check(self._watched, self._wall_ms())
        try:
            while True:
                forced = await _is_requested(requested)
                await self.look(forced=forced)
        finally:
            for late in self._late.values():
                late.cancel()

    async def look(self, *, forced: bool = False) -> None:
        """Checks the stores of all listeners, once."""
        reloads_count = self._metrics.reloads_count
        for stores in self._watched:
            await self._look_at(stores, forced=forced)
        have_changed = self._metrics.reloads_count != reloads_count
        self._expiry_lines.check(self._watched, self._wall_ms(), have_changed=have_changed)

    async def _look_at(self, stores: WatchedStores, *, forced: bool) -> None:
        """Waits for one look, but not for ever: files of other listeners may be on other file systems."""
        listener = stores.listener
        look = self._late.get(listener)
        if look is None:
            now = datetime.datetime.fromtimestamp(self._wall_ms() / 1000, datetime.UTC)
            dynamic = self._driver.dynamic_configs()
            if dynamic is not None and not self._security.config.dynamic_trust:
                # Whom a controller trusts, its properties file decides.
                self._left_out[listener] = _left_out(listener, dynamic)
                dynamic = {key: value for key, value in dynamic.items() if not changes_trust(key)}
            call = partial(stores.look, dynamic, now, forced=forced)
            look = self._late[listener] = asyncio.ensure_future(call_detached(call))
            await asyncio.wait([look], timeout=self._late_seconds)
            if not look.done():
                _log_late(listener)
        if look.done():
            del self._late[listener]
            self._finish(stores, look, forced=forced)

    def _finish(self, stores: WatchedStores, look: asyncio.Task[Replacement | None], *, forced: bool) -> None:
        try:
            replacement = look.result()
        except (StoreError, ConfigException) as error:
            self._failed(stores, str(error))
        except Exception as error:  # noqa: BLE001 - otherwise nothing would ever be read again
            self._failed(stores, reason_of(error))
        else:
            if replacement is not None:
                self._use(stores.listener, replacement)
            elif forced:
                logger.info("Listener %s: keys and certificates are the same", stores.listener)
        self._warn_of_readable(stores)

    def _warn_of_readable(self, stores: WatchedStores) -> None:
        """Names a keystore that other accounts may read, once until that changes."""
        found = stores.readable
        if found is not None and found not in self._readable.values():
            logger.warning(
                "Other accounts may read the private key in %s (ssl.keystore.location of listener %s). Next"
                " step: chmod %s %s (of a volume in Kubernetes: defaultMode: 0440)",
                found[0],
                stores.listener,
                found[1],
                found[0],
            )
        self._readable[stores.listener] = found

    def _use(self, listener: str, replacement: Replacement) -> None:
        self._security.ssl_listeners[listener].context = replacement.server
        if listener == self._to_controllers:
            self._driver.use_ssl_context(replacement.client)
        self._metrics.reloaded(listener)
        logger.info("%s%s", _line(listener, replacement), self._left_out.get(listener, ""))

    def _failed(self, stores: WatchedStores, reason: str) -> None:
        self._metrics.failed(stores.listener)
        logger.error(
            "Listener %s keeps its keys and certificates, as the new ones cannot be used: %s. They are read"
            " again when they change, and on SIGHUP%s.",
            stores.listener,
            reason.rstrip("."),
            self._left_out.get(stores.listener, ""),
        )


def _left_out(listener: str, dynamic: dict[str, str]) -> str:
    """The end of a line about new stores: which dynamic configs the listener does not use."""
    prefix = listener_prefix(listener)
    keys = [key for key in sorted(dynamic) if key.startswith(prefix) and changes_trust(key)]
    if not keys:
        return ""
    return (
        f"; it uses the truststore of the properties file, and not the dynamic {', '.join(keys)}, as"
        f" {DYNAMIC_TRUST} is false"
    )


def _log_late(listener: str) -> None:
    logger.warning(
        "Listener %s keeps its keys and certificates: its keystore and truststore are being looked at, and"
        " their file system does not answer. Next step: check where they are mounted",
        listener,
    )


async def _is_requested(requested: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            await requested.wait()
    except TimeoutError:
        return False
    requested.clear()
    return True


def _line(listener: str, replacement: Replacement) -> str:
    keystore, trusted = replacement.stores.keystore, replacement.stores.trusted
    assert keystore is not None, "a listener has one"
    own = keystore.chain[0]
    return (
        f"Listener {listener} shows new connections the certificate '{name_of(own)}' with serial number"
        f" {own.serial_number:x}, valid until {own.not_valid_after_utc.isoformat()}, and trusts"
        f" {len(trusted or [])} certificates"
    )
