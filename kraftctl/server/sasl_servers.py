"""The SASL mechanisms that a listener offers, with what their clients are compared with."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable

from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_security.sasl.mechanism import SaslServer
from kraftctl_security.sasl.plain import PlainServer, PlainUsers
from kraftctl_security.sasl.sasl_config import PLAIN, SaslListenerConfig, SaslMechanismConfig
from kraftctl_security.sasl.scram_server import ScramCredentials, ScramServer


class ListenerSaslServers:
    """Makes one for each authentication."""

    def __init__(self, config: SaslListenerConfig, credentials: ScramCredentials) -> None:
        self.mechanisms = list(config.mechanisms)
        self._session_ms_max = {name: each.reauth_ms_max for name, each in config.mechanisms.items()}
        self._makers = {name: _maker(each, credentials) for name, each in config.mechanisms.items()}

    def server(self, mechanism: str) -> SaslServer:
        return self._makers[mechanism]()

    def session_ms_max(self, mechanism: str) -> int:
        return self._session_ms_max[mechanism]


def _maker(config: SaslMechanismConfig, credentials: ScramCredentials) -> Callable[[], SaslServer]:
    if config.mechanism == PLAIN:
        users = PlainUsers(config.options)
        return lambda: PlainServer(users)
    numbers = {name: number for number, name in MECHANISM_NAMES.items()}
    number = numbers[config.mechanism]
    unknown_secret = os.urandom(32)
    return lambda: ScramServer(
        number, credentials, nonce=secrets.token_urlsafe(32), unknown_secret=unknown_secret
    )
