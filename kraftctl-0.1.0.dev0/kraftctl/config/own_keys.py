"""Finds misspelt keys of kraftctl and keys for unknown listeners.

A key that Kafka ignores in its own files may be a plugin's. These keys cannot be, and some of them decide
who may connect: an unknown one is an error.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.endpoints import parse_listener
from kraftctl_protocol.java_values import split_list
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.nearest_key import KnownKeys

OWN_PREFIX: Final = "kraftctl."
LISTENER_PREFIX: Final = "listener.name."

OWN_KEYS: Final = (
    "kraftctl.audit.log.internal.apis",
    "kraftctl.audit.log.max.bytes",
    "kraftctl.audit.log.max.files",
    "kraftctl.audit.log.path",
    "kraftctl.authorizer.log.level",
    "kraftctl.authorizer.log.max.bytes",
    "kraftctl.authorizer.log.max.files",
    "kraftctl.authorizer.log.path",
    "kraftctl.delegation.tokens.max",
    "kraftctl.delegation.tokens.max.per.owner",
    "kraftctl.dynamic.trust",
    "kraftctl.envelope.allowed.principals",
    "kraftctl.node.principals",
    "kraftctl.observer.fetch.interval.ms",
    "kraftctl.operate.listeners",
    "kraftctl.operate.token.path",
    "kraftctl.scram.users.path",
)

LISTENERS_OF_DEFAULT_MAP: Final = ("plaintext", "sasl_plaintext", "sasl_ssl", "ssl")
"""These names exist without listener.security.protocol.map."""


def refuse_unknown_keys(values: ConfigValues) -> None:
    """Notes keys of kraftctl that do not exist, and keys for listeners that do not exist."""
    listeners = listener_names(values.properties)
    for key in sorted(values.properties):
        if key.lower().startswith(OWN_PREFIX) and key not in OWN_KEYS:
            nearest = KnownKeys(OWN_KEYS).nearest(key)
            meant = f"did you mean {nearest}?" if nearest else f"there are {', '.join(OWN_KEYS)}"
            values.errors.append(f"kraftctl has no configuration {key}: {meant}")
        elif key.lower().startswith(LISTENER_PREFIX) and listener_of(key, listeners) is None:
            values.errors.append(_unknown_listener(key, listeners))


def listener_names(properties: dict[str, str]) -> list[str]:
    """Returns names in lower case, as keys have them: of listeners, of the map of security protocols,
    and others.
    """
    names = list(split_list(properties.get("controller.listener.names", "")))
    names.append(properties.get("inter.broker.listener.name", "").strip())
    for key in ("listeners", "advertised.listeners"):
        for entry in split_list(properties.get(key, "")):
            listener = parse_listener(entry)
            names.append(entry.partition("://")[0] if listener is None else listener[0])
    protocols = properties.get("listener.security.protocol.map")
    if protocols is None:
        names.extend(LISTENERS_OF_DEFAULT_MAP)
    else:
        names.extend(entry.rpartition(":")[0].strip() for entry in split_list(protocols))
    return sorted({name.lower() for name in names if name})


def listener_of(key: str, listeners: list[str]) -> str | None:
    """The listener whose prefix the key has, exactly as Kafka looks for it; the longest name of several."""
    found = [name for name in listeners if key.startswith(f"{LISTENER_PREFIX}{name}.")]
    return max(found, key=len, default=None)


def _unknown_listener(key: str, listeners: list[str]) -> str:
    rest = key[len(LISTENER_PREFIX) :].lstrip(".")
    name, _, plain = rest.partition(".")
    meant = KnownKeys(listeners).nearest(name)
    for listener in listeners:
        if rest.lower().startswith(listener):
            meant, plain = listener, rest[len(listener) :].lstrip(".")
    known = f"; there are {', '.join(listeners)}" if listeners else ""
    question = f" Did you mean {LISTENER_PREFIX}{meant}.{plain}?" if meant else ""
    return f"Configuration {key}: there is no listener '{name}'{known}.{question}"
