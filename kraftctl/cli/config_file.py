"""Reads properties files of controllers and clients, with the values of their config providers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kraftctl.storage.properties_file import read_properties
from kraftctl_security.config_providers.resolve import resolve_properties
from kraftctl_security.config_values import ConfigException
from kraftctl_security.resolved_properties import ResolvedProperties


def read_config_file(file: Path, overrides: Sequence[str] = ()) -> ResolvedProperties:
    """Reads the file with `KEY=VALUE` overrides, which may name providers, too.

    Raises OSError, PropertiesError, and ConfigException for what no provider resolves.
    """
    properties = read_properties(file)
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals or not key.strip():
            raise ConfigException([f"--override {override}: expected KEY=VALUE"])
        properties[key.strip()] = value.strip()
    return resolve_properties(properties)
