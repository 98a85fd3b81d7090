"""Whether other accounts may read the secrets that a properties file has itself, not by a config provider."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.server.security.local_users import OTHERS

PUBLIC: Final = ("ssl.keystore.certificate.chain", "ssl.truststore.certificates")
"""Of type PASSWORD in Kafka, and no secrets: only certificates are in them."""

JAAS: Final = "sasl.jaas.config"
JAAS_SECRETS: Final = re.compile(r"password|secret|user_", re.IGNORECASE)
"""An entry without these says which mechanism is used, and no more."""


def readable_secrets(file: Path, properties: Mapping[str, str], elsewhere: Collection[str]) -> list[str]:
    """The keys of secrets in `file` if other accounts may read it, sorted; `elsewhere` has keys not from it.

    A file that cannot be looked at, such as what a shell makes of `<(command)`, has none.
    """
    try:
        status = os.stat(file)
    except OSError:
        return []
    if not status.st_mode & OTHERS or not os.path.isfile(file):
        return []
    return sorted(key for key, value in properties.items() if key not in elsewhere and _is_secret(key, value))


def _is_secret(key: str, value: str) -> bool:
    name = next((name for name in _secret_names() if key == name or key.endswith(f".{name}")), None)
    if name is None or not value:
        return False
    return name != JAAS or JAAS_SECRETS.search(value) is not None


@cache
def _secret_names() -> frozenset[str]:
    """With the prefixes of a listener and a mechanism, keys end with one of them."""
    sensitive = {name for name, key in BROKER_CONFIG_KEYS.items() if key.sensitive}
    return frozenset(sensitive.difference(PUBLIC))
