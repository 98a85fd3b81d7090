"""Hides the values of a properties file that are or may be secret, by the rule for records that are shown."""

from __future__ import annotations

import re
from typing import Final

from kraftctl.cli.unknown_keys import MECHANISMS, nearest_key_of_node
from kraftctl.config.own_keys import LISTENER_PREFIX, OWN_KEYS, listener_names, listener_of
from kraftctl_protocol.config_resource import BROKER
from kraftctl_protocol.readable_configs import is_readable
from kraftctl_protocol.secrets import REDACTED
from kraftctl_security.resolved_properties import ResolvedProperties

MAY_BE_SECRET: Final = re.compile(r"password|secret|token|credential|jaas|private|[._-]key\b", re.IGNORECASE)
"""An unknown key with such a word in it. The values of others are hidden with their key, and not elsewhere:
`localhost` may be one."""

QUERY_SECRET: Final = re.compile(r"password|secret|token|credential|key|sig|auth|code", re.IGNORECASE)

URL: Final = re.compile(
    r"(?P<scheme>\w[\w+.-]*://)(?:(?P<user>[^/\s?#]*)@)?(?P<rest>[^\s?#]*)(?:(?P<mark>[?#])(?P<query>\S*))?"
)
"""Kafka's keys of URLs are no passwords, but a URL may have one: before its host, in a query or a fragment.
Where an `@` follows a `/`, `?` or `#`, these may be part of a password."""


def shown_properties(properties: ResolvedProperties) -> dict[str, str]:
    """Returns the properties, with `(redacted)` for values that are not known to be no secret."""
    listeners = listener_names(properties)
    return {
        key: URL.sub(_shown_url, value) if _is_shown(key, listeners, properties) else REDACTED
        for key, value in properties.items()
    }


class HiddenValues:
    """Removes secrets of one file from texts about it."""

    def __init__(self, properties: ResolvedProperties) -> None:
        self._properties = properties
        listeners = listener_names(properties)
        hidden: dict[str, list[str]] = {}
        for key, value in properties.items():
            if _is_shown(key, listeners, properties):
                hidden[key] = _secrets_of_urls(value)
            elif value and _may_be_secret(key, properties):
                hidden[key] = [value]
        self._secrets = ResolvedProperties(properties, hidden, (), {})

    def hide(self, text: str) -> str:
        """Returns the text without secrets, and without what config providers gave."""
        return self._secrets.hide(self._properties.hide(text))


def _is_shown(key: str, listeners: list[str], properties: ResolvedProperties) -> bool:
    if key in properties.provided_keys:
        return False
    return key in OWN_KEYS or is_readable(BROKER, base_name(key, listeners))


def _shown_url(url: re.Match[str]) -> str:
    """Returns a URL without what a secret may be in it."""
    if _may_have_a_later_user(url):
        return f"{url['scheme']}{REDACTED}"
    user = f"{REDACTED}@" if url["user"] else ""
    return f"{url['scheme']}{user}{url['rest']}{url['mark'] + REDACTED if url['query'] else ''}"


def _may_have_a_later_user(url: re.Match[str]) -> bool:
    return "@" in url["rest"] + (url["query"] or "")


def _secrets_of_urls(value: str) -> list[str]:
    """Returns the passwords of users, or a user without one, and the values of queries that may be secret."""
    found: list[str] = []
    for url in URL.finditer(value):
        behind = url[0].removeprefix(url["scheme"])
        users = behind.rpartition("@")[0] if _may_have_a_later_user(url) else url["user"]
        user, _, password = (users or "").partition(":")
        pairs = [pair.partition("=") for pair in re.split("[&#]", url["query"] or "")]
        found += [password or user, *(text for name, _, text in pairs if QUERY_SECRET.search(name))]
    return [text for text in found if text]


def _may_be_secret(key: str, properties: ResolvedProperties) -> bool:
    """Returns whether the key has such a word, or is probably meant to be one that does."""
    return MAY_BE_SECRET.search(f"{key} {nearest_key_of_node(key, properties) or ''}") is not None


def base_name(key: str, listeners: list[str]) -> str:
    """Returns the key without the prefixes of a listener and a mechanism."""
    listener = listener_of(key, listeners)
    if listener is None:
        return key
    rest = key.removeprefix(f"{LISTENER_PREFIX}{listener}.")
    mechanism, _, of_mechanism = rest.partition(".")
    return of_mechanism if mechanism in MECHANISMS else rest
