"""The token of a client, replaced before it expires (KIP-255), on a thread as in Kafka."""

from __future__ import annotations

import logging
import random
import threading
import time
from typing import Final

from kraftctl_security.issuer.token_endpoint import ClientToken, TokenEndpointError, fetch_token
from kraftctl_security.sasl.oauthbearer.login_refresh import RETRY_MS, refresh_at_ms
from kraftctl_security.sasl.oauthbearer.oauthbearer_client import OAuthBearerSaslClient, TokenUnavailableError
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import OAuthBearerClientConfig
from kraftctl_security.tls.contexts import client_context

logger = logging.getLogger("kraftctl.server.oauthbearer")

RETRY_MS_MIN: Final = 100

FILE_LOOK_MS: Final = 10_000
"""Another process replaces a token in a file, at a time of its own, so it is checked at this interval."""

FIRST_TOKEN_SECONDS_MAX: Final = 10.0
"""The time that a connection waits for the first token: as long as the attempts of one round last by
default."""


class TokenLogin:
    """Keeps one token for all connections of this process. `start` and `close` are called once each."""

    def __init__(self, config: OAuthBearerClientConfig) -> None:
        """Raises StoreError for a keystore or truststore that cannot be used."""
        client_context(config.ssl)
        self._config = config
        self._current: ClientToken | None = None
        self._failure: str | None = "it has not been asked for yet"
        self._asked = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oauthbearer-login", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Ends the thread after what it is doing, without waiting."""
        self._closing.set()

    def new_client(self) -> OAuthBearerSaslClient:
        """Returns a client for one authentication. Waits until the first token was asked for: not for the
        loop.
        """
        self._asked.wait(FIRST_TOKEN_SECONDS_MAX)
        return OAuthBearerSaslClient(self.token, self._config.extensions)

    def token(self) -> str:
        """Returns the token without waiting. An expired one is used until its replacement has failed: clocks
        differ.

        Raises TokenUnavailableError.
        """
        current, failure = self._current, self._failure
        if current is None or (failure is not None and current.token.expires_at_ms <= _wall_ms()):
            raise TokenUnavailableError(f"there is no token to authenticate with: {failure}")
        return current.text

    def _run(self) -> None:
        while not self._closing.is_set():
            self._ask()
            self._asked.set()
            self._closing.wait(min(self._pause_ms() / 1_000, threading.TIMEOUT_MAX))

    def _pause_ms(self) -> int:
        current = self._current
        if current is None or self._failure is not None:
            return RETRY_MS
        now_ms = _wall_ms()
        at_ms = refresh_at_ms(
            self._config.refresh,
            issued_at_ms=current.token.issued_at_ms,
            expires_at_ms=current.token.expires_at_ms,
            now_ms=now_ms,
            random=random.random(),
        )
        pause_ms = max(at_ms - now_ms, RETRY_MS_MIN)
        return pause_ms if self._config.credentials is not None else min(pause_ms, FILE_LOOK_MS)

    def _ask(self) -> None:
        """Asks until there is a token or sasl.login.retry.backoff.max.ms has passed. Each pause is longer."""
        end_s = time.monotonic() + self._config.retry_backoff_max_ms / 1_000
        pause_ms = max(self._config.retry_backoff_ms, RETRY_MS_MIN)
        while not self._closing.is_set():
            try:
                self._accept(fetch_token(self._config))
                return
            except TokenEndpointError as error:
                self._failure = f"{error}"
                left_ms = (end_s - time.monotonic()) * 1_000
                if not error.retriable or left_ms <= 0:
                    logger.warning("Cannot get a token: %s. The next attempt is in %d ms", error, RETRY_MS)
                    return
                self._closing.wait(min(pause_ms, left_ms) / 1_000)
                pause_ms *= 2
            except Exception as error:  # noqa: BLE001 - see docs/adr/0005: the next token has to be asked for
                self._failure = f"{type(error).__name__}: {error}"
                logger.warning(
                    "Cannot get a token: %s. The next attempt is in %d ms", self._failure, RETRY_MS
                )
                return

    def _accept(self, found: ClientToken) -> None:
        previous, self._current = self._current, found
        self._failure = None
        if previous is None or previous.text != found.text:
            seconds = (found.token.expires_at_ms - _wall_ms()) // 1_000
            logger.info("Have a token of User:%s for %d seconds", found.token.principal_name, seconds)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000
