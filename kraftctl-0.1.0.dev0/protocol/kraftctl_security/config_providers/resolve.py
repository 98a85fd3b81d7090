r"""`config.providers`: variables in the values of a configuration are replaced, once, as by Kafka.

Kafka leaves a variable as text that no provider replaces. Here it is refused, with its key: the text would be
a password or a key. A `${` that begins no variable stays, as does what a provider gives: it is not looked at
again. So a text that looks like a variable can come from a file.

Only files and arguments of this process are resolved. What comes over the network, such as dynamic configs,
is not: its author would read files and the environment of this machine (CVE-2024-31141).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from kraftctl_security.config_providers.no_value import NoValueError
from kraftctl_security.config_providers.providers import (
    PACKAGE,
    PARAMETERS,
    ConfigProvider,
    new_provider,
)
from kraftctl_security.config_providers.variables import OPENING, find_variables, provider_begun
from kraftctl_security.config_values import ConfigException, invalid_value
from kraftctl_security.jvm_options import KAFKA_OPTS, last_option
from kraftctl_security.resolved_properties import ResolvedProperties

CONFIG_PROVIDERS: Final = "config.providers"
AUTOMATIC_PROVIDERS_OPTION: Final = "-Dorg.apache.kafka.automatic.config.providers="
"""The classes that a configuration may name; all without this option. Kafka added it for CVE-2024-31141."""

CLASSES: Final = ", ".join(name.removeprefix(f"{PACKAGE}.") for name in PARAMETERS)


def resolve_properties(
    properties: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> ResolvedProperties:
    """Returns `properties` with variables replaced; ConfigException names each key where that is not
    possible.
    """
    providers = _Providers(properties, environment)
    errors = list(providers.errors)
    resolved: dict[str, str] = {}
    provided: dict[str, list[str]] = {}
    files: dict[str, list[str]] = {}
    for key, value in properties.items():
        resolved[key] = value
        if OPENING not in value:
            continue
        try:
            texts: list[str] = []
            resolved[key] = _replaced(key, value, providers, texts)
            if texts:
                provided[key] = texts
                files[key] = _files(value, providers)
        except ConfigException as error:
            errors.extend(error.errors)
    if errors:
        raise ConfigException(errors)
    return ResolvedProperties(resolved, provided, providers.keys, files)


def refuse_variables(properties: Mapping[str, str]) -> None:
    """Raises ConfigException that names each key with a variable; for values that no provider may replace."""
    errors = [
        f"Invalid value [hidden] for configuration {key}: it has ${{{name}:...}}, which is replaced in the"
        " files of a process only. Next step: set the value itself"
        for key, value in sorted(properties.items())
        if (name := provider_begun(value)) is not None
    ]
    if errors:
        raise ConfigException(errors)


class _Providers:
    """The providers that config.providers names, the `keys` that configure them, and their `errors`."""

    def __init__(self, properties: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._properties = properties
        self._environment = environment
        self.by_name: dict[str, ConfigProvider] = {}
        self.errors: list[str] = []
        self.keys = {CONFIG_PROVIDERS} & properties.keys()
        names = properties.get(CONFIG_PROVIDERS, "")
        for name in dict.fromkeys(names.split(",") if names.strip() else ()):
            if name.strip():
                self._add(name)
            else:
                self.errors.append(f"{CONFIG_PROVIDERS} has an empty item.")

    def _add(self, name: str) -> None:
        class_key = f"{CONFIG_PROVIDERS}.{name}.class"
        class_name = self._properties.get(class_key)
        if class_name is None:
            next_step = f"set {class_key}"
            if name != name.strip():
                next_step = "remove the blank beside the name"
            self.errors.append(
                f"Configuration {CONFIG_PROVIDERS} names '{name}', but there is no {class_key}."
                f" Next step: {next_step}"
            )
            return
        self.keys.add(class_key)
        reason = self._why_refused(class_name)
        if reason is not None:
            self.errors.append(invalid_value(class_key, class_name, reason))
            return
        parameter_key = self._parameter_key(name, class_name)
        if parameter_key is None:
            return
        parameter = self._properties.get(parameter_key)
        try:
            if parameter is not None and provider_begun(parameter) is not None:
                raise ValueError(
                    "parameters of a provider are not resolved. Next step: write the value itself"
                )
            provider = new_provider(class_name, parameter_key, parameter, self._environment)
        except ValueError as error:
            self.errors.append(invalid_value(parameter_key, parameter, str(error)))
            return
        self.by_name[name] = provider

    def _why_refused(self, class_name: str) -> str | None:
        if class_name not in PARAMETERS:
            known = f"{CLASSES} of {PACKAGE}"
            return f"a Java class cannot be loaded here; there are {known}. Next step: use one of them"
        allowed = last_option(self._environment.get(KAFKA_OPTS, ""), AUTOMATIC_PROVIDERS_OPTION)
        if allowed is not None and class_name not in [each.strip() for each in allowed.split(",")]:
            option = AUTOMATIC_PROVIDERS_OPTION.removeprefix("-D").removesuffix("=")
            return f"{option} in {KAFKA_OPTS} does not allow it. Next step: add it there"
        return None

    def _parameter_key(self, name: str, class_name: str) -> str | None:
        """Returns None if there are other keys: Kafka ignores them, and so a misspelt one allows
        everything.
        """
        known = f"{CONFIG_PROVIDERS}.{name}.param.{PARAMETERS[class_name]}"
        others = self._keys_of(name) - {f"{CONFIG_PROVIDERS}.{name}.class", known}
        self.keys |= {known, *others} & self._properties.keys()
        for key in sorted(others):
            simple_name = class_name.removeprefix(f"{PACKAGE}.")
            self.errors.append(
                f"Configuration {key} is not known: {simple_name} has {known} only."
                " Next step: correct its name"
            )
        return None if others else known

    def _keys_of(self, name: str) -> set[str]:
        """Returns the keys that begin with the name, but not with a longer name of another provider."""
        longer = tuple(
            f"{CONFIG_PROVIDERS}.{other}."
            for other in self._properties.get(CONFIG_PROVIDERS, "").split(",")
            if other.startswith(f"{name}.")
        )
        prefix = f"{CONFIG_PROVIDERS}.{name}."
        return {key for key in self._properties if key.startswith(prefix) and not key.startswith(longer)}


def _replaced(key: str, value: str, providers: _Providers, texts: list[str]) -> str:
    """Returns the value with its variables replaced; the replacements are added to `texts`."""
    parts: list[str] = []
    errors: list[str] = []
    position = 0
    for variable in find_variables(value):
        provider = providers.by_name.get(variable.provider)
        if provider is None:
            continue
        parts.append(_plain(key, value[position : variable.start], providers, errors))
        position = variable.end
        try:
            text = provider.value(variable.path, variable.key)
        except NoValueError as error:
            errors.append(f"Configuration {key}: {variable.text} has no value: {error}")
            continue
        texts.append(text)
        parts.append(text)
    parts.append(_plain(key, value[position:], providers, errors))
    if errors:
        raise ConfigException(errors)
    return "".join(parts)


def _files(value: str, providers: _Providers) -> list[str]:
    """Returns the files that the variables of a value were in."""
    found: list[str] = []
    for variable in find_variables(value):
        provider = providers.by_name.get(variable.provider)
        file = None if provider is None else provider.file(variable.path, variable.key)
        if file is not None:
            found.append(file)
    return found


def _plain(key: str, text: str, providers: _Providers, errors: list[str]) -> str:
    """Returns a part of a value without variables. The text behind the provider's name may be a secret."""
    name = provider_begun(text)
    if name is None or providers.errors:
        return text
    if name in providers.by_name:
        reason = f"nothing replaces ${{{name}:..., which has no brace at its end. Next step: add it"
    else:
        known = f"has {', '.join(providers.by_name)} only" if providers.by_name else "is not set"
        reason = (
            f"no provider resolves ${{{name}:...}}: {CONFIG_PROVIDERS} {known}. Next step: add {name} there"
            f" and set {CONFIG_PROVIDERS}.{name}.class, or write the value itself"
        )
    errors.append(f"Configuration {key}: {reason}")
    return text
