"""What Kafka's KafkaConfig and ControllerConfig think of properties files, and why they may differ."""

from __future__ import annotations

import base64
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION
from kraftctl_protocol.java_properties import PropertiesError, decode_properties
from tests.support.kafkas_words import in_our_words
from tests.support.processes.kafka import kafka

ORACLE: Final = Path(__file__).parent / "KafkaConfigOracle.java"
ACCEPTED: Final = "accepted"

LATER: Final = "Kafka reads the keys of a listener later, when it binds"
OTHER_MECHANISM: Final = r"(enabled\.mechanisms|mechanism\.controller\.protocol): (Kerberos|allowed)"

STRICTER: Final[dict[str, str]] = {
    r"configuration process\.roles: kraftctl is only a controller": "there is no broker here",
    r"is not of the form \{(id\}@\{)?host\}:\{port\}$": "no host, or a negative id",
}
"""What our first error looks like where KafkaConfig accepts a file or refuses another key, and the reason."""

STRICTER_AT_LAST: Final[dict[str, str]] = {
    r"^No directory for the metadata log": "the default directory is empty after a restart of the machine",
    r"^Configuration 'metadata\.log\.dir' must not be empty": "for Kafka it is the working directory",
    r"configuration (advertised\.)?listeners: port -?\d+ of": "Kafka fails later, when it binds",
    r"overrides: '.*' needs a host, and a count": "no host, or a limit below zero",
    r"there is no listener '": "a key for a listener that does not exist is a misspelt one",
    r"a Java class cannot be loaded here": "the rules of the class would not hold",
    r"configuration authorizer\.class\.name: it must be one of": "Kafka loads the class later",
    r"configuration super\.users: expected": "Kafka's authorizer refuses it later",
    r"^(Invalid value .* for configuration |Configuration ')listener\.name\.": LATER,
    r"^listener\.name\..*sasl\.enabled\.mechanisms has an empty item": LATER,
    r"^Missing required configuration \"(listener\.name\..*)?(ssl|sasl)\.": LATER,
    r"configuration ssl\.(principal\.mapping\.rules|endpoint\.identification\.algorithm)": LATER,
    r"configuration ssl\.(key|trust)store\.": "Kafka opens stores later",
    r"configuration ssl\.(enabled\.protocols|protocol|cipher\.suites)": "what OpenSSL lacks, or Java later",
    rf"configuration sasl\.{OTHER_MECHANISM}": "not offered",
}
"""The same where KafkaConfig accepts a file: what is checked here after everything that it checks."""

CLASS_KEYS: Final = (
    *(key for key, definition in BROKER_CONFIG_KEYS.items() if definition.type == "CLASS"),
    *("group.consumer.assignors", "group.share.assignors", "group.streams.assignors"),
)
"""Kafka looks for these classes on its class path. Here, a name that could be one of a class is accepted."""

WITHOUT_KEY: Final[dict[str, tuple[str, ...]]] = {
    r"^Error creating broker listeners from": ("listeners", "advertised.listeners"),
    r"^Unknown compression type id": (
        "offsets.topic.compression.codec",
        "share.coordinator.state.topic.compression.codec",
    ),
    r"^Disabling the": ("group.coordinator.rebalance.protocols",),
    r"^Host string": ("controller.quorum.voters",),
    r"^Duplicate key ListenerName": ("listener.security.protocol.map",),
    r"^The provided listener name is null": ("listener.security.protocol.map", "inter.broker.listener.name"),
    r"^Unable to parse a listener name": ("listeners",),
    r"^/ by zero": ("log.cleaner.threads",),
    r"^(For input string|port out of range|Failed to parse voter ID)": (
        *(
            "controller.quorum.voters",
            "controller.quorum.bootstrap.servers",
            "max.connections.per.ip.overrides",
        ),
    ),
    r"^(Class .* cannot be found|.* is not an instance of)": (
        "group.consumer.assignors",
        "group.share.assignors",
        "group.streams.assignors",
    ),
    r"^Could not find a public no-argument constructor": (
        "group.consumer.assignors",
        "group.share.assignors",
        "group.streams.assignors",
    ),
}
"""The keys that exceptions mean which name none."""

SAME_KEYS: Final[dict[str, str]] = {
    "broker.id": "node.id",
    "log.roll.hours": "log.roll.ms",
    "log.roll.jitter.hours": "log.roll.jitter.ms",
    "log.retention.hours": "log.retention.ms",
    "log.retention.minutes": "log.retention.ms",
}
"""Kafka copies node.id to broker.id, and names the key with .ms whatever the unit."""

KEY: Final = re.compile(r"[a-z][a-z0-9._-]*[a-z0-9]")


@dataclass(frozen=True)
class Verdict:
    """`error` is the first one, empty if the file is accepted."""

    error: str

    @property
    def keys(self) -> list[str]:
        """The known keys that the error names, in order."""
        for pattern, keys in WITHOUT_KEY.items():
            if re.search(pattern, self.error):
                return list(keys)
        names = [_without_prefix(name) for name in KEY.findall(self.error)]
        return [SAME_KEYS.get(name, name) for name in names if name in BROKER_CONFIG_KEYS]


def _without_prefix(name: str) -> str:
    """Kafka leaves out `listener.name.NAME.` and the mechanism after it."""
    parts = name.split(".")
    for cut in range(3, 5) if name.startswith("listener.name.") else ():
        if ".".join(parts[cut:]) in BROKER_CONFIG_KEYS:
            return ".".join(parts[cut:])
    return name


def kafkas_verdicts(files: list[bytes]) -> list[Verdict]:
    """One JVM for all files."""
    command = kafka(KAFKA_VERSION).command(str(ORACLE), log_level="OFF", heap="256m")
    lines = b"".join(base64.b64encode(file) + b"\n" for file in files)
    result = subprocess.run(
        command, input=lines, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    verdicts = result.stdout.decode().splitlines()
    assert len(verdicts) == len(files)
    return [Verdict("" if line == ACCEPTED else line.partition("\t")[2]) for line in verdicts]


def verdict(file: bytes) -> Verdict:
    """Of `kraftctl start` and `kraftctl format`."""
    try:
        ControllerConfig(decode_properties(file))
    except ConfigException as error:
        return Verdict(error.errors[0])
    except PropertiesError as error:
        return Verdict(str(error))
    return Verdict("")


def difference(file: bytes, kafkas: Verdict, own: Verdict) -> str | None:
    """What differs without a reason in the tables above."""
    stricter = [*STRICTER, *([] if kafkas.error else STRICTER_AT_LAST)]
    if any(re.search(pattern, own.error) for pattern in stricter) or _is_about_a_class(kafkas):
        return None
    if kafkas.error and own.error:
        return None if _same_first_key(kafkas, own) else "another key is refused first"
    return "refused here alone" if own.error else "accepted here alone" if kafkas.error else None


def reason_of(error: str) -> str:
    """Of a definition's error, without its key and value: Kafka shows the value as it has read it."""
    return error.partition(" for configuration ")[2].partition(": ")[2] or error


def _same_first_key(kafkas: Verdict, own: Verdict) -> bool:
    if re.match("(Invalid value|Configuration '|Missing required)", kafkas.error):
        same = reason_of(in_our_words(kafkas.error)) == reason_of(own.error)
        return kafkas.keys[:1] == own.keys[:1] and same
    if kafkas.error.startswith("Malformed"):
        return "hexadecimal" in own.error
    return not set(kafkas.keys).isdisjoint(own.keys)


def _is_about_a_class(kafkas: Verdict) -> bool:
    looked_up = re.search("could not be found|cannot be found|instance|constructor|Kafka", kafkas.error)
    return looked_up is not None and kafkas.keys[:1] != [] and kafkas.keys[0] in CLASS_KEYS
