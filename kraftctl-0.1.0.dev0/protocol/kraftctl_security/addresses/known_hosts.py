"""The names that a client connects to, each with what is known of its addresses."""

from __future__ import annotations

import socket
from typing import Final

from kraftctl_security.addresses.host_addresses import HostAddresses
from kraftctl_security.addresses.host_lookup import Found, HostLookup

HOSTS_MAX: Final = 64
"""The number of names to remember; a client has a few: bootstrap servers, and the nodes that these name."""

NO_SUCH_NAME: Final = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
"""The resolver says that there is no such name, or that it has no address."""

LOOKUP_SECONDS_MAX: Final = 1.0
"""How long the resolver may take when the name already has addresses."""


class KnownHost:
    """One name and port."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.addresses = HostAddresses()
        self.lookup = HostLookup(host, port)
        self._problem = ""
        """The reason why the resolver has not found the name."""

    def take(self, found: Found) -> None:
        """Takes the result of the lookup. Raises OSError when the name has no address to try.

        Known addresses stay when the resolver fails, unless it says that the name has none.
        """
        self.lookup.taken()
        self._problem = ""
        if isinstance(found, list):
            self.addresses.resolved(found)
            if not found:
                raise OSError(f"{self.host} has no address")
        elif not self.addresses.is_known() or _says_no(found):
            self.addresses.resolved([])
            raise found

    def is_unresolved(self, seconds: float) -> None:
        """Notes that the lookup has not ended in time."""
        self._problem = f"no name server has said within {seconds:.1f} s which address {self.host} has"

    def reasons(self) -> str:
        """Returns the reasons why no address has responded yet."""
        return self._problem or self.addresses.reasons()


class KnownHosts:
    """Keeps the names that were used last."""

    def __init__(self) -> None:
        self._hosts: dict[tuple[str, int], KnownHost] = {}

    def host(self, host: str, port: int) -> KnownHost:
        """Returns the same object for the same name and port, until HOSTS_MAX others were used."""
        known = self._hosts.pop((host, port), None) or KnownHost(host, port)
        self._hosts[host, port] = known
        while len(self._hosts) > HOSTS_MAX:
            del self._hosts[next(iter(self._hosts))]
        return known


def _says_no(error: OSError) -> bool:
    return isinstance(error, socket.gaierror) and error.errno in NO_SUCH_NAME
