"""Files of /etc/kafka/secrets that variables name: keystores, and passwords in files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kraftctl.cli.container.environment import LOCATIONS, PASSWORDS, property_name
from kraftctl.config.endpoints import SSL_PROTOCOLS, read_security_protocol_map
from kraftctl_protocol.java_values import split_list
from kraftctl_security.config_values import ConfigValues


def with_secrets(
    variables: Mapping[str, str], directory: Path, properties: Mapping[str, str]
) -> dict[str, str]:
    """Returns the variables with the locations and passwords that others name.

    The image's scripts read them only if a listener that is advertised has SSL, which a controller may not
    have: here a listener of the controller has to use SSL, and a key that `properties` has stays as it is.
    Raises ValueError without such a file, and OSError.
    """
    result = dict(variables)
    if not uses_ssl(properties):
        return result
    for name, target in (LOCATIONS | PASSWORDS).items():
        file_name = variables.get(name)
        if not file_name or property_name(target) in properties:
            continue
        path = directory / file_name
        if not path.is_file():
            raise ValueError(f"{name} names {path}, and there is no such file. Next step: mount it")
        # A password is as the shell's $(cat FILE).
        result[target] = str(path) if name in LOCATIONS else path.read_text(encoding="utf-8").rstrip("\n")
    return result


def uses_ssl(properties: Mapping[str, str]) -> bool:
    """Returns whether a listener of the controller has SSL or SASL_SSL."""
    names = split_list(properties.get("controller.listener.names", "").upper())
    protocols = read_security_protocol_map(ConfigValues(dict(properties)), names)
    return any(protocols.get(name) in SSL_PROTOCOLS for name in names)
