"""Turns the configuration of a client into a factory of mechanisms, one for each of its connections."""

from __future__ import annotations

import secrets

from kraftctl_protocol.scram import MECHANISM_NUMBERS
from kraftctl_security.sasl.mechanism import NewSaslClient
from kraftctl_security.sasl.plain import PlainClient
from kraftctl_security.sasl.sasl_config import PLAIN, SaslMechanismConfig
from kraftctl_security.sasl.scram_client import ScramClient

NONCE_BYTES = 32

TOKEN_AUTH = "tokenauth"
"""An entry of JAAS with this option has a delegation token as its user (KIP-48)."""


def client_maker(config: SaslMechanismConfig) -> NewSaslClient:
    """Returns the factory, made once for all connections: it has what a mechanism keeps between them."""
    name, password = config.options["username"], config.options["password"]
    if config.mechanism == PLAIN:
        return lambda: PlainClient(name, password)
    number = MECHANISM_NUMBERS[config.mechanism]
    token_auth = config.options.get(TOKEN_AUTH, "").lower() == "true"
    return lambda: ScramClient(
        number, name, password, nonce=secrets.token_urlsafe(NONCE_BYTES), token_auth=token_auth
    )
