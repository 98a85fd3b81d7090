"""RFC 8305 for blocking clients: the addresses of a name are raced until one answers ApiVersions."""

from __future__ import annotations

import selectors
import ssl
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import TimeoutError as NotDone
from typing import Final

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.addresses.host_addresses import ATTEMPT_DELAY_SECONDS, Address, Failure
from kraftctl_security.addresses.known_hosts import LOOKUP_SECONDS_MAX, KnownHost
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.blocking_attempt import BlockingAttempt
from kraftctl_security.peer_codec import PeerCodec

RACING_MAX: Final = 16
"""Connections of one attempt at a time: as many as begin within four seconds."""


class BlockingRace:
    """One attempt to connect: to each address of the name at most once. Not thread-safe."""

    def __init__(
        self,
        known: KnownHost,
        *,
        context: ssl.SSLContext | None,
        new_codec: Callable[[], PeerCodec],
        setup_timeout_s: float,
        timeout_s: float,
    ) -> None:
        """The timeouts are those of each attempt, and together that of the race."""
        self._known = known
        self._context = context
        self._new_codec = new_codec
        self._setup_timeout_s = setup_timeout_s
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + setup_timeout_s + timeout_s
        self._selector = selectors.DefaultSelector()
        self._running: list[BlockingAttempt] = []
        self._left: deque[Address] = deque()
        self._errors: list[Exception] = []
        self._next_at = 0.0
        """The time at which the next address is tried beside those that are silent."""

    def run(self) -> BlockingAttempt:
        """Returns the attempt that was answered; its socket never waits.

        Raises AuthenticationFailedError when none is answered and SSL fails at one; otherwise OSError or
        DecodeError: TimeoutError if one was silent. The text has the reason of each address.
        """
        try:
            self._resolve()
            self._left.extend(self._known.addresses.to_try())
            while self._left or self._running:
                self._begin_next()
                answered = self._step()
                if answered is not None:
                    return answered
            raise self._failure()
        finally:
            self._selector.close()
            for attempt in self._running:
                attempt.close()

    def _resolve(self) -> None:
        wait_s = LOOKUP_SECONDS_MAX if self._known.addresses.is_known() else self._setup_timeout_s
        try:
            found = self._known.lookup.start().result(wait_s)
        except NotDone as error:
            if not self._known.addresses.is_known():
                self._known.is_unresolved(wait_s)
                raise TimeoutError(self._known.reasons()) from error
        else:
            self._known.take(found)

    def _begin_next(self) -> None:
        """Starts all attempts that are due: the first, one for each that has failed, and one after each
        delay.
        """
        while self._left and len(self._running) < RACING_MAX:
            now = time.monotonic()
            if self._running and now < self._next_at:
                return
            self._next_at = now + ATTEMPT_DELAY_SECONDS
            address = self._left.popleft()
            try:
                attempt = BlockingAttempt(
                    address,
                    self._known.host,
                    context=self._context,
                    codec=self._new_codec(),
                    setup_timeout_s=self._setup_timeout_s,
                    timeout_s=self._timeout_s,
                )
            except OSError as error:
                self._failed(address, error, now)
            else:
                self._running.append(attempt)
                self._selector.register(attempt.socket, attempt.waits_for, attempt)

    def _step(self) -> BlockingAttempt | None:
        """Waits for the next event. Returns the attempt that has a response, if there is one."""
        if not self._running:
            return None
        ends = [min(each.deadline, self._deadline) for each in self._running]
        if self._left and len(self._running) < RACING_MAX:
            ends.append(self._next_at)
        ready = self._selector.select(max(0.0, min(ends) - time.monotonic()))
        for key, _ in ready:
            attempt = key.data
            assert isinstance(attempt, BlockingAttempt)
            if self._is_answered(attempt):
                return attempt
        now = time.monotonic()
        for attempt in [each for each in self._running if min(each.deadline, self._deadline) <= now]:
            self._selector.unregister(attempt.socket)
            attempt.close()
            reason = f"{attempt.missing} within {now - attempt.began_at:.1f} s"
            self._ended(attempt, TimeoutError(reason))
        return None

    def _is_answered(self, attempt: BlockingAttempt) -> bool:
        self._selector.unregister(attempt.socket)  # SSL replaces it.
        try:
            if attempt.advance():
                self._running.remove(attempt)
                return True
        except (OSError, DecodeError, AuthenticationFailedError) as error:
            self._ended(attempt, error)
        else:
            self._selector.register(attempt.socket, attempt.waits_for, attempt)
        return False

    def _ended(self, attempt: BlockingAttempt, error: Exception) -> None:
        """Notes that an attempt is over, so that the next address does not have to wait."""
        self._running.remove(attempt)
        self._failed(attempt.address, error, attempt.began_at)
        self._next_at = 0.0

    def _failed(self, address: Address, error: Exception, began_at: float) -> None:
        self._errors.append(error)
        now = time.monotonic()
        reason = str(error) or type(error).__name__
        self._known.addresses.failed(address, Failure(reason, now - began_at, now))

    def _failure(self) -> Exception:
        """Returns the error of a race that has no address left."""
        if len(self._errors) == 1:
            return self._errors[0]
        text = self._known.reasons() or "; ".join(dict.fromkeys(map(str, self._errors)))
        for error in self._errors:
            if isinstance(error, AuthenticationFailedError):
                return AuthenticationFailedError(text, error.keys)
        if any(isinstance(error, TimeoutError) for error in self._errors):
            return TimeoutError(text)
        if all(isinstance(error, DecodeError) for error in self._errors):
            return DecodeError(text)
        return OSError(text)
