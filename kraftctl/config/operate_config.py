"""The keys of the listener for probes and metrics. Kafka has none: it reports both by JMX."""

from __future__ import annotations

import re
from typing import Final

from kraftctl.config.endpoints import PORT_MAX, Endpoint
from kraftctl_security.config_values import ConfigValues

LISTENERS: Final = "kraftctl.operate.listeners"
TOKEN_PATH: Final = "kraftctl.operate.token.path"

TOKEN_BYTES_MAX: Final = 4 * 1024
"""The longest file of a token that is read."""

CONNECTIONS_MAX: Final = 32
DESCRIPTORS_MAX: Final = CONNECTIONS_MAX + 8
"""Those of connections that are being closed, and of what a scrape reads."""

HTTP: Final = "http"
HTTPS: Final = "https"

_URL: Final = re.compile(r"(http|https)://(\[[0-9a-zA-Z%.:]+\]|[0-9a-zA-Z\-._]*):([0-9]+)/?")
ALL_ADDRESSES: Final = (None, "0.0.0.0", "::")


class OperateConfig:
    """Where probes and metrics are served: nowhere unless `endpoints` has any.

    The `listener` of an endpoint is `http` or `https`. `ssl_listener` names the controller listener whose
    certificate is shown over https. `token_path` is empty without a token.
    """

    def __init__(self, values: ConfigValues, ssl_listeners: list[str]) -> None:
        """Takes the controller listeners that use SSL, the first of which lends its certificate."""
        self.endpoints: list[Endpoint] = []
        self.token_path = values.text(TOKEN_PATH)
        self.ssl_listener = ssl_listeners[0] if ssl_listeners else ""
        for url in values.names(LISTENERS):
            reason = self._read(url)
            if reason is not None:
                values.refuse(LISTENERS, values.text(LISTENERS), reason)
        if self.token_path and not self.endpoints:
            values.refuse(TOKEN_PATH, self.token_path, f"nothing is served without {LISTENERS}")

    @property
    def reserved_descriptors(self) -> int:
        """The file descriptors that its connections need, beyond those that are open when it is served."""
        return DESCRIPTORS_MAX if self.endpoints else 0

    def _read(self, url: str) -> str | None:
        """Returns why the entry cannot be used."""
        match = _URL.fullmatch(url)
        if match is None:
            return f"'{url}' is not of the form http://HOST:PORT or https://HOST:PORT"
        scheme, host, port = match.group(1), match.group(2), int(match.group(3))
        if not 0 < port <= PORT_MAX:
            return f"port {port} of '{url}' is not within 1..{PORT_MAX}"
        if scheme == HTTPS and not self.ssl_listener:
            return (
                f"'{url}' shows the certificate of a controller listener, and none of them uses SSL: use"
                " http:// on an address that only this host reaches"
            )
        protocol = "SSL" if scheme == HTTPS else "PLAINTEXT"
        endpoint = Endpoint(scheme, protocol, host.strip("[]") or None, port)
        if any(_collide(each, endpoint) for each in self.endpoints):
            return f"'{url}' has the address and port of another entry"
        self.endpoints.append(endpoint)
        return None

    def check_apart(self, values: ConfigValues, listeners: list[Endpoint]) -> None:
        """Refuses the address and port of a listener of the controller."""
        for endpoint in self.endpoints:
            for listener in listeners:
                if _collide(endpoint, listener):
                    reason = f"port {endpoint.port} is that of the listener {listener.listener}"
                    values.refuse(LISTENERS, values.text(LISTENERS), reason)


def is_on_loopback(endpoint: Endpoint) -> bool:
    """Returns whether only this host reaches it, as far as its text says."""
    host = endpoint.host or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _collide(one: Endpoint, other: Endpoint) -> bool:
    if one.port != other.port:
        return False
    return one.host == other.host or one.host in ALL_ADDRESSES or other.host in ALL_ADDRESSES
