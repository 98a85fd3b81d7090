"""The keys of a controller's properties file as rows: type, default, values, meaning.

Types, defaults and ranges are Kafka's definitions, and those of `own_config_keys`. A test holds what is said
to be used against what ControllerConfig reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kraftctl.cli.inspect import config_meanings, security_meanings
from kraftctl.cli.inspect.own_config_keys import OTHER_KEYS_OF_KAFKA, OWN_CONFIG_KEYS, OWN_MEANINGS
from kraftctl.cli.inspect.unused_configs import why_unused
from kraftctl.config.controller_config import DEFAULT_PRINCIPAL_BUILDER, STANDARD_AUTHORIZER
from kraftctl.config.dynamic_keys import LIMIT_KEYS, LISTENER_LIMIT_KEYS, STORE_KEYS, TRUST_KEYS
from kraftctl.config.kafka_config_checks import CONTROLLER
from kraftctl.config.own_keys import OWN_PREFIX
from kraftctl.controller.configuration_control.validate_group_configs import GROUP_BOUNDS, GROUP_TIMES
from kraftctl.controller.state.effective_configs import OBEYED_CONFIGS
from kraftctl.metadata.config_definitions.config_key import ConfigKey
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.broker_config_rules import broker_config_rules
from kraftctl.metadata.config_definitions.generated.broker_quota_config_data import BROKER_QUOTA_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.group_config_synonyms import GROUP_CONFIG_SYNONYMS
from kraftctl.metadata.config_definitions.generated.other_releases import NEW_CONFIGS
from kraftctl.metadata.config_definitions.generated.topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kraftctl.metadata.config_definitions.validators import (
    ListOf,
    NotEmpty,
    OneOf,
    OneOfInAnyCase,
    Range,
    RangeOr,
    Validator,
)
from kraftctl_security.sasl.sasl_config import (
    CONTROLLER_MECHANISM,
    ENABLED_MECHANISMS,
    MECHANISMS,
    RECEIVE_SIZE,
)
from kraftctl_security.tls.ssl_config import TLS, TLS_1_2, TLS_1_3
from kraftctl_security.tls.ssl_stores import JKS, PEM, PKCS12

GROUPS: Final = {
    name: "Compared with what a group's own configs ask for; brokers obey it."
    for name in sorted(
        {
            *(each for row in GROUP_BOUNDS for each in row[1:]),
            *(each for row in GROUP_TIMES for each in row[2:]),
        }
    )
    if name in BROKER_CONFIG_KEYS
}

SUBJECTS: Final = (
    ("Node and directories", config_meanings.IDENTITY),
    ("The quorum", config_meanings.QUORUM),
    ("Listeners and connections", config_meanings.LISTENERS),
    ("SSL", security_meanings.SSL),
    ("SASL", security_meanings.SASL),
    ("OAUTHBEARER", security_meanings.OAUTHBEARER),
    ("Rights and delegation tokens", config_meanings.AUTHORIZATION),
    ("The metadata log", config_meanings.METADATA_LOG),
    ("The cluster", config_meanings.CLUSTER | GROUPS),
    ("Keys of kraftctl", OWN_MEANINGS),
)
USED_KEYS: Final = frozenset(name for _, meanings in SUBJECTS for name in meanings)
"""The keys of which the page says that a controller uses them."""
NOT_USED: Final = "Accepted, and not used"

HERE_ONLY: Final = {
    "process.roles": CONTROLLER,
    "authorizer.class.name": f"empty or {STANDARD_AUTHORIZER}",
    "principal.builder.class": DEFAULT_PRINCIPAL_BUILDER,
    "ssl.keystore.type": f"{JKS}, {PKCS12}, {PEM}",
    "ssl.truststore.type": f"{JKS}, {PKCS12}, {PEM}",
    "ssl.protocol": f"{TLS}, {TLS_1_2}, {TLS_1_3}",
    "ssl.enabled.protocols": f"items: {TLS_1_2}, {TLS_1_3}",
    ENABLED_MECHANISMS: f"items: {', '.join(MECHANISMS)}",
    CONTROLLER_MECHANISM: ", ".join(MECHANISMS),
    RECEIVE_SIZE: "1..",
    "sasl.login.connect.timeout.ms": "0..",
    "sasl.login.read.timeout.ms": "0..",
    "sasl.login.refresh.buffer.seconds": "0..3600",
    "sasl.login.refresh.min.period.seconds": "0..900",
    "sasl.login.refresh.window.factor": "0.5..1.0",
    "sasl.login.refresh.window.jitter": "0.0..0.25",
    "sasl.login.retry.backoff.max.ms": "0..",
    "sasl.login.retry.backoff.ms": "0..",
    "sasl.oauthbearer.clock.skew.seconds": "0..",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": "1..",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "0..",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": "0..",
}
"""Keys of which a controller takes less than Kafka's rule allows."""


@dataclass(frozen=True)
class ConfigRow:
    """One key. `default` is None without one; `values` is empty where any value of the type is allowed."""

    name: str
    subject: str
    type: str
    default: str | None
    values: str
    dynamic: str
    secret: bool
    used: bool
    meaning: str


def config_rows() -> list[ConfigRow]:
    """Returns the keys by subject, in the order of a reader; those that are not used are the last ones."""
    others = {key.name: key for key in (*OTHER_KEYS_OF_KAFKA, *OWN_CONFIG_KEYS)}
    keys = BROKER_CONFIG_KEYS | BROKER_QUOTA_CONFIG_KEYS | others
    rules = broker_config_rules()
    rows: list[ConfigRow] = []
    for subject, meanings in SUBJECTS:
        rows += [
            _row(keys.pop(name), rules.get(name), subject, meaning, used=True)
            for name, meaning in meanings.items()
        ]
    unused = [_row(keys[name], rules.get(name), NOT_USED, _why(name), used=False) for name in sorted(keys)]
    return rows + unused


def _row(key: ConfigKey, rule: Validator | None, subject: str, meaning: str, *, used: bool) -> ConfigRow:
    return ConfigRow(
        name=key.name,
        subject=subject,
        type=key.type,
        default=key.default,
        values=HERE_ONLY.get(key.name) or values_of(rule or key.validator),
        dynamic=_dynamic(key.name),
        secret=key.sensitive,
        used=used,
        meaning=_with_release(key.name, meaning),
    )


def values_of(rule: Validator) -> str:
    """Returns the rule as a range or as the words that it allows; empty if it allows all."""
    match rule:
        case Range():
            return f"{_bound(rule.minimum)}..{_bound(rule.maximum)}"
        case RangeOr():
            return f"{rule.minimum}..{rule.maximum}, or {rule.special}"
        case OneOf() | OneOfInAnyCase():
            return ", ".join(word for word in rule.words)
        case ListOf(words=[_, *_]):
            return f"items: {', '.join(rule.words)}"
        case NotEmpty() | ListOf(empty_allowed=False):
            return "not empty"
    return ""


def _bound(number: float | None) -> str:
    return "" if number is None else str(number)


def _dynamic(name: str) -> str:
    if name in BROKER_QUOTA_CONFIG_KEYS:
        return "dynamic only"
    if name in LISTENER_LIMIT_KEYS:
        return "node, cluster, listener"
    if name in LIMIT_KEYS or name in OBEYED_CONFIGS:
        return "node, cluster"
    if name in TRUST_KEYS:
        return "listener, with `kraftctl.dynamic.trust`"
    return "listener" if name in STORE_KEYS else ""


def _with_release(name: str, meaning: str) -> str:
    """Returns the meaning with the release of a key that the reference release does not have."""
    if name not in NEW_CONFIGS:
        return meaning
    release = NEW_CONFIGS[name]
    return f"{meaning} Since {release}." if meaning.endswith(".") else f"{meaning}; since {release}"


def _why(name: str) -> str:
    assert not name.startswith(OWN_PREFIX), name
    shown = [key for key, synonyms in TOPIC_CONFIG_SYNONYMS.items() if name in [each[0] for each in synonyms]]
    shown += [key for key, synonym in GROUP_CONFIG_SYNONYMS.items() if name == synonym]
    note = f"; shown as the default of `{shown[0]}`" if shown else ""
    return f"{why_unused(name)}{note}"
