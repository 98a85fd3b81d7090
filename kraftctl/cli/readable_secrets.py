"""Checks that other accounts cannot read the secrets in a properties file, unless a config provider has
them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl_security.small_files import mode_against_others

PUBLIC: Final = ("ssl.keystore.certificate.chain", "ssl.truststore.certificates")
"""These are of type PASSWORD in Kafka, and not secret: they contain only certificates."""

JAAS: Final = "sasl.jaas.config"
JAAS_SECRETS: Final = re.compile(r"password|secret|user_", re.IGNORECASE)
"""A JAAS entry without these only says which mechanism is used."""


def readable_secrets(
    file: Path, properties: Mapping[str, str], elsewhere: Collection[str]
) -> tuple[str | None, list[str]]:
    """Returns the mode that chmod needs, and the sorted keys of secrets, without those in `elsewhere`.

    None and no keys say that other accounts cannot read a secret in `file`.

    An unreadable file, such as what a shell makes of `<(command)`, has none.
    """
    try:
        status = os.stat(file)
    except OSError:
        return None, []
    mode = mode_against_others(status)
    if mode is None or not os.path.isfile(file):
        return None, []
    keys = sorted(key for key, value in properties.items() if key not in elsewhere and _is_secret(key, value))
    return (mode, keys) if keys else (None, [])


def _is_secret(key: str, value: str) -> bool:
    name = next((name for name in _secret_names() if key == name or key.endswith(f".{name}")), None)
    if name is None or not value:
        return False
    return name != JAAS or JAAS_SECRETS.search(value) is not None


@cache
def _secret_names() -> frozenset[str]:
    """Returns names that keys end with, after the prefixes of a listener and a mechanism."""
    sensitive = {name for name, key in BROKER_CONFIG_KEYS.items() if key.sensitive}
    return frozenset(sensitive.difference(PUBLIC))
