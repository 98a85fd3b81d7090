"""Reads properties files of controllers and clients, with the values of their config providers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kraftctl.storage.properties_file import read_properties
from kraftctl_security.config_providers.resolve import resolve_properties
from kraftctl_security.config_values import ConfigException
from kraftctl_security.resolved_properties import ResolvedProperties


def add_config_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that `read_config_file` takes: `file`, and `override` as often as it is given."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the controller's properties file")
    parser.add_argument(
        "--override",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a property that replaces the one in the file; may be given many times",
    )


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
