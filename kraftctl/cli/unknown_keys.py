"""Finds keys of a properties file that Kafka does not know: one sentence each, with the most similar key.

Kafka ignores them, as plugins may read them. A misspelt key has no effect, though: a listener without its
security protocol, a rule that is not in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final

from kraftctl.config.own_keys import LISTENER_PREFIX, OWN_KEYS, OWN_PREFIX, listener_names, listener_of
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
from kraftctl.metadata.config_definitions.generated.other_releases import REMOVED_CONFIGS
from kraftctl_protocol.client_config_names import ADMIN_CLIENT_CONFIGS, OTHER_CLIENT_CONFIGS
from kraftctl_security.config_providers.providers import PARAMETERS
from kraftctl_security.config_providers.resolve import CONFIG_PROVIDERS
from kraftctl_security.nearest_key import KnownKeys, edits, letters
from kraftctl_security.sasl.oauthbearer.assertion_config import ALLOWED_FILES
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS

SECURITY_PROTOCOL: Final = "security.protocol"

NODE_KEYS: Final = (
    frozenset(BROKER_CONFIG_KEYS)
    | DYNAMIC_BROKER_CONFIGS
    | {"allow.everyone.if.no.acl.found", "super.users", ALLOWED_URLS, ALLOWED_FILES}
)
"""The keys also include those of the StandardAuthorizer, and properties of the JVM that are keys here."""

CLIENT_KEYS: Final = ADMIN_CLIENT_CONFIGS | OTHER_CLIENT_CONFIGS
"""The file of a controller may be that of its admins, too."""

PLUGIN_PREFIXES: Final = (
    *("confluent.", "cruise.control.", "strimzi.", "client.quota.callback.static.", "opa.authorizer."),
    *("rsm.config.", "rlmm.config.", "metrics.jmx."),
)
"""Plugins have these keys; brokers and controllers are often deployed with them, in one file for both."""

MECHANISMS: Final = ("plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "gssapi")
"""The mechanisms of SASL in keys of one listener: listener.name.<listener>.<mechanism>.<key>."""

PREFIX_EDITS_MAX: Final = 3

FIRST_WORDS: Final = ("broker", "kafka", "listener", "listeners", "name", "node", "server")
"""Words before a key of Kafka, as in `kafka.super.users` and `listener.controller.ssl.client.auth`."""

LISTENER_WORDS_MAX: Final = 3
"""As many as `listener.name.controller` has."""


def unknown_keys_of_node(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns, by key, a sentence for each that a node of Kafka does not know; sorted.

    Keys that a controller refuses anyway (see `kraftctl.config.own_keys`) are not among them.
    """
    listeners = listener_names(dict(properties))
    return {
        key: _sentence(key, lambda name: _nearest_of_node(name, listeners), properties)
        for key in sorted(properties)
        if not _is_known_to_node(key, listeners, properties)
    }


def nearest_key_of_node(key: str, properties: Mapping[str, str]) -> str | None:
    """Returns the key that an unknown one is probably meant to be."""
    if key in REMOVED_CONFIGS or key == SECURITY_PROTOCOL:
        return None
    listeners = listener_names(dict(properties))
    return _meant(key, lambda name: _nearest_of_node(name, listeners), properties)


def unknown_keys_of_client(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the same for an admin client's file, which may be that of other clients or of a node, too."""
    return {
        key: _sentence(key, _admin_keys().nearest, properties)
        for key in sorted(properties)
        if key not in CLIENT_KEYS
        and not _is_node_key(key)
        and not _is_known_provider_key(key, properties)
        and not key.startswith((LISTENER_PREFIX, OWN_PREFIX))
    }


def _is_known_to_node(key: str, listeners: list[str], properties: Mapping[str, str]) -> bool:
    if _is_node_key(key) or _is_known_provider_key(key, properties):
        return True
    if key in CLIENT_KEYS:
        return key != SECURITY_PROTOCOL and key not in REMOVED_CONFIGS
    if key.lower().startswith(OWN_PREFIX):
        return True  # or refused
    if not key.lower().startswith(LISTENER_PREFIX):
        return False
    listener = listener_of(key, listeners)
    if listener is None:
        return True  # refused
    rest = key.removeprefix(f"{LISTENER_PREFIX}{listener}.")
    mechanism, _, of_mechanism = rest.partition(".")
    return _is_node_key(rest) or (mechanism in MECHANISMS and _is_node_key(of_mechanism))


def _is_node_key(key: str) -> bool:
    return key in NODE_KEYS or key.startswith(PLUGIN_PREFIXES)


def _sentence(key: str, nearest: Callable[[str], str | None], properties: Mapping[str, str]) -> str:
    if key in REMOVED_CONFIGS:
        return (
            f"Kafka has removed the configuration {key}, which {REMOVED_CONFIGS[key]} had: it has no effect."
            " Next step: remove it"
        )
    if key == SECURITY_PROTOCOL:
        return (
            f"{key} is a configuration of clients: it does not secure a listener. Next step: set"
            " listener.security.protocol.map"
        )
    meant = _meant(key, nearest, properties)
    if meant is not None:
        return f"Kafka has no configuration {key}: did you mean {meant}?"
    return f"Kafka has no configuration {key}: it has no effect. Next step: check its name, or remove it"


def _meant(key: str, nearest: Callable[[str], str | None], properties: Mapping[str, str]) -> str | None:
    return KnownKeys(_provider_keys(properties)).nearest(key) or nearest(key)


def _nearest_of_node(key: str, listeners: list[str]) -> str | None:
    prefixed = _without_first_words(key, listeners)
    if prefixed is not None:
        return prefixed
    found = [_nearest_of_listener(key, f"{LISTENER_PREFIX}{listener}.") for listener in listeners]
    of_listeners = [each for each in found if each is not None]
    if of_listeners:
        return min(of_listeners, key=lambda each: edits(letters(key), letters(each)))
    return _node_keys().nearest(key)


def _without_first_words(key: str, listeners: list[str]) -> str | None:
    """Returns the key that is left of one such as `controller.ssl.client.auth`, for the listener that it
    names; None for others.
    """
    words = key.split(".")
    for count in range(1, min(LISTENER_WORDS_MAX, len(words) - 1) + 1):
        first, rest = words[:count], ".".join(words[count:])
        if first[-1] not in FIRST_WORDS and first[-1] not in listeners:
            return None
        if rest in NODE_KEYS:
            named = next((each for each in first if each in listeners), None)
            return rest if named is None else f"{LISTENER_PREFIX}{named}.{rest}"
    return None


def _nearest_of_listener(key: str, prefix: str) -> str | None:
    """Returns None if `key` does not begin with something like `prefix`."""
    position = _end_of_letters(key, letters(prefix))
    if position is None:
        # A dot may be missing, or there may be one more.
        heads = [".".join(key.split(".")[: prefix.count(".") + more]) for more in (0, -1, 1)]
        head = min(heads, key=lambda each: edits(letters(each), letters(prefix)))
        if edits(letters(head), letters(prefix)) > PREFIX_EDITS_MAX:
            return None
        position = len(head)
    meant = _keys_of_listener().nearest(key[position:].lstrip(".-_ "))
    return None if meant is None else prefix + meant


def _end_of_letters(key: str, wanted: str) -> int | None:
    """Returns the position behind `wanted`, with which the letters of `key` begin."""
    if not letters(key).startswith(wanted):
        return None
    return next(end for end in range(len(key) + 1) if letters(key[:end]) == wanted)


def _is_known_provider_key(key: str, properties: Mapping[str, str]) -> bool:
    return key == CONFIG_PROVIDERS or key in _provider_keys(properties)


def _provider_keys(properties: Mapping[str, str]) -> list[str]:
    """Returns the keys of the providers that config.providers names."""
    names = [name for name in properties.get(CONFIG_PROVIDERS, "").split(",") if name]
    parameters = sorted(set(PARAMETERS.values()))
    return [f"{CONFIG_PROVIDERS}.{name}.class" for name in names] + [
        f"{CONFIG_PROVIDERS}.{name}.param.{parameter}" for name in names for parameter in parameters
    ]


@cache
def _node_keys() -> KnownKeys:
    return KnownKeys([*NODE_KEYS, *OWN_KEYS])


@cache
def _admin_keys() -> KnownKeys:
    return KnownKeys(ADMIN_CLIENT_CONFIGS)


@cache
def _keys_of_listener() -> KnownKeys:
    of_mechanism: Iterable[str] = [key for key in NODE_KEYS if key.startswith(("sasl.", "connections.max."))]
    return KnownKeys([*NODE_KEYS, *(f"{name}.{key}" for name in MECHANISMS for key in of_mechanism)])
