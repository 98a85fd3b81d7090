"""`python -m kraftctl.cli.container.livez [FILE]`: the health check of a container, which asks /livez.

Where no listener has it, the check connects to the controller.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

from kraftctl.cli.config_file import read_config_file
from kraftctl.config.endpoints import parse_listener
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.java_values import split_list
from kraftctl_security.config_values import ConfigException

LISTENERS = "kraftctl.operate.listeners"
WRITTEN = Path("/tmp/server.properties")
SECONDS_MAX = 3.0


def answer(file: Path) -> tuple[int, str]:
    """Returns the exit status for the controller with this properties file, and what it says."""
    try:
        properties = read_config_file(file)
        probes = split_list(properties.get(LISTENERS, ""))
        if not probes:
            return _connected(split_list(properties.get("listeners", "")))
        url = urlsplit(probes[0])
        if url.port is None:
            return 1, f"{LISTENERS} is {probes[0]!r}, which has no port"
        connection = _connection(url.scheme, _reachable(url.hostname), url.port)
        connection.request("GET", "/livez")
        response = connection.getresponse()
        return int(response.status != 200), response.read().decode(errors="replace").strip()
    except (OSError, ValueError, http.client.HTTPException, StorageError, ConfigException) as error:
        return 1, str(error)


def _connected(listeners: list[str]) -> tuple[int, str]:
    listener = parse_listener(listeners[0]) if listeners else None
    if listener is None:
        return 1, "there is neither a listener with /livez nor one of the controller"
    _, host, port = listener
    socket.create_connection((_reachable(host), port), SECONDS_MAX).close()
    return 0, f"connected to {listeners[0]}"


def _reachable(host: str | None) -> str:
    return "localhost" if host in (None, "0.0.0.0", "::") else str(host)


def _connection(scheme: str, host: str, port: int) -> http.client.HTTPConnection:
    if scheme != "https":
        return http.client.HTTPConnection(host, port, timeout=SECONDS_MAX)
    # The certificate names what clients connect to, which localhost is not.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=SECONDS_MAX, context=context)


if __name__ == "__main__":
    status, said = answer(Path(sys.argv[1]) if len(sys.argv) > 1 else WRITTEN)
    print(said)
    sys.exit(status)
