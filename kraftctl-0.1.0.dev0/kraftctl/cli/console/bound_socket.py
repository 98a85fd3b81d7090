"""Binds the socket of --listen; what keeps it from that has a next step of its own, which is not of files."""

from __future__ import annotations

import errno
import socket
from typing import Final

from kraftctl.cli.console.listen_address import ListenAddress
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.file_errors import reason_of

NEXT_STEPS: Final = {
    errno.EADDRINUSE: "find the process that listens there (ss -ltnp), or choose another port",
    errno.EADDRNOTAVAIL: "choose an address of this host (ip address), or 127.0.0.1",
    errno.EACCES: "choose a port above 1023",
}


def bound_socket(address: ListenAddress) -> socket.socket:
    """Returns a socket that is bound. Raises AdminError."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        found = socket.getaddrinfo(address.host, address.port, family, socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise AdminError(
            f"--listen {address}: the host {address.host} is not known. Next step: give an address of it"
        ) from error
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(found[0][4])
        bound.listen()
    except OSError as error:
        bound.close()
        step = NEXT_STEPS.get(error.errno or 0, "choose another address")
        raise AdminError(
            f"--listen {address} cannot be used: {reason_of(error)}. Next step: {step}"
        ) from error
    return bound
