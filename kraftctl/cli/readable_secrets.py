"""Checks that other accounts cannot read the secrets of a controller: in its properties file, in the files of
config providers, in the JAAS file, and in files with private keys, passwords or a token.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from kraftctl.config.controller_config import SCRAM_USERS_PATH
from kraftctl.config.operate_config import TOKEN_PATH
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl_security.jvm_options import KAFKA_OPTS
from kraftctl_security.resolved_properties import ResolvedProperties
from kraftctl_security.sasl.login_configuration import login_configuration_file
from kraftctl_security.small_files import mode_against_others

PUBLIC: Final = ("ssl.keystore.certificate.chain", "ssl.truststore.certificates")
"""These are of type PASSWORD in Kafka, and not secret: they contain only certificates."""

JAAS: Final = "sasl.jaas.config"
JAAS_SECRETS: Final = re.compile(r"password|secret|user_", re.IGNORECASE)
"""A JAAS entry without these only says which mechanism is used."""

SECRET_FILES: Final = (
    *("ssl.keystore.location", "sasl.oauthbearer.assertion.private.key.file"),
    *(TOKEN_PATH, SCRAM_USERS_PATH),
)
"""The values of these name files that are secret as a whole: private keys, passwords, a token."""

TOKEN_URL: Final = "sasl.oauthbearer.token.endpoint.url"
FILE_SCHEME: Final = "file:"
"""A URL of a file with a token, in place of an endpoint."""


def readable_secrets(
    file: Path, properties: Mapping[str, str], elsewhere: Collection[str]
) -> tuple[str | None, list[str]]:
    """Returns the mode that chmod needs, and the sorted keys of secrets, without those in `elsewhere`.

    None and no keys say that other accounts cannot read a secret in `file`.

    An unreadable file, such as what a shell makes of `<(command)`, has none.
    """
    mode = _mode_of(file)
    if mode is None:
        return None, []
    keys = sorted(key for key, value in properties.items() if key not in elsewhere and _is_secret(key, value))
    return (mode, keys) if keys else (None, [])


def other_readable_files(
    properties: ResolvedProperties, environment: Mapping[str, str] = os.environ
) -> dict[str, tuple[str, list[str]]]:
    """Returns, by file, the mode that chmod needs and the keys whose secrets it has, or KAFKA_OPTS."""
    users: dict[str, list[str]] = {}
    for key in sorted(properties.files):
        for file in properties.files[key] if _is_secret(key, properties[key]) else []:
            users.setdefault(file, []).append(key)
    jaas_file = login_configuration_file(environment.get(KAFKA_OPTS, ""))
    if jaas_file is not None:
        users.setdefault(jaas_file, []).append(KAFKA_OPTS)
    modes = {file: _mode_of(Path(file)) for file in users}
    return {file: (mode, sorted(set(users[file]))) for file, mode in modes.items() if mode is not None}


def readable_secret_files(properties: Mapping[str, str]) -> dict[str, tuple[str, list[str]]]:
    """Returns the same of files that are secret as a whole, by the keys that name them."""
    users: dict[str, list[str]] = {}
    for key in sorted(properties):
        file = _secret_file(key, properties[key].strip())
        if file:
            users.setdefault(file, []).append(key)
    modes = {file: _mode_of(Path(file)) for file in users}
    return {file: (mode, users[file]) for file, mode in modes.items() if mode is not None}


def _secret_file(key: str, value: str) -> str:
    """Returns the file that the value of this key names; an empty text for another key."""
    if key == TOKEN_URL or key.endswith(f".{TOKEN_URL}"):
        return unquote(urlsplit(value).path) if value.startswith(FILE_SCHEME) else ""
    return value if any(key == name or key.endswith(f".{name}") for name in SECRET_FILES) else ""


def _mode_of(file: Path) -> str | None:
    """Returns the mode that chmod needs; None for what no other account can read, and for what is no file.

    A service reads what is root's through the group of the file, and would not start without it: root, who
    looks at it, is not the service.
    """
    try:
        status = os.stat(file)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    if status.st_uid == 0 and status.st_gid != 0:
        return "o-rwx" if status.st_mode & stat.S_IRWXO else None
    return mode_against_others(status)


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
