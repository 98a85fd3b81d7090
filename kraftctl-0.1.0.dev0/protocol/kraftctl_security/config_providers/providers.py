"""EnvVarConfigProvider, FileConfigProvider and DirectoryConfigProvider as Kafka 4.3.1 has them.

For what they do not find, Kafka leaves the text of the variable. Here that raises NoValueError, because the
text would become a password, or a key that others know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

from kraftctl_protocol.java_properties import PropertiesError, parse_properties
from kraftctl_security.config_providers.no_value import NoValueError
from kraftctl_security.config_providers.provider_files import AllowedPaths, has_regular_file, read_text
from kraftctl_security.java_patterns import PatternError, compile_pattern

PACKAGE: Final = "org.apache.kafka.common.config.provider"
ENV_VAR: Final = f"{PACKAGE}.EnvVarConfigProvider"
FILE: Final = f"{PACKAGE}.FileConfigProvider"
DIRECTORY: Final = f"{PACKAGE}.DirectoryConfigProvider"

ALLOWLIST_PATTERN: Final = "allowlist.pattern"
ALLOWED_PATHS: Final = "allowed.paths"

PARAMETERS: Final = {ENV_VAR: ALLOWLIST_PATTERN, FILE: ALLOWED_PATHS, DIRECTORY: ALLOWED_PATHS}
"""The classes that are supported, and the parameter of each."""


class ConfigProvider(Protocol):
    """Gives the values of variables of one provider."""

    def value(self, path: str, key: str) -> str:
        """Returns the value of a key; `path` is empty without one. Raises NoValueError."""
        ...

    def file(self, path: str, key: str) -> str | None:
        """Returns the file in which `value` has found it; None if it was elsewhere."""
        ...


class EnvVarConfigProvider:
    """KIP-887: gives the variables of the environment that allowlist.pattern matches."""

    def __init__(self, environment: Mapping[str, str], parameter_key: str, pattern: str | None) -> None:
        """Raises ValueError for a pattern that cannot be used."""
        self._environment = environment
        self._parameter_key = parameter_key
        self._pattern: re.Pattern[str] | None = None
        if pattern is not None:
            try:
                self._pattern = compile_pattern(pattern)
            except PatternError as error:
                raise ValueError(str(error)) from error

    def value(self, path: str, key: str) -> str:
        if path:
            raise NoValueError(f"EnvVarConfigProvider takes no path, here {path}. Next step: remove it")
        if self._pattern is not None and self._pattern.fullmatch(key) is None:
            raise NoValueError(f"{self._parameter_key} does not allow {key}. Next step: extend the pattern")
        value = self._environment.get(key)
        if value is None:
            raise NoValueError(f"the environment has no variable {key}. Next step: set it")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise NoValueError(f"the variable {key} of the environment is not UTF-8. Next step: set it again")
        return value

    def file(self, path: str, key: str) -> str | None:
        return None


class FileConfigProvider:
    """KIP-297: gives a key of a properties file, which it reads once."""

    def __init__(self, allowed_paths: AllowedPaths) -> None:
        self._allowed_paths = allowed_paths
        self._files: dict[str, dict[str, str]] = {}

    def value(self, path: str, key: str) -> str:
        if not path:
            raise NoValueError("FileConfigProvider needs a path before the key. Next step: add it")
        file = self._allowed_paths.path(path)
        if file not in self._files:
            self._files[file] = _properties_of(file)
        value = self._files[file].get(key)
        if value is None:
            raise NoValueError(f"{file} has no key {key}. Next step: check the name, or add the key")
        return value

    def file(self, path: str, key: str) -> str | None:
        return self._allowed_paths.path(path)


class DirectoryConfigProvider:
    """KIP-632: gives the whole content of a file of a directory, including the end of its last line."""

    def __init__(self, allowed_paths: AllowedPaths) -> None:
        self._allowed_paths = allowed_paths

    def value(self, path: str, key: str) -> str:
        if not path:
            raise NoValueError("DirectoryConfigProvider needs a path before the name. Next step: add it")
        directory = self._allowed_paths.path(path)
        if not has_regular_file(directory, key):
            raise NoValueError(f"there is no regular file {key} in {directory}. Next step: check its name")
        return read_text(f"{directory}/{key}")

    def file(self, path: str, key: str) -> str | None:
        return f"{self._allowed_paths.path(path)}/{key}"


def new_provider(
    class_name: str, parameter_key: str, parameter: str | None, environment: Mapping[str, str]
) -> ConfigProvider:
    """Returns one of PARAMETERS, with the value of its parameter; ValueError if that cannot be used."""
    if class_name == ENV_VAR:
        return EnvVarConfigProvider(environment, parameter_key, parameter)
    allowed_paths = AllowedPaths(parameter_key, parameter)
    return FileConfigProvider(allowed_paths) if class_name == FILE else DirectoryConfigProvider(allowed_paths)


def _properties_of(file: str) -> dict[str, str]:
    text = read_text(file)
    try:
        return parse_properties(text)
    except PropertiesError as error:
        # The rest of the error shows a part of a value.
        place = str(error).partition(":")[0]
        raise NoValueError(f"{file} is not a properties file: check {place}") from None
