"""The keys of the issuer, read at start, at intervals, and early when a token names a key that is not there.

It runs on a thread, like Kafka's RefreshingHttpsJwks. A controller starts without the issuer: until it has
the keys, it refuses tokens. When keys cannot be read again, the known ones stay in use.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from kraftctl_protocol.file_errors import next_step_of, reason_of
from kraftctl_security.issuer.https_exchange import BODY_BYTES_MAX, ExchangeError, https_exchange
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import JwksConfig
from kraftctl_security.sasl.oauthbearer.verification_keys import (
    VerificationKeys,
    VerificationKeysError,
    parse_verification_keys,
)
from kraftctl_security.small_files import read_small_file
from kraftctl_security.tls.contexts import client_context

logger = logging.getLogger("kraftctl.server.oauthbearer")

EARLY_REFRESH_MS_MIN: Final = 10_000
"""The minimum time between two reads, because any client can name keys that do not exist."""

KEY_ID_CHARACTERS_MAX: Final = 1_000
"""Kafka has the same in MISSING_KEY_ID_MAX_KEY_LENGTH: a longer id is no reason to read the keys."""

FILE_LOOK_MS: Final = 1_000
"""The interval at which a file is checked for changes. Kafka checks for each token; here the loop does not
wait for a disk."""

RETRY_MS_MIN: Final = 100


class JwksEndpoint:
    """The KeySource of a listener. `start` and `close` are called once each; the other methods never wait."""

    def __init__(self, config: JwksConfig, clock_s: Callable[[], float] = time.monotonic) -> None:
        """Raises StoreError for a truststore that cannot be used."""
        client_context(config.ssl)
        self._config = config
        self._clock_s = clock_s
        self._keys: VerificationKeys | None = None
        self._failure = "they have not been read yet"
        self._is_file = config.url.path is not None
        self._version: tuple[int, ...] | None = None
        self._read_at_s = 0.0
        self._retry_ms = 0
        self._early = False
        self._closing = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="oauthbearer-keys", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Ends the thread after what it is doing, without waiting."""
        self._closing = True
        self._wake.set()

    def keys(self) -> VerificationKeys | None:
        """Returns None until they are read for the first time."""
        return self._keys

    def key_is_missing(self, key_id: str) -> None:
        """Reads the keys early, but not more often than every EARLY_REFRESH_MS_MIN."""
        if len(key_id) <= KEY_ID_CHARACTERS_MAX and not self._early:
            self._early = True
            self._wake.set()

    def why_missing(self) -> str:
        return f"{self._config.url.text}: {self._failure}"

    def _run(self) -> None:
        while not self._closing:
            self._early = False
            self._read()
            self._wait()

    def _wait(self) -> None:
        """Waits until the keys have to be read again."""
        while not self._closing:
            left_s = self._read_at_s + self._interval_ms() / 1_000 - self._clock_s()
            if left_s <= 0:
                return
            self._wake.wait(min(left_s, threading.TIMEOUT_MAX))
            self._wake.clear()

    def _interval_ms(self) -> int:
        """Returns the time from the last read to the next one."""
        if self._retry_ms:
            return self._retry_ms
        regular_ms = FILE_LOOK_MS if self._is_file else max(self._config.refresh_ms, RETRY_MS_MIN)
        return min(regular_ms, EARLY_REFRESH_MS_MIN) if self._early else regular_ms

    def _read(self) -> None:
        self._read_at_s = self._clock_s()
        try:
            document = self._file() if self._is_file else self._answer()
            if document is not None:
                self._keys = parse_verification_keys(document)
                logger.info("Read %d keys of the issuer from %s", len(self._keys.keys), self._config.url.text)
            self._retry_ms = 0
        except (ExchangeError, VerificationKeysError) as error:
            self._failed(f"{error}")
        except OSError as error:
            step = next_step_of(error, "sasl.oauthbearer.jwks.endpoint.url").rstrip(".")
            self._failed(f"{reason_of(error)}. {step}")
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005: rotated keys have to be read later
            self._failed(f"{type(error).__name__}: {error}")

    def _failed(self, reason: str) -> None:
        """Schedules the next read: soon, and later after each further failure."""
        self._failure = reason
        self._version = None
        later_ms = max(self._retry_ms * 2, self._config.retry_backoff_ms, RETRY_MS_MIN)
        self._retry_ms = min(later_ms, max(self._config.retry_backoff_max_ms, RETRY_MS_MIN))
        effect = (
            "tokens are refused until then" if self._keys is None else "the keys that are known stay in use"
        )
        logger.warning(
            "Cannot read the keys of the issuer from %s: %s. The next attempt is in %d ms; %s",
            self._config.url.text,
            reason,
            self._retry_ms,
            effect,
        )

    def _answer(self) -> bytes:
        answer = https_exchange(self._config.url, self._config.ssl, headers={"Accept": "application/json"})
        if answer.status != 200:
            raise ExchangeError(f"it answers {answer.status}, and has to answer 200")
        return answer.body

    def _file(self) -> bytes | None:
        """Returns None if it has not changed since it was read."""
        path = self._config.url.path or ""
        status = os.stat(path)
        version = (status.st_ino, status.st_mtime_ns, status.st_size)
        if version == self._version:
            return None
        document = read_small_file(path, BODY_BYTES_MAX)
        self._version = version
        return document
