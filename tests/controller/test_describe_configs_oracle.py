"""Kafka's own ConfigHelper describes the configs of every type of resource as this controller does.

What Kafka keeps of changes of dynamic configs, one after the other, is part of it: Kafka 4.4.0 is asked, and
4.3.1 about the keys that it has. Of a node's own, only what this controller obeys, too, is sent to Kafka.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kraftctl.config.dynamic_keys import LIMIT_KEYS, LISTENER_LIMIT_KEYS, TRUST_KEYS
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.state.effective_configs import OBEYED_CONFIGS
from kraftctl.metadata import features
from kraftctl.metadata.config_definitions.config_key import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    ConfigKey,
)
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.broker_quota_config_data import BROKER_QUOTA_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION
from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.active_controller import BASE_PROPERTIES, NODE_ID, ActiveController
from tests.support.effort import seeds
from tests.support.processes.oracle import ask_kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "oracle" / "DescribeConfigsOracle.java"
OWN = str(NODE_ID)

Asked = tuple[int, str, list[str] | None, bool]
"""Type and name of the resource, keys, and whether synonyms are wanted."""

Step = Asked | tuple[str, str, str | None]
"""A question; or a change: `cluster`, `own`, `topic`, `group` or `metrics`, a key, its value or None."""

RESOURCES: dict[str, tuple[int, str]] = {
    "cluster": (BROKER, ""),
    "own": (BROKER, OWN),
    "topic": (TOPIC, "t"),
    "group": (GROUP, "g"),
    "metrics": (CLIENT_METRICS, "m"),
}

ALL: list[Step] = [
    *((BROKER, OWN, keys, synonyms) for keys, synonyms in ((None, True), (None, False), ([], True))),
    *((BROKER, "", keys, synonyms) for keys, synonyms in ((None, True), ([], False))),
    *((BROKER, name, None, False) for name in ("3001", "x", "99999999999", " 3000", "-3000", "+")),
    *((BROKER, name, ["node.id"], True) for name in ("+3000", "03000", "00000003000", "\u0663000")),
    (BROKER, OWN, ["max.connections", "no.such.key", "ssl.keystore.password", "log.retention.ms"], True),
    *((TOPIC, "t", keys, synonyms) for keys, synonyms in ((None, True), (None, False), ([], True))),
    (TOPIC, "t", ["retention.ms", "no.such.key", "internal.segment.bytes", "cleanup.policy"], True),
    *((TOPIC, name, None, False) for name in ("u", "", "a b", "..")),
    *((GROUP, "g", keys, synonyms) for keys, synonyms in ((None, True), (None, False), ([], True))),
    (GROUP, "g", ["share.auto.offset.reset", "no.such.key", "streams.num.warmup.replicas"], True),
    (GROUP, "", None, False),
    *((CLIENT_METRICS, "m", keys, synonyms) for keys, synonyms in ((None, True), ([], False))),
    (CLIENT_METRICS, "m", ["match", "no.such.key"], True),
    (CLIENT_METRICS, "", None, False),
    *((kind, "x", None, False) for kind in (8,)),
]


@dataclass
class Case:
    """A properties file, and what happens then."""

    file: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def lines(self) -> str:
        lines = [f"static\t{key}\t{value}" for key, value in {**BASE_PROPERTIES, **self.file}.items()]
        for step in self.steps:
            if isinstance(step[0], int):
                kind, name, keys, synonyms = step
                listed = "-" if keys is None else ",".join(keys)
                lines.append(f"describe\t{kind}\t{name}\t{listed}\t{str(synonyms).lower()}")
            elif not is_without_effect(step[0], step[1]):
                lines.append("\t".join(part for part in step if part is not None))
        return "".join(f"{line}\n" for line in [*lines, "end"])

    def answers(self) -> list[str]:
        active = ActiveController(features.LATEST_PRODUCTION, 1, **self.file)
        active.start_brokers(1)
        active.create_topic("t")
        without = RecordAndVersion(ConfigRecord(BROKER, "", "min.insync.replicas", None), 0)
        active.write(ControllerResult.of([without], None))
        answers: list[str] = []
        for step in self.steps:
            if isinstance(step[0], int):
                kind, name, keys, synonyms = step
                resource = DescribeConfigsResource(kind, name, keys)
                request = DescribeConfigsRequest(resources=[resource], include_synonyms=synonyms)
                answers.append(text_of(active.request(request).results[0]))
            else:
                kind, name = RESOURCES[step[0]]
                change = RecordAndVersion(ConfigRecord(kind, name, step[1], step[2]), 0)
                active.write(ControllerResult.of([change], None))
        return answers


def is_without_effect(scope: str, key: str) -> bool:
    """Returns whether Kafka's controller changes this of its own, and ours, which uses no SSL, does not."""
    listener = "listener.name.controller."
    base = key.removeprefix(listener)
    if scope != "own" or base not in BROKER_CONFIG_KEYS or key in OBEYED_CONFIGS:
        return False
    return base not in (LIMIT_KEYS if base == key else LISTENER_LIMIT_KEYS)


def text_of(result) -> str:
    if result.error_code:
        return f"error\t{result.error_code}\n"
    text = ""
    for entry in result.configs:
        fields = (entry.name, shown(entry.value), entry.config_source)
        flags = (str(entry.is_sensitive).lower(), str(entry.read_only).lower())
        values = (*fields, *flags, entry.config_type, shown(entry.documentation))
        text += "\t".join(["entry", *map(str, values)]) + "\n"
        for synonym in entry.synonyms:
            text += f"synonym\t{synonym.name}\t{shown(synonym.value)}\t{synonym.source}\n"
    return text


def shown(value: str | None) -> str:
    return "null" if value is None else value


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
    {"log.retention.hours": "-5", "log.retention.minutes": " -7 "},
    {"super.users": "User:a;User:b", "auto.create.topics.enable": "FALSE", "compression.type": "gzip"},
    {"log.cleanup.policy": "compact , delete,compact", "log.cleaner.min.cleanable.ratio": "0.250"},
    {"log.cleaner.io.max.bytes.per.second": "1e3", "sasl.kerberos.ticket.renew.jitter": "0.0001"},
    {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:5,10.0.0.1:7"},
    {"leader.replication.throttled.rate": "5", "replica.alter.log.dirs.io.max.bytes.per.second": "7"},
    {"group.consumer.session.timeout.ms": " 50000", "group.streams.num.warmup.replicas": "+3"},
    {"group.streams.assignors": "sticky", "group.consumer.assignor.offload.enable": "FALSE"},
]

DYNAMIC_KEYS = sorted(
    {*DYNAMIC_BROKER_CONFIGS, *BROKER_QUOTA_CONFIG_KEYS} - {"config.providers", "metric.reporters"}
)
"""Whether the classes of reporters exist is looked up by another part of Kafka's controller."""

SHOWN_AS_OBEYED = (*LIMIT_KEYS, "num.network.threads")
"""Limits of connections are shown as they are in effect. The threads of a listener are Kafka's alone."""

OTHER_KEYS = ("no.such.key", "super.users", "log.roll.hours", "log.retention.minutes", "node.id", "log.dirs")
OF_LISTENER = "connections.max.reauth.ms"
PREFIXES = (
    "listener.name.controller.",
    "listener.name.other.",
    "listener.name.other.plain.",
    "listener.name.",
)

ODD = [
    "",
    " ",
    "-1",
    "0",
    "1",
    "2",
    "7",
    "1.5",
    "x",
    "TRUE",
    " false ",
    "a,b",
    "a , a",
    "Delete",
    "2147483648",
]
GOOD: dict[str, list[str]] = {
    BOOLEAN: ["true", " FALSE "],
    INT: ["1", "5", " 10 ", "+16", "2000000"],
    LONG: ["5", " 1000 ", "+9999999999"],
    DOUBLE: ["0.5", "1", "1e-5", " 0.25 ", "1E9"],
    LIST: ["delete", " compact , delete", "a,b,a", "0:1, 1:2", "*"],
}


def some_value(rng: random.Random, definition: ConfigKey | None) -> str:
    if definition is None or rng.random() < 0.35:
        return rng.choice(ODD)
    good = list(GOOD.get(definition.type, ["gzip", "producer", "CreateTime", " zstd ", "none", "sticky"]))
    return rng.choice([*good, f" {definition.default or 'x'} "])


def changes_of(key: str, rng: random.Random) -> str | None:
    if rng.random() < 0.1:
        return None
    return some_value(rng, BROKER_QUOTA_CONFIG_KEYS.get(key) or BROKER_CONFIG_KEYS.get(key))


def each_dynamic_key(rng: random.Random) -> list[Case]:
    """Each key of a node with several values: in the cluster's default, of the node, and taken away."""
    cases: list[Case] = []
    for key in [*DYNAMIC_KEYS, *OTHER_KEYS, *(PREFIXES[0] + key for key in DYNAMIC_KEYS[::3])]:
        if key.endswith(SHOWN_AS_OBEYED) or key.endswith(TRUST_KEYS):
            continue
        steps: list[Step] = []
        for scope in ("cluster", "own", "cluster", "own"):
            steps.append((scope, key, changes_of(key, rng)))
            steps += [(BROKER, "", [], True), (BROKER, OWN, [key, *rng.sample(DYNAMIC_KEYS, 3)], True)]
        cases.append(Case({}, [*steps, (TOPIC, "t", None, True), (GROUP, "g", None, True)]))
    return cases


def each_own_key(rng: random.Random) -> list[Case]:
    """Each key of a topic, a group and client metrics with values that Kafka stores."""
    cases: list[Case] = []
    for scope in ("topic", "group", "metrics"):
        kind, name = RESOURCES[scope]
        for key, definition in config_keys(kind).items():
            for value in {*GOOD.get(definition.type, []), f" {definition.default or ''} ", "TRUE "}:
                if is_valid(definition, value):
                    steps: list[Step] = [(scope, key, value), (kind, name, [key], True)]
                    cases.append(Case(rng.choice(FILES), [*steps, (kind, name, None, False)]))
    return cases


def is_valid(definition: ConfigKey, value: str) -> bool:
    try:
        definition.parse(value)
    except ValueError:
        return False
    return True


def random_sequence(seed: int) -> Case:
    """Changes of some keys of the node, with a question after each."""
    rng = random.Random(seed)
    names = rng.sample([key for key in DYNAMIC_KEYS if not key.endswith((*SHOWN_AS_OBEYED, *TRUST_KEYS))], 6)
    keys = [*names, rng.choice(OTHER_KEYS), rng.choice(PREFIXES) + OF_LISTENER]
    keys += ["num.io.threads", "log.retention.ms"] if seed % 4 == 0 else []
    steps: list[Step] = []
    for _ in range(10):
        scope, key = rng.choice(("cluster", "own")), rng.choice(keys)
        steps.append((scope, key, changes_of(key.rpartition("other.")[2], rng)))
        steps += [(BROKER, OWN, keys, True), (BROKER, "", None, True)]
    asked: list[Step] = [(BROKER, OWN, None, True), (TOPIC, "t", None, True), (GROUP, "g", [], True)]
    return Case(rng.choice([random_file(rng), rng.choice(FILES)]), [*steps, *asked])


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


@functools.cache
def all_cases() -> dict[str, list[Case]]:
    rng = random.Random(20261127)
    return {
        "files": [Case(file, ALL) for file in FILES],
        "dynamic-keys": each_dynamic_key(rng),
        "own-keys": each_own_key(rng),
        "sequences": [random_sequence(seed) for seed in seeds(40)],
        "flush": [Case({}, [("cluster", "log.flush.interval.ms", "-1"), (TOPIC, "t", ["flush.ms"], False)])],
    }


@functools.cache
def kafkas_answers(version: str) -> dict[str, list[list[str]]]:
    """Asks one JVM about all cases."""
    lines = "".join(case.lines() for cases in all_cases().values() for case in cases)
    # What Kafka logs comes before the answers.
    answers = iter(ask_kafka(ORACLE, lines, version=version).rpartition("answers\n")[2].split("answered\n"))
    return {
        name: [[next(answers) for step in case.steps if isinstance(step[0], int)] for case in cases]
        for name, cases in all_cases().items()
    }


def differences_of(name: str, version: str, ignored: frozenset[str] = frozenset()) -> list[str]:
    """What differs, but for the entries of `ignored` keys."""
    differences: list[str] = []
    for number, (case, expected) in enumerate(
        zip(all_cases()[name], kafkas_answers(version)[name], strict=True)
    ):
        places = [place for place, step in enumerate(case.steps) if isinstance(step[0], int)]
        for place, answer, answer_of_kafka in zip(places, case.answers(), expected, strict=True):
            mine, kafkas = without(answer, ignored), without(answer_of_kafka, ignored)
            if kafkas == FAILED and case.steps[place][0] == TOPIC:
                continue  # see test_a_value_that_topics_cannot_have_is_shown
            if mine != kafkas:
                before = [step for step in case.steps[:place] if isinstance(step[0], str)]
                what = f"case {number} {before}: {case.steps[place]}"
                differences.append(what + difference(mine, kafkas))
    return differences


FAILED = "error\t-1\n"


def without(answer: str, keys: frozenset[str]) -> str:
    """An answer without the entries of these keys."""
    if not keys:
        return answer
    entries = answer.split("entry\t")
    kept = [entry for entry in entries[1:] if entry.partition("\t")[0] not in keys]
    return "".join([entries[0], *(f"entry\t{entry}" for entry in kept)])


def difference(answer: str, expected: str) -> str:
    own, kafkas = set(answer.splitlines()), set(expected.splitlines())
    return f"\n  only here: {sorted(own - kafkas)[:8]}\n  only Kafka: {sorted(kafkas - own)[:8]}"


@pytest.mark.parametrize("name", ["files", "dynamic-keys", "own-keys", "sequences"])
def test_same_descriptions(name: str) -> None:
    differences = differences_of(name, KAFKA_VERSION)
    assert not differences, "\n".join(differences[:10]) + f"\n{len(differences)} in all"


NEW_IN_4_4 = frozenset(
    {
        *("errors.deadletterqueue.auto.create.topics.enable", "errors.deadletterqueue.topic.name.prefix"),
        *("errors.deadletterqueue.copy.record.enable", "errors.deadletterqueue.group.enable"),
        *("errors.deadletterqueue.topic.name", "max.decompressed.message.bytes"),
        *(f"{kind}.assignor.offload.enable" for kind in ("consumer", "share", "streams")),
        *(f"group.{kind}.assignor.offload.enable" for kind in ("consumer", "share", "streams")),
        *(f"group.streams.{key}" for key in ("acceptable.recovery.lag", "assignors", "max.warmup.replicas")),
        *(f"group.streams.{key}" for key in ("min.task.offset.interval.ms", "num.warmup.replicas")),
        *(f"group.streams.{key}" for key in ("rack.aware.assignment.tags", "task.offset.interval.ms")),
        *("group.share.dlq.manager.class.name", "group.streams.topology.description.plugin.class"),
        *(
            "log.remote.copy.lag.bytes",
            "log.remote.copy.lag.ms",
            "remote.copy.lag.bytes",
            "remote.copy.lag.ms",
        ),
        *("sasl.oauthbearer.allow.unverified.audience", "sasl.oauthbearer.allow.unverified.issuer"),
        *(f"streams.{key}" for key in ("acceptable.recovery.lag", "assignor.name", "num.warmup.replicas")),
        *("streams.rack.aware.assignment.tags", "streams.task.offset.interval.ms"),
    }
)


@pytest.mark.long
@pytest.mark.parametrize("name", ["files", "own-keys"])
def test_same_descriptions_of_4_3(name: str) -> None:
    """Of the keys that it has; a group inherits other intervals there (docs/kafka-4.4.md)."""
    intervals = {f"{kind}.assignment.interval.ms" for kind in ("consumer", "share", "streams")}
    differences = differences_of(name, "4.3.1", NEW_IN_4_4 | intervals)
    assert not differences, "\n".join(differences[:10]) + f"\n{len(differences)} in all"


def test_a_value_that_topics_cannot_have_is_shown() -> None:
    """Kafka takes log.flush.interval.ms=-1 of a node, and describes no topic any more: it is no flush.ms."""
    assert kafkas_answers(KAFKA_VERSION)["flush"] == [[FAILED]]
    (case,) = all_cases()["flush"]
    assert case.answers() == ["entry\tflush.ms\t-1\t3\tfalse\tfalse\t5\tnull\n"]
