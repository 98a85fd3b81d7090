"""Kafka's own ConfigHelper describes a node and the cluster's default as this controller does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kraftctl.metadata import features
from kraftctl.metadata.config_definitions.config_key import BOOLEAN, DOUBLE, INT, LONG, PASSWORD
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl_protocol import config_resource
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from tests.support.active_controller import BASE_PROPERTIES, NODE_ID, ActiveController
from tests.support.kafkas_words import in_our_words
from tests.support.processes.oracle import ask_kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "oracle" / "DescribeConfigsOracle.java"
OWN = str(NODE_ID)

Asked = tuple[str, list[str] | None, bool]
"""Name of the resource, keys, and whether synonyms are wanted."""

Case = tuple[dict[str, str], dict[str, str], dict[str, str], list[Asked]]
"""Properties of the file, dynamic configs of the cluster and of the node, and what is asked."""

ALL: list[Asked] = [
    (OWN, None, True),
    (OWN, None, False),
    (OWN, [], True),
    ("", None, True),
    ("", [], False),
    ("3001", None, False),
    ("+3000", ["node.id"], True),
    ("03000", ["node.id"], False),
    ("x", None, False),
    ("99999999999", [], False),
    (OWN, ["max.connections", "no.such.key", "ssl.keystore.password", "log.retention.ms"], True),
]

FILES: list[dict[str, str]] = [
    {},
    {"max.connections": " 07 ", "listener.name.controller.max.connections": "5 "},
    {"listener.name.controller.max.connection.creation.rate": "9", "max.connections.per.ip": "+3"},
    {"listener.name.ssl.ssl.keystore.password": "hush", "ssl.keystore.password": "hush"},
    {"listener.name.controller.plain.sasl.jaas.config": "hush", "sasl.jaas.config": "hush"},
    {"listener.name.ssl.b.max.connections": "5", "listener.name.controller.no.such.key": "5"},
    {
        "some.plugin.key": "1",
        "kraftctl.audit.log.max.files": "7",
        "internal.metadata.delete.delay.millis": "5",
    },
    {"log.roll.hours": "5", "log.retention.minutes": "7", "log.flush.scheduler.interval.ms": "9"},
    {"log.retention.ms": "5", "log.retention.hours": "7", "log.roll.jitter.hours": "1"},
    {"super.users": "User:a;User:b", "auto.create.topics.enable": "FALSE", "compression.type": "gzip"},
    {"log.cleanup.policy": "compact , delete", "log.cleaner.min.cleanable.ratio": "0.250"},
    {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:5,10.0.0.1:7"},
    {"leader.replication.throttled.rate": "5", "replica.alter.log.dirs.io.max.bytes.per.second": "7"},
]

DYNAMIC: list[tuple[dict[str, str], dict[str, str]]] = [
    ({}, {}),
    ({"max.connections": "3"}, {}),
    ({}, {"max.connections": "3"}),
    ({"max.connections": "3"}, {"max.connections": "4", "listener.name.controller.max.connections": "2"}),
    ({"listener.name.controller.max.connections": "3", "max.connections": "9"}, {}),
    ({"max.connection.creation.rate": "3"}, {"listener.name.controller.max.connection.creation.rate": "4"}),
    ({"max.connections.per.ip": "3"}, {"max.connections.per.ip.overrides": "127.0.0.1:5"}),
    ({"min.insync.replicas": "2"}, {"min.insync.replicas": "3"}),
    ({"unclean.leader.election.enable": "true"}, {"unclean.leader.election.enable": "false"}),
    ({}, {"max.connections.per.ip": "-1", "listener.name.controller.max.connections": "x"}),
    ({"log.retention.ms": "5", "message.max.bytes": "2000000"}, {}),
]
"""Of the cluster and of the node: what a controller obeys, and what Kafka ignores as well."""


def random_file(rng: random.Random) -> dict[str, str]:
    """Values of numbers, switches and passwords that KafkaConfig does not compare with others."""
    prefixes = ("group.", "log.cleaner", "metadata.", "controller.", "ssl.", "offsets.topic", "transaction.")
    names = [name for name in BROKER_CONFIG_KEYS if name.startswith(prefixes)]
    file: dict[str, str] = {}
    for name in rng.sample(sorted(names), 25):
        definition = BROKER_CONFIG_KEYS[name]
        default = definition.default or ""
        if definition.type == BOOLEAN:
            file[name] = rng.choice([default.upper(), f" {default}"])
        elif definition.type in (INT, LONG) and default.isdigit():
            file[name] = rng.choice([f"+{default}", f" 0{default} "])
        elif definition.type == PASSWORD:
            file[name] = "hush"
        elif definition.type == DOUBLE and "E" not in default:
            file[name] = f"{default}0"
    return file


def cases() -> list[Case]:
    rng = random.Random(20261127)
    fixed: list[Case] = [(file, {}, {}, ALL) for file in FILES]
    layered = [(rng.choice(FILES[:5]), cluster, own, ALL) for cluster, own in DYNAMIC]
    generated = [(random_file(rng), *rng.choice(DYNAMIC), ALL[:5]) for _ in range(20)]
    return [*fixed, *layered, *generated]


def lines_of(file: dict[str, str], cluster: dict[str, str], own: dict[str, str], asked: list[Asked]) -> str:
    lines = [f"static\t{key}\t{value}" for key, value in {**BASE_PROPERTIES, **file}.items()]
    lines += [f"cluster\t{key}\t{value}" for key, value in cluster.items()]
    lines += [f"own\t{key}\t{value}" for key, value in own.items()]
    for name, keys, synonyms in asked:
        listed = "-" if keys is None else ",".join(keys)
        lines.append(f"describe\t{name}\t{listed}\t{str(synonyms).lower()}")
    return "".join(f"{line}\n" for line in [*lines, "end"])


def mine(file: dict[str, str], cluster: dict[str, str], own: dict[str, str], asked: list[Asked]) -> list[str]:
    active = ActiveController(features.LATEST_PRODUCTION, 1, **file)
    active.controller.image.configurations.replay(
        ConfigRecord(config_resource.BROKER, "", "min.insync.replicas", None), 0
    )
    for name, configs in (("", cluster), (OWN, own)):
        for key, value in configs.items():
            active.controller.image.configurations.replay(
                ConfigRecord(config_resource.BROKER, name, key, value), 0
            )
    answers: list[str] = []
    for name, keys, synonyms in asked:
        resource = DescribeConfigsResource(
            resource_type=config_resource.BROKER, resource_name=name, configuration_keys=keys
        )
        request = DescribeConfigsRequest(resources=[resource], include_synonyms=synonyms)
        answers.append(text_of(active.request(request).results[0]))
    return answers


def text_of(result) -> str:
    if result.error_code:
        return f"error\t{result.error_code}\t{result.error_message}\n"
    text = ""
    for entry in result.configs:
        fields = (entry.name, shown(entry.value), entry.config_source)
        flags = (str(entry.is_sensitive).lower(), str(entry.read_only).lower())
        text += (
            "\t".join(["entry", *map(str, (*fields, *flags, entry.config_type, shown(entry.documentation)))])
            + "\n"
        )
        for synonym in entry.synonyms:
            text += f"synonym\t{synonym.name}\t{shown(synonym.value)}\t{synonym.source}\n"
    return text


def shown(value: str | None) -> str:
    return "null" if value is None else value


def test_same_descriptions() -> None:
    asked = cases()
    printed = ask_kafka(ORACLE, "".join(lines_of(*case) for case in asked))
    # What Kafka logs comes before it.
    answers = iter(printed.rpartition("answers\n")[2].split("answered\n"))
    differences: list[str] = []
    for number, case in enumerate(asked):
        for (name, keys, synonyms), answer in zip(case[3], mine(*case), strict=False):
            expected = in_our_words(next(answers))
            if answer != expected:
                what = f"case {number} {case[:3]}: {name!r} {keys} synonyms={synonyms}"
                differences.append(what + difference(answer, expected))
    assert not differences, "\n".join(differences[:10]) + f"\n{len(differences)} in all"


def difference(answer: str, expected: str) -> str:
    own, kafkas = set(answer.splitlines()), set(expected.splitlines())
    return f"\n  only here: {sorted(own - kafkas)[:8]}\n  only Kafka: {sorted(kafkas - own)[:8]}"
