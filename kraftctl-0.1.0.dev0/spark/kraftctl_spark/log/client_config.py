"""Reads Kafka's client keys, as its tools take them in a --command-config file.

The keys of SSL and SASL are in such a file only, which each process reads for itself: Spark gets the name of
the file, and shows it in plans, logs and checkpoints. A key without effect is refused: a job that believes
it is encrypted must not start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kraftctl_protocol.client_config_names import ADMIN_CLIENT_CONFIGS
from kraftctl_protocol.file_errors import file_error
from kraftctl_protocol.java_properties import decode_properties
from kraftctl_security.authentication_failures import SECURITY_PROTOCOL
from kraftctl_security.client_config import PLAINTEXT, ClientSecurity, read_client_security
from kraftctl_security.config_providers.resolve import refuse_variables, resolve_properties
from kraftctl_security.config_values import ConfigException, ConfigValues
from kraftctl_security.nearest_key import KnownKeys

CLIENT_ID = "client.id"
REQUEST_TIMEOUT_MS = "request.timeout.ms"
KEYS = (SECURITY_PROTOCOL, CLIENT_ID, REQUEST_TIMEOUT_MS)
SECURITY_PREFIXES = ("ssl.", "sasl.")


@dataclass(frozen=True)
class ObserverConfig:
    """The connection to controllers; it has no secrets, and is the same in every process."""

    client_id: str = "kraftctl-spark"
    request_timeout_ms: int = 60_000
    """How long a request may remain without a usable response from any controller."""
    command_config: Path | None = None
    """The file with the keys of SSL and SASL, under the same absolute path on every machine."""

    @property
    def timeout_s(self) -> float:
        return self.request_timeout_ms / 1000

    def read_security(self) -> ClientSecurity:
        """Returns the security of this process's connections. ValueError that names the file and the
        problem.
        """
        if self.command_config is None:
            return ClientSecurity()
        return _read(self.command_config)[1]


def read_command_config(file: Path) -> ObserverConfig:
    """Reads the file; ValueError names the file, the key and what is allowed."""
    return _read(file.absolute())[0]


def parse_client_options(properties: Mapping[str, str], default: ObserverConfig) -> ObserverConfig:
    """Returns the keys that Spark may see, beside those of a file. ValueError that names the key."""
    for key in properties:
        if key.startswith(SECURITY_PREFIXES):
            raise ValueError(
                f"{key} is not an option, because Spark shows options: write the keys that begin with ssl."
                " and sasl. into a properties file that every worker can read, and name it by option"
                " commandConfig"
            )
        if key not in KEYS:
            raise ValueError(f"{key} is not known: allowed are {', '.join(KEYS)}")
    try:
        refuse_variables(properties)
    except ConfigException as error:
        raise ValueError(str(error)) from None
    protocol = properties.get(SECURITY_PROTOCOL, PLAINTEXT)
    if protocol.upper() != PLAINTEXT:
        raise ValueError(
            f"{SECURITY_PROTOCOL}={protocol} needs keys that are no options, because Spark shows options:"
            " write all of them into a properties file that every worker can read, and name it by option"
            " commandConfig"
        )
    return ObserverConfig(
        properties.get(CLIENT_ID, default.client_id),
        parse_timeout_ms(REQUEST_TIMEOUT_MS, properties.get(REQUEST_TIMEOUT_MS), default),
        default.command_config,
    )


def parse_timeout_ms(key: str, text: str | None, default: ObserverConfig) -> int:
    """Returns the time, that of `default` without a text; ValueError names `key`."""
    if text is None:
        return default.request_timeout_ms
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"{key}={text} is not a number of milliseconds: give a whole number above 0")
    return int(text)


def _read(file: Path) -> tuple[ObserverConfig, ClientSecurity]:
    try:
        values = ConfigValues(resolve_properties(decode_properties(file.read_bytes())))
        return _parse(file, values)
    except OSError as unreadable:
        raise ValueError(file_error("read", file, unreadable, named_by="--command-config")) from unreadable
    except (ValueError, ConfigException) as error:
        raise ValueError(f"{file}: {error}") from error


def _parse(file: Path, values: ConfigValues) -> tuple[ObserverConfig, ClientSecurity]:
    default = ObserverConfig()
    try:
        config = ObserverConfig(
            values.text(CLIENT_ID, default.client_id),
            parse_timeout_ms(REQUEST_TIMEOUT_MS, values.optional_text(REQUEST_TIMEOUT_MS), default),
            file,
        )
        security = read_client_security(values)
        _check_all_are_used(values)
    except (ValueError, ConfigException) as error:
        raise ValueError(values.hide(str(error))) from None
    return config, security


def _check_all_are_used(values: ConfigValues) -> None:
    """Refuses unused keys without repeating values: they may be secrets."""
    for key in values.unread():
        is_known = key in ADMIN_CLIENT_CONFIGS
        meant = None if is_known else KnownKeys(ADMIN_CLIENT_CONFIGS).nearest(key)
        question = f" Did you mean {meant}?" if meant else ""
        if key.startswith(SECURITY_PREFIXES) and not meant:
            protocol = values.text(SECURITY_PROTOCOL, PLAINTEXT)
            raise ValueError(
                f"{key} is not used with {SECURITY_PROTOCOL}={protocol}: remove it, or set that key"
            )
        allowed = ", ".join(KEYS)
        raise ValueError(
            f"{key} is not known: allowed are {allowed}, and those that begin with ssl. and sasl.{question}"
        )
