"""Mechanisms for the connections of a client, and the token that those with OAUTHBEARER share."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final, TypeAlias

from kraftctl_security.sasl.mechanism import NewSaslClient
from kraftctl_security.sasl.sasl_client_factory import client_maker
from kraftctl_security.sasl.sasl_config import OAUTHBEARER, SaslMechanismConfig

if TYPE_CHECKING:
    from kraftctl_security.issuer.token_login import TokenLogin

LOGINS_MAX: Final = 16
"""A process has one, or a few after its configuration has changed."""

LoginKey: TypeAlias = tuple[int, frozenset[tuple[str, str]]]
"""The process and the properties: a forked child has none of its parent's threads."""

_logins: Final[dict[LoginKey, TokenLogin]] = {}
_lock: Final = threading.Lock()


def new_sasl_client_of(config: SaslMechanismConfig) -> NewSaslClient:
    """Returns what makes a mechanism for each connection. With OAUTHBEARER, it asks for a token from now on.

    As with Kafka's LoginManager, all connections of one configuration share the token: a client that reads
    its configuration again for each connection does not ask for one each time. Raises StoreError.
    """
    if config.mechanism != OAUTHBEARER:
        return client_maker(config)
    # With the libraries for tokens and certificates: 11 MiB that other mechanisms have no use for.
    from kraftctl_security.issuer.token_login import TokenLogin

    key = (os.getpid(), frozenset(config.values.values.properties.items()))
    with _lock:
        login = _logins.get(key)
        if login is None:
            assert config.login is not None, "the configuration requires it"
            login = TokenLogin(config.login)
            login.start()
            while len(_logins) >= LOGINS_MAX:
                _logins.pop(next(iter(_logins))).close()
            _logins[key] = login
    return login.new_client
