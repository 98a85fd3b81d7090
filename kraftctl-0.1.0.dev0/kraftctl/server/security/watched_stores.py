"""The keystore and truststore of one listener while it runs: when they are replaced, and when not.

Its methods block, because they read files and decrypt keys. Do not call them on the loop.
"""

from __future__ import annotations

import datetime
import ssl
from collections.abc import Callable
from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.dynamic_keys import STORE_KEYS
from kraftctl.server.security.store_reader import UnreadStoreError
from kraftctl_security.config_providers.resolve import refuse_variables
from kraftctl_security.tls.contexts import Stores, client_context, server_context
from kraftctl_security.tls.ssl_config import SslConfig, listener_prefix
from kraftctl_security.tls.store_files import FileState, readable_keystore, store_states
from kraftctl_security.tls.store_replacement import check_dates, check_names, check_peers

RETRY_SECONDS: Final = 60.0
"""After a failure of the process that reads; twice as long after each further one, up to an hour."""

RETRY_SECONDS_MAX: Final = 3_600.0


class Replacement:
    """New stores that have passed all checks, and a context of each kind made of them."""

    def __init__(
        self, config: SslConfig, stores: Stores, server: ssl.SSLContext, client: ssl.SSLContext
    ) -> None:
        self.config = config
        self.stores = stores
        self.server = server
        self.client = client


class WatchedStores:
    """The stores of one listener. `properties` are those of the file, and `read` reads what they name.
    `reaches_controllers`: this node is also a client with them.
    """

    def __init__(
        self,
        listener: str,
        properties: dict[str, str],
        config: SslConfig,
        stores: Stores,
        read: Callable[[SslConfig], Stores],
        *,
        reaches_controllers: bool,
    ) -> None:
        self.listener = listener
        self.config = config
        self.stores = stores
        self.readable: tuple[str, str] | None = None
        """The keystore that other accounts may read, and the mode that chmod needs, at the last look."""
        self._properties = properties
        self._read = read
        self._reaches_controllers = reaches_controllers
        self._dynamic: dict[str, str] | None = None
        self._tried: SslConfig = config
        self._tried_files = stores.files
        self._seen_files: list[FileState] | None = None
        self._retry_at: datetime.datetime | None = None
        self._retry_seconds = RETRY_SECONDS

    def look(
        self, dynamic: dict[str, str] | None, now: datetime.datetime, *, forced: bool
    ) -> Replacement | None:
        """Returns the new stores; None when they are the same, or files may still be changing.

        `dynamic` has the dynamic configs of this node, None as long as they are not known. Files are read
        when they have changed since they were read, but not since the last check; with `forced`, always.
        Raises StoreError or ConfigException for unusable stores, once for each change. What could not be read
        for lack of memory or time is read again.
        """
        self.readable = readable_keystore(self.config)
        altered, is_first = self._altered(dynamic)
        files = store_states(self._tried)
        is_due = forced or altered or (self._retry_at is not None and now >= self._retry_at)
        if not is_due:
            is_due = files != self._tried_files and files == self._seen_files
            self._seen_files = files
        if not is_due:
            return None
        self._tried_files = files
        config = self._tried
        stores = self._read_or_later(config, now)
        if stores.same_as(self.stores):
            return None
        check_dates(stores, now)
        if not is_first:
            check_names(config, self.stores, stores)
        if self._reaches_controllers:
            check_peers(self.config, self.stores, config, stores, now, is_first=is_first)
        replacement = Replacement(
            config, stores, server_context(config, stores), client_context(config, stores)
        )
        self.config, self.stores = config, stores
        return replacement

    def _read_or_later(self, config: SslConfig, now: datetime.datetime) -> Stores:
        self._retry_at = None
        try:
            stores = self._read(config)
        except (UnreadStoreError, OSError):
            self._retry_at = now + datetime.timedelta(seconds=self._retry_seconds)
            self._retry_seconds = min(2 * self._retry_seconds, RETRY_SECONDS_MAX)
            raise
        self._retry_seconds = RETRY_SECONDS
        return stores

    def _altered(self, dynamic: dict[str, str] | None) -> tuple[bool, bool]:
        """Returns whether dynamic configs differ from the last check, and whether they are the first ones.

        The first ones are not compared with those of the file: with each of those before, they have been
        compared. What other controllers refused then, they refuse now.
        """
        if dynamic is None:
            return False, False
        prefix = listener_prefix(self.listener)
        own = {key: dynamic[key] for name in STORE_KEYS if (key := prefix + name) in dynamic}
        is_first, former = self._dynamic is None, self._dynamic or {}
        self._dynamic = own
        if own == former:
            return False, False
        refuse_variables(own)
        self._tried = ControllerConfig({**self._properties, **own}).ssl[self.listener]
        return True, is_first
