"""The connection to the cluster that is compared or changed: its brokers, with the keys of Kafka's tools."""

from __future__ import annotations

import time
from pathlib import Path

from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import ClientConfig, parse_client_config
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.file_errors import file_error
from kraftctl_protocol.java_properties import PropertiesError, decode_properties
from kraftctl_security.config_providers.resolve import resolve_properties
from kraftctl_security.config_values import ConfigException
from kraftctl_spark.log.log_location import SOFTWARE, parse_endpoints
from kraftctl_spark.tables.manifest import ExportRefusedError


class SystemClock:
    """The clock of this machine."""

    def now_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


def open_admin(bootstrap: str, command_config: Path | None) -> AdminClient:
    """Returns a client of the brokers; ExportRefusedError names the flag that is wrong."""
    try:
        endpoints = list(parse_endpoints(bootstrap))
    except ValueError as error:
        raise ExportRefusedError(f"--to: {error}") from error
    config = _read_config(command_config)
    return AdminClient(endpoints, to_controllers=False, config=config, clock=SystemClock(), software=SOFTWARE)


def _read_config(file: Path | None) -> ClientConfig:
    if file is None:
        return parse_client_config({})
    try:
        properties = resolve_properties(decode_properties(file.read_bytes()))
    except OSError as error:
        raise ExportRefusedError(file_error("read", file, error, named_by="--command-config")) from error
    except (ConfigException, PropertiesError) as error:
        raise ExportRefusedError(f"--command-config {file}: {error}") from error
    try:
        return parse_client_config(properties)
    except AdminError as error:
        raise ExportRefusedError(f"--command-config {file}: {properties.hide(str(error))}") from error
