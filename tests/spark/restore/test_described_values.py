"""What brokers describe is what Java has read: a config that is set as planned is no difference."""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.restore.cluster_state import ClusterState, ResourceConfig, TopicReplicas
from kraftctl_spark.restore.comparison import compare
from kraftctl_spark.restore.described_value import ConfigType, described_value
from kraftctl_spark.restore.difference import changes_between
from kraftctl_spark.restore.plan import plan_of
from kraftctl_spark.restore.plan_file import plan_text
from tests.spark.restore.fake_broker import FakeCluster
from tests.support.processes.oracle import kafkas_answers

ORACLE = Path(__file__).with_name("DescribedValueOracle.java")

DESCRIBED = [
    (ConfigType.DOUBLE, "1", "1.0"),
    (ConfigType.DOUBLE, "10000000", "1.0E7"),
    (ConfigType.DOUBLE, "0.50", "0.5"),
    (ConfigType.DOUBLE, "0.0001", "1.0E-4"),
    (ConfigType.DOUBLE, " 5e-1d", "0.5"),
    (ConfigType.DOUBLE, "-0", "-0.0"),
    (ConfigType.DOUBLE, "NaN", "NaN"),
    (ConfigType.LIST, "compact, delete", "compact,delete"),
    (ConfigType.LIST, " delete,compact,delete ", "delete,compact"),
    (ConfigType.LIST, " ", ""),
    (ConfigType.BOOLEAN, "TRUE", "true"),
    (ConfigType.BOOLEAN, " False", "false"),
    (ConfigType.INT, "+07", "7"),
    (ConfigType.SHORT, "-0", "0"),
    (ConfigType.LONG, " 0086400000 ", "86400000"),
    (ConfigType.STRING, " zstd ", "zstd"),
    (ConfigType.STRING, "Zstd, lz4", "Zstd, lz4"),
]
"""What Kafka's ConfigDef makes of texts, as the first test asks it."""

NUMBERS = (ConfigType.SHORT, ConfigType.INT, ConfigType.LONG)
PIECES = {
    ConfigType.BOOLEAN: ["true", "FALSE", "True", " ", "fal", "se", "1"],
    ConfigType.STRING: ["a", " ", "\t", ",", "B", "ü"],
    **{one: ["0", "1", "9", "32767", "+", "-", " ", ".", "2147483648"] for one in NUMBERS},
    ConfigType.DOUBLE: ["0", "1", "7", ".", "e", "-", "+", "00", "d", "Infinity", " ", "0x", "p"],
    ConfigType.LIST: ["a", "b", ",", " ", "\t", "a,b"],
}


def texts_of(kind: ConfigType) -> set[str]:
    dice = random.Random(int(kind))
    return {"".join(dice.choices(PIECES[kind], k=dice.randint(1, 6))) for _ in range(400)}


@pytest.mark.java
def test_a_value_is_described_as_kafka_does() -> None:
    """Every text that Kafka accepts; and what is described stays so."""
    cases = [(kind, text) for kind in PIECES for text in sorted(texts_of(kind))]
    cases += [(kind, text) for kind, text, _ in DESCRIBED]
    asked = [f"{kind.name}\t{b64encode(text.encode()).decode()}" for kind, text in cases]
    accepted = {
        case: b64decode(answer[1:]).decode()
        for case, answer in zip(cases, kafkas_answers(ORACLE, asked), strict=True)
        if answer != "-"
    }
    assert {kind for kind, _ in accepted} == set(PIECES)
    assert len(accepted) > 500
    assert {case: described_value(case[1], case[0]) for case in accepted} == accepted
    assert [described_value(text, kind) for (kind, _), text in accepted.items()] == list(accepted.values())
    assert [accepted[kind, text] for kind, text, _ in DESCRIBED] == [one[2] for one in DESCRIBED]


@pytest.mark.parametrize(
    ("kind", "text"),
    [(ConfigType.UNKNOWN, "1 "), (ConfigType.PASSWORD, "1 "), (ConfigType.INT, "x "), (99, "0.50")],
)
def test_what_has_no_known_type_is_compared_as_it_is(kind: int, text: str) -> None:
    assert described_value(text, kind) == text


CONFIGS = {ResourceConfig("TOPIC", "t", f"key.{place}"): case for place, case in enumerate(DESCRIBED)}
SET = ClusterState(
    "one",
    topics={"t": TopicReplicas(((1,),))},
    configs={config: text for config, (_, text, _) in CONFIGS.items()},
    brokers=frozenset([1]),
)
SHOWN = replace(
    SET,
    configs={config: text for config, (_, _, text) in CONFIGS.items()},
    config_types={config: kind for config, (kind, _, _) in CONFIGS.items()},
)


def test_what_is_described_otherwise_than_it_was_set_is_no_difference() -> None:
    found = compare(plan_of(SET, offset=1, time="", with_replicas=False), SHOWN)
    assert (found.missing, found.differing, found.not_possible) == ((), (), ())
    assert changes_between(SET, SHOWN) == []


def test_another_value_of_each_type_is_a_difference() -> None:
    others = {
        ConfigType.DOUBLE: "1.5",
        ConfigType.LIST: "other",
        ConfigType.BOOLEAN: "",
        ConfigType.STRING: "other",
        **dict.fromkeys(NUMBERS, "55"),
    }
    other = replace(SHOWN, configs={config: others[kind] for config, (kind, _, _) in CONFIGS.items()})
    found = compare(plan_of(SET, offset=1, time="", with_replicas=False), other)
    assert len(found.differing) == len(changes_between(SET, other)) == len(CONFIGS)
    assert {str(one.operation) for one in found.differing} == {
        f"set {config}={text}" for config, (_, text, _) in CONFIGS.items()
    }, "it is set as it was"


def test_a_restore_of_such_values_is_done_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(plan_text(plan_of(SET, offset=1, time="", with_replicas=False)))
    cluster = FakeCluster(
        describes={(one.key, text): (kind, shown) for one, (kind, text, shown) in CONFIGS.items()}
    )
    with cluster.serve() as node:
        restore = ["restore", "--apply", str(file), "--to", node.address, "--execute"]
        assert main(restore) == 0
        output = capsys.readouterr().out
        assert "do not show" not in output
        assert ": 1 done, 0 refused, 0 left as they are" in output
        assert main(restore) == 0
        assert ": 0 done, 0 refused, 0 left as they are" in capsys.readouterr().out
