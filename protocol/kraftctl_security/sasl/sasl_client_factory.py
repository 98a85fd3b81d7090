"""From the configuration of a client to what makes a mechanism for each of its connections."""

from __future__ import annotations

import secrets

from kraftctl_protocol.scram import MECHANISM_NUMBERS
from kraftctl_security.sasl.mechanism import NewSaslClient
from kraftctl_security.sasl.plain import PlainClient
from kraftctl_security.sasl.sasl_config import PLAIN, SaslMechanismConfig
from kraftctl_security.sasl.scram_client import ScramClient

NONCE_BYTES = 32

TOKEN_AUTH = "tokenauth"
"""The option of a JAAS entry whose user is a delegation token (KIP-48)."""


def client_maker(config: SaslMechanismConfig) -> NewSaslClient:
    """Made once for all connections: what a mechanism keeps between them belongs here."""
    name, password = config.options["username"], config.options["password"]
    if config.mechanism == PLAIN:
        return lambda: PlainClient(name, password)
    number = MECHANISM_NUMBERS[config.mechanism]
    token_auth = config.options.get(TOKEN_AUTH, "").lower() == "true"
    return lambda: ScramClient(
        number, name, password, nonce=secrets.token_urlsafe(NONCE_BYTES), token_auth=token_auth
    )
