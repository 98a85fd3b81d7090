"""Limits connections: of all clients, of one address, and by the descriptors left.

The limits are those of the properties file until dynamic configs replace them. Connections that exist stay
when a limit is lowered.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.config.connection_limits import RATE_WINDOW_SECONDS, ConnectionLimits
from kraftctl_security.config_values import INT_MAX


class ConnectionRate:
    """Implements `max.connection.creation.rate`: a number per second, and those that were not used in
    the window.
    """

    def __init__(self, now: Callable[[], float], rate: int) -> None:
        self._now = now
        self._rate = INT_MAX
        self._left = 0.0
        self._at = now()
        self.use(rate)

    def use(self, rate: int) -> None:
        """Sets the rate from now on. The same rate changes nothing."""
        if rate != self._rate:
            self._rate = rate
            self._left = float(max(rate, 1) * RATE_WINDOW_SECONDS)
            self._at = self._now()

    def pause_seconds(self) -> float:
        """Returns how long the next connection has to wait; 0 if not at all. A rate of 0 is 1, as in
        Kafka.
        """
        if self._rate == INT_MAX:
            return 0.0
        rate, now = max(self._rate, 1), self._now()
        self._left = min(self._left + (now - self._at) * rate, float(rate * RATE_WINDOW_SECONDS))
        self._at = now
        return max(1.0 - self._left, 0.0) / rate

    def take(self) -> None:
        """Counts one accepted connection."""
        if self._rate != INT_MAX:
            self._left -= 1.0


class ConnectionQuotas:
    """Applies the limits of `limits`, and of descriptors, over all listeners."""

    def __init__(self, limits: ConnectionLimits, now: Callable[[], float]) -> None:
        self._now = now
        self.limits = limits
        self._rate = ConnectionRate(now, limits.max_connection_creation_rate)
        self._rates: dict[str, ConnectionRate] = {}
        self.by_ip: dict[str, int] = {}
        self.by_listener: dict[str, int] = {}
        self.count = 0
        self.descriptors_max = INT_MAX
        """The number of connections that the limit of open files allows; known when the listeners are
        open."""
        self.use(limits)

    def use(self, limits: ConnectionLimits) -> None:
        """Sets the limits from now on."""
        self.limits = limits
        self._rate.use(limits.max_connection_creation_rate)
        for listener, its_limits in limits.listeners.items():
            rate = self._rates.get(listener)
            if rate is None:
                self._rates[listener] = ConnectionRate(self._now, its_limits.max_connection_creation_rate)
            else:
                rate.use(its_limits.max_connection_creation_rate)

    @property
    def has_descriptors(self) -> bool:
        """Returns whether the limit of open files has room for one more connection."""
        return self.count < self.descriptors_max

    def why_not(self, host: str, listener: str) -> str | None:
        """Returns why one more connection from `host` is too many, or None when it is admitted."""
        limits = self.limits
        if self.count >= limits.max_connections:
            return f"max.connections={limits.max_connections} is reached"
        if not self.has_descriptors:
            return f"there are {self.count} connections, and no descriptor can be spared for another one"
        of_listener = limits.listeners.get(listener)
        if of_listener is not None and self.by_listener.get(listener, 0) >= of_listener.max_connections:
            return f"max.connections={of_listener.max_connections} of listener {listener} is reached"
        max_per_ip = limits.max_connections_per_ip_overrides.get(host, limits.max_connections_per_ip)
        if self.by_ip.get(host, 0) >= max_per_ip:
            return f"max.connections.per.ip={max_per_ip} is reached"
        return None

    def pause_seconds(self, listener: str) -> float:
        """Returns how long the next connection to `listener` waits for max.connection.creation.rate."""
        seconds = self._rate.pause_seconds()
        rate = self._rates.get(listener)
        return seconds if rate is None else max(seconds, rate.pause_seconds())

    def accepted(self, listener: str) -> None:
        """Counts a connection that was accepted, whether it is admitted or refused."""
        self._rate.take()
        if (rate := self._rates.get(listener)) is not None:
            rate.take()

    def crowded_address(self) -> str:
        """Returns the address with the most connections."""
        return max(self.by_ip, key=self.by_ip.__getitem__, default="")

    def add(self, host: str, listener: str) -> None:
        self.count += 1
        self.by_ip[host] = self.by_ip.get(host, 0) + 1
        self.by_listener[listener] = self.by_listener.get(listener, 0) + 1

    def remove(self, host: str, listener: str) -> None:
        self.count -= 1
        self.by_listener[listener] -= 1
        self.by_ip[host] -= 1
        if self.by_ip[host] == 0:
            del self.by_ip[host]
