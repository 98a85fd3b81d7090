"""Which dynamic configs of its own a controller obeys while it runs, by their keys: only those are shown.

`node_configs` asks for what to apply and for the reason to log, `dynamic_broker_config` for what to show.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.dynamic_keys import (
    DYNAMIC_TRUST,
    STORE_KEYS,
    changes_trust,
    is_limit,
    split_listener_key,
)
from kraftctl.controller.state.effective_configs import OBEYED_CONFIGS
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
from kraftctl_security.tls.ssl_config import listener_prefix

WITHOUT_TRUST: Final = (
    "whom a controller trusts is decided by its properties file. Next step: set the truststore there, restart"
    f" each controller, then delete it; or set {DYNAMIC_TRUST}=true"
)


WITHOUT_PREFIX: Final = (
    "a controller uses it only with the prefix of a listener, as listener.name.controller.ssl.*"
)
FIXED: Final = "a controller does not change it while it runs. Set it for brokers, or in the properties file"
UNKNOWN: Final = "Kafka has no such configuration"


class ObeyedConfigs:
    """The rule for one controller, whose properties file has its listeners."""

    def __init__(self, config: ControllerConfig) -> None:
        self._dynamic_trust = config.dynamic_trust
        self._prefixes = frozenset([listener_prefix(endpoint.listener) for endpoint in config.listeners])
        self._ssl_prefixes = frozenset([listener_prefix(listener) for listener in config.ssl])

    def has_listener(self, prefix: str) -> bool:
        """Returns whether a prefix of keys is that of a listener here; also for none."""
        return not prefix or prefix in self._prefixes

    def why_not(self, key: str) -> str | None:
        """Returns why a config with this key has no effect; None if it has one, with a usable value."""
        prefix, base = split_listener_key(key)
        if key in OBEYED_CONFIGS:
            return None
        if not self.has_listener(prefix):
            return "this controller has no such listener"
        if prefix and base in STORE_KEYS:
            if prefix not in self._ssl_prefixes:
                return "the listener does not use SSL"
            return None if self._dynamic_trust or not changes_trust(key) else WITHOUT_TRUST
        if is_limit(key):
            return None
        if key in STORE_KEYS:
            return WITHOUT_PREFIX
        if base in BROKER_CONFIG_KEYS and base not in DYNAMIC_BROKER_CONFIGS:
            return "it is read only when a node starts. Set it in the properties file"
        return FIXED if base in BROKER_CONFIG_KEYS or base in DYNAMIC_BROKER_CONFIGS else UNKNOWN
