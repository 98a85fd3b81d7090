"""Properties that are made of variables, as the apache/kafka image makes them: KAFKA_NODE_ID=1 is node.id=1.

`kafka.docker.KafkaDockerWrapper` has the rule: `_` is a dot, `__` an underscore, `___` a dash. KRAFTCTL_*
variables become the keys of kraftctl by the same rule. A test lets Kafka's class make the same properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

KAFKA_PREFIX: Final = "KAFKA_"
OWN_PREFIX: Final = "KRAFTCTL_"

FORMAT_FLAGS: Final = "KRAFTCTL_FORMAT"
"""More flags of `kraftctl format`: `--standalone`, or `--initial-controllers ...`."""

ADVERTISED_LISTENERS: Final = "KAFKA_ADVERTISED_LISTENERS"
CLUSTER_ID: Final = "CLUSTER_ID"
ROOT_LEVEL: Final = "KAFKA_LOG4J_ROOT_LOGLEVEL"
OPTIONS: Final = "KAFKA_OPTS"
"""The JAAS file that it may name is read; its other options are a JVM's."""

FOR_A_JVM: Final = (
    "KAFKA_GC_LOG_OPTS",
    "KAFKA_HEAP_OPTS",
    "KAFKA_JMX_HOSTNAME",
    "KAFKA_JMX_OPTS",
    "KAFKA_JMX_PORT",
    "KAFKA_JVM_PERFORMANCE_OPTS",
    "KAFKA_LOG4J_LOGGERS",
    "KAFKA_LOG4J_OPTS",
    "KAFKA_TOOLS_LOG4J_LOGLEVEL",
)

LOCATIONS: Final = {
    "KAFKA_SSL_KEYSTORE_FILENAME": "KAFKA_SSL_KEYSTORE_LOCATION",
    "KAFKA_SSL_TRUSTSTORE_FILENAME": "KAFKA_SSL_TRUSTSTORE_LOCATION",
}
"""Names of files in the directory of secrets, and the variables that have their paths."""

PASSWORDS: Final = {
    "KAFKA_SSL_KEY_CREDENTIALS": "KAFKA_SSL_KEY_PASSWORD",
    "KAFKA_SSL_KEYSTORE_CREDENTIALS": "KAFKA_SSL_KEYSTORE_PASSWORD",
    "KAFKA_SSL_TRUSTSTORE_CREDENTIALS": "KAFKA_SSL_TRUSTSTORE_PASSWORD",
}
"""Names of files in the directory of secrets, and the variables that have their content."""

NO_PROPERTIES: Final = frozenset(
    {"KAFKA_VERSION", ROOT_LEVEL, OPTIONS, FORMAT_FLAGS, *FOR_A_JVM, *LOCATIONS, *PASSWORDS}
)

SERVICE_LINK: Final = re.compile(r"KRAFTCTL_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)")
"""What Kubernetes adds for services whose names begin with kraftctl."""

LEVELS: Final = {
    "ALL": "debug",
    "TRACE": "debug",
    "DEBUG": "debug",
    "INFO": "info",
    "WARN": "warn",
    "ERROR": "error",
    "FATAL": "error",
    "OFF": "error",
}
"""The levels of log4j, and those of `kraftctl start`."""


def property_lines(variables: Mapping[str, str]) -> list[str]:
    """Returns `key=value` as the image writes them, sorted. It escapes nothing, so a backslash is Java's."""
    return sorted(
        f"{property_name(name)}={value}"
        for name, value in variables.items()
        if name.startswith((KAFKA_PREFIX, OWN_PREFIX))
        and name not in NO_PROPERTIES
        and not SERVICE_LINK.fullmatch(name)
    )


def property_name(variable: str) -> str:
    """Returns the key that a variable sets."""
    prefix = "kraftctl." if variable.startswith(OWN_PREFIX) else ""
    words = variable.removeprefix(OWN_PREFIX if prefix else KAFKA_PREFIX).lower()
    return prefix + words.replace("_", ".").replace("...", "-").replace("..", "_")


def server_properties(mounted: bytes | None, variables: Mapping[str, str]) -> bytes:
    """Returns the content of server.properties: the mounted file, and below it what variables set.

    Of a key that is there twice, the last line counts.
    """
    lines = property_lines(variables)
    added = "".join(f"\n{line}" for line in lines).encode("utf-8", "surrogateescape")
    return (mounted or b"") + added


def without_empty_addresses(variables: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of a controller; the image's scripts unset this one, too, if it is empty."""
    return {name: value for name, value in variables.items() if name != ADVERTISED_LISTENERS or value}


def overridden(variables: Mapping[str, str], assignments: Iterable[str]) -> dict[str, str]:
    """Returns the variables with `NAME=VALUE` arguments; raises ValueError for one without a name.

    The error does not have the argument, which may be a secret.
    """
    result = dict(variables)
    given = list(assignments)
    for number, assignment in enumerate(given, 1):
        name, equals, value = assignment.partition("=")
        if not name or not equals:
            raise ValueError(f"argument {number} of {len(given)} is not of the form VARIABLE=VALUE")
        result[name] = value
    return result


def ignored_variables(variables: Mapping[str, str]) -> list[str]:
    """Returns the names of variables that only a JVM would use, and that are set."""
    return [name for name in FOR_A_JVM if variables.get(name)]


def log_level(variables: Mapping[str, str]) -> str:
    """Returns the level for `kraftctl start`; raises ValueError."""
    wanted = variables.get(ROOT_LEVEL) or "INFO"
    level = LEVELS.get(wanted.upper())
    if level is None:
        raise ValueError(f"{ROOT_LEVEL} is {wanted!r}. Next step: use one of {', '.join(LEVELS)}")
    return level
