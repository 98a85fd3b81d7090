"""Checks of the file alone: what a start refuses, listeners, misspelt keys, and who can read the secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kraftctl.cli.doctor.diagnosis import ERROR, WARN, Diagnosis, of_sentence, ok
from kraftctl.cli.doctor.subject import Subject
from kraftctl.cli.readable_secrets import other_readable_files, readable_secret_files, readable_secrets
from kraftctl.cli.unknown_keys import nearest_key_of_node, unknown_keys_of_node
from kraftctl.config.own_keys import OWN_KEYS
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl_protocol.counted_text import counted

LISTENER_KEYS: Final = frozenset(
    (
        "advertised.listeners",
        "controller.listener.names",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
    )
)

SECURITY_WORDS: Final = (
    *("ssl.", "sasl.", "security.", "super.users", "authorizer.", "principal.", "delegation.token."),
    *("allow.everyone", "listener.security", "kraftctl.node.principals", "kraftctl.envelope."),
)
"""A key that contains one of these decides who may connect, or what it may do."""


def check_configuration(subject: Subject) -> Iterator[Diagnosis]:
    """Repeats what `kraftctl start` refuses, and its warnings."""
    found = [each for each in _errors(subject) if each.key not in LISTENER_KEYS]
    yield from found
    if subject.config is not None:
        for warning in subject.config.warnings:
            yield of_sentence(WARN, warning, _names(subject))
    if not found:
        yield ok(f"{counted(len(subject.properties), 'key')}, of which none is refused")


def check_listeners(subject: Subject) -> Iterator[Diagnosis]:
    """Shows the map of listeners as a controller understands it."""
    yield from (each for each in _errors(subject) if each.key in LISTENER_KEYS)
    if subject.config is None:
        return
    advertised = {each.listener: each for each in subject.config.advertised_listeners}
    for each in subject.config.listeners:
        to = advertised.get(each.listener)
        if to is not None and not to.host:
            yield Diagnosis(
                WARN,
                f"{each.listener} listens on all addresses and advertises none, so the name of this host is"
                " used",
                f"set advertised.listeners={each.listener}://HOST:{each.port}, which others can resolve",
                "advertised.listeners",
            )
            continue
        where = "" if to is None else f", advertised as {to.host}:{to.port}"
        text = f"{each.listener} uses {each.security_protocol} at {each.host or '*'}:{each.port}{where}"
        yield ok(text, "listeners")


def check_keys(subject: Subject) -> Iterator[Diagnosis]:
    """Names keys that no node of Kafka knows; a misspelt one that concerns security is an error."""
    unknown = unknown_keys_of_node(subject.properties)
    for key, sentence in unknown.items():
        meant = nearest_key_of_node(key, subject.properties)
        level = ERROR if meant is not None and concerns_security(meant) else WARN
        yield of_sentence(level, sentence, (), key)
    if not unknown and subject.properties:
        yield ok("Kafka or kraftctl knows all keys")


def check_readable_secrets(subject: Subject) -> Iterator[Diagnosis]:
    """Names files with secrets that other accounts can read."""
    elsewhere = subject.properties.provided_keys | subject.overridden
    mode, keys = readable_secrets(subject.file, subject.properties, elsewhere)
    for key in keys:
        yield Diagnosis(WARN, f"other accounts can read it in {subject.file}", f"chmod {mode}", key)
    others = [*other_readable_files(subject.properties).items()]
    others += readable_secret_files(subject.properties).items()
    for path, (needed, users) in others:
        yield Diagnosis(WARN, f"other accounts can read {path}", f"chmod {needed}", ", ".join(users))
    if not keys and not others:
        yield ok("no other account can read a secret")


def concerns_security(key: str) -> bool:
    """Returns whether a key decides who may connect, or what it may do."""
    return any(word in key for word in SECURITY_WORDS)


def _errors(subject: Subject) -> list[Diagnosis]:
    return [of_sentence(ERROR, each, _names(subject)) for each in subject.errors]


def _names(subject: Subject) -> frozenset[str]:
    return frozenset(subject.properties) | frozenset(BROKER_CONFIG_KEYS) | frozenset(OWN_KEYS)
