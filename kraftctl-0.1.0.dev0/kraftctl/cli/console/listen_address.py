"""Parses where a console listens: `http://HOST:PORT` or `https://HOST:PORT`, on loopback without a token."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from kraftctl_admin.errors import AdminError

HTTP: Final = "http"
HTTPS: Final = "https"


@dataclass(frozen=True)
class ListenAddress:
    """An address to listen at."""

    scheme: str
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this host reaches it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_listen_address(text: str) -> ListenAddress:
    """Parses the argument of --listen. Raises AdminError."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None or parts.scheme not in (HTTP, HTTPS) or parts.path not in ("", "/"):
        raise AdminError(f"--listen {text} is not of the form http://HOST:PORT or https://HOST:PORT.")
    if parts.query or parts.fragment or parts.username is not None:
        raise AdminError(f"--listen {text} has more than a scheme, a host and a port.")
    return ListenAddress(parts.scheme, host, port)


def check_access(address: ListenAddress, *, has_token: bool, has_certificate: bool) -> None:
    """Refuses a page that everyone in the network may read. Raises AdminError."""
    if address.scheme == HTTPS and not has_certificate:
        raise AdminError(f"--listen {address} needs --certificate and --key, files in PEM.")
    if address.scheme == HTTP and has_certificate:
        raise AdminError(f"--certificate is for https, and --listen is {address}.")
    if not address.is_loopback and not has_token:
        raise AdminError(
            f"--listen {address} is not on loopback, so that others could read the page. Next step: give"
            " --token-file, or listen on 127.0.0.1"
        )
