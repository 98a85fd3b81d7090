"""`python -m kraftctl.cli.container.livez [FILE]`: the health check of a container, which asks /livez."""

from __future__ import annotations

import http.client
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

from kraftctl_protocol.java_properties import decode_properties

LISTENERS = "kraftctl.operate.listeners"
WRITTEN = Path("/tmp/server.properties")
SECONDS_MAX = 3.0


def answer(file: Path) -> tuple[int, str]:
    """Returns the exit status for the controller with this properties file, and what it says."""
    try:
        text = decode_properties(file.read_bytes()).get(LISTENERS, "")
        url = urlsplit(text.split(",")[0].strip())
        if url.port is None:
            return 1, f"{file} has no {LISTENERS}. Next step: set KRAFTCTL_OPERATE_LISTENERS"
        host = url.hostname if url.hostname not in (None, "0.0.0.0", "::") else "localhost"
        connection = _connection(url.scheme, str(host), url.port)
        connection.request("GET", "/livez")
        response = connection.getresponse()
        return int(response.status != 200), response.read().decode(errors="replace").strip()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return 1, str(error)


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
