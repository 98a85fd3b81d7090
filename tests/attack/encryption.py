"""SSL of the attacked controller: its keys, and clients that verify nothing and have no certificate."""

from __future__ import annotations

import ssl
from pathlib import Path

from tests.support.certificates import Authority


def ssl_properties(directory: Path) -> dict[str, str]:
    """A listener whose clients need no certificate: what each of them can do."""
    keystore = directory / "keystore.pem"
    keystore.write_text(Authority().issue("CN=controller", kind="RSA").pem())
    return {
        "listener.security.protocol.map": "CONTROLLER:SSL,CLIENTS:SASL_PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
    }


def client_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
