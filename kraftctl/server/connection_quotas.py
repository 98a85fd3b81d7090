"""How many connections there may be: of all clients, of one address, and with the descriptors left."""

from __future__ import annotations

from kraftctl.config.controller_config import ControllerConfig
from kraftctl_security.config_values import INT_MAX


class ConnectionQuotas:
    """`max.connections` and `max.connections.per.ip`, and what descriptors allow, over all listeners."""

    def __init__(self, config: ControllerConfig) -> None:
        self._max = config.max_connections
        self._max_per_ip = config.max_connections_per_ip
        self._overrides = config.max_connections_per_ip_overrides
        self.by_ip: dict[str, int] = {}
        self.count = 0
        self.descriptors_max = INT_MAX
        """As many connections as the limit of open files allows; known when the listeners are open."""

    @property
    def has_descriptors(self) -> bool:
        """Whether the limit of open files has room for one more connection."""
        return self.count < self.descriptors_max

    def why_not(self, host: str) -> str | None:
        """Why one more connection from `host` is too many, or None when it is admitted."""
        if self.count >= self._max:
            return f"max.connections={self._max} is reached"
        if not self.has_descriptors:
            return f"there are {self.count} connections, and no descriptor can be spared for another one"
        max_per_ip = self._overrides.get(host, self._max_per_ip)
        if self.by_ip.get(host, 0) >= max_per_ip:
            return f"max.connections.per.ip={max_per_ip} is reached"
        return None

    def crowded_address(self) -> str:
        """The address with the most connections."""
        return max(self.by_ip, key=self.by_ip.__getitem__, default="")

    def add(self, host: str) -> None:
        self.count += 1
        self.by_ip[host] = self.by_ip.get(host, 0) + 1

    def remove(self, host: str) -> None:
        self.count -= 1
        self.by_ip[host] -= 1
        if self.by_ip[host] == 0:
            del self.by_ip[host]
