"""The SASL mechanisms that a listener offers, with the credentials that its clients are compared with."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_security.sasl.mechanism import SaslServer
from kraftctl_security.sasl.plain import PlainServer, PlainUsers
from kraftctl_security.sasl.sasl_config import (
    OAUTHBEARER,
    PLAIN,
    TOKEN_BYTES_MAX,
    SaslListenerConfig,
    SaslMechanismConfig,
)
from kraftctl_security.sasl.scram_server import ScramCredentials, ScramServer

if TYPE_CHECKING:
    from kraftctl_security.issuer.jwks_endpoint import JwksEndpoint


class ListenerSaslServers:
    """Makes one for each authentication. The keys of an issuer are read from `start` to `close`.

    Raises StoreError for certificates by which the issuer cannot be trusted.
    """

    def __init__(self, config: SaslListenerConfig, credentials: ScramCredentials) -> None:
        self.mechanisms = list(config.mechanisms)
        self._receive_bytes_max = config.receive_bytes_max
        self._session_ms_max = {name: each.reauth_ms_max for name, each in config.mechanisms.items()}
        self._issuers: list[JwksEndpoint] = []
        self._makers = {name: self._maker(each, credentials) for name, each in config.mechanisms.items()}

    def start(self) -> None:
        for issuer in self._issuers:
            issuer.start()

    def close(self) -> None:
        for issuer in self._issuers:
            issuer.close()

    def server(self, mechanism: str) -> SaslServer:
        return self._makers[mechanism]()

    def token_bytes_max(self, mechanism: str) -> int:
        return min(self._receive_bytes_max, TOKEN_BYTES_MAX[mechanism])

    def session_ms_max(self, mechanism: str) -> int:
        return self._session_ms_max[mechanism]

    def _maker(self, config: SaslMechanismConfig, credentials: ScramCredentials) -> Callable[[], SaslServer]:
        if config.mechanism == PLAIN:
            users = PlainUsers(config.options)
            return lambda: PlainServer(users)
        if config.mechanism != OAUTHBEARER:
            return _scram_maker(config, credentials)
        assert config.tokens is not None, "the configuration requires it"
        # With the libraries for tokens and certificates: 11 MiB that other mechanisms have no use for.
        from kraftctl_security.issuer.jwks_endpoint import JwksEndpoint
        from kraftctl_security.sasl.oauthbearer.jwt_validator import JwtValidator
        from kraftctl_security.sasl.oauthbearer.oauthbearer_server import OAuthBearerSaslServer

        issuer = JwksEndpoint(config.tokens.jwks)
        self._issuers.append(issuer)
        validator = JwtValidator(config.tokens.validator, issuer)
        return lambda: OAuthBearerSaslServer(validator)


def _scram_maker(config: SaslMechanismConfig, credentials: ScramCredentials) -> Callable[[], SaslServer]:
    numbers = {name: number for number, name in MECHANISM_NAMES.items()}
    number = numbers[config.mechanism]
    return lambda: ScramServer(number, credentials, nonce=secrets.token_urlsafe(32))
