"""Configuration keys: definitions from Kafka's jars, and values read by ConfigDef's rules."""

from __future__ import annotations

import pytest

from kraftctl.metadata.config_definitions.config_key import InvalidConfigValueError, parse_value
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.client_metrics_config_data import (
    CLIENT_METRICS_CONFIG_KEYS,
)
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
from kraftctl.metadata.config_definitions.generated.group_config_data import GROUP_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kraftctl.metadata.config_definitions.validators import OffsetResetStrategy
from kraftctl.metadata.topic_name import why_topic_name_invalid
from kraftctl_codegen.config_definitions.__main__ import render_files
from kraftctl_codegen.config_definitions.config_names import render_name_files
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION, dump_config_definitions
from tests.support.processes.kafka import kafka


@pytest.mark.java
def test_the_data_is_what_kafkas_jars_say():
    files = render_files(dump_config_definitions(kafka(KAFKA_VERSION)))
    for path, text in files.items():
        assert path.read_text() == text, path


@pytest.mark.java
@pytest.mark.interop
@pytest.mark.long
def test_the_names_of_other_releases_are_what_their_jars_say():
    for path, text in render_name_files().items():
        assert path.read_text() == text, path


@pytest.mark.parametrize(
    "keys",
    [TOPIC_CONFIG_KEYS, GROUP_CONFIG_KEYS, CLIENT_METRICS_CONFIG_KEYS, BROKER_CONFIG_KEYS],
    ids=["topic", "group", "client-metrics", "broker"],
)
def test_every_default_is_a_valid_value(keys):
    for name, definition in keys.items():
        assert definition.name == name
        if definition.default is not None and definition.type != "CLASS":
            definition.parse(definition.default)


def test_a_value_is_that_of_its_own_text():
    definition = TOPIC_CONFIG_KEYS["min.insync.replicas"]
    assert [definition.parse(text) for text in ("2", "2", "3", " 3 ", "2")] == [2, 2, 3, 3, 2]
    for text in ("0", "two", ""):
        with pytest.raises(InvalidConfigValueError):
            definition.parse(text)
    assert definition.parse("2") == 2


def test_synonyms_are_broker_keys_of_topic_keys():
    for topic_key, synonyms in TOPIC_CONFIG_SYNONYMS.items():
        assert topic_key in TOPIC_CONFIG_KEYS
        assert all(name in BROKER_CONFIG_KEYS for name, _ in synonyms)
    assert TOPIC_CONFIG_SYNONYMS["retention.ms"] == [
        ("log.retention.ms", 1),
        ("log.retention.minutes", 60_000),
        ("log.retention.hours", 3_600_000),
    ]


def test_some_facts():
    assert TOPIC_CONFIG_KEYS["retention.ms"].default == "604800000"
    assert TOPIC_CONFIG_KEYS["internal.segment.bytes"].internal
    assert BROKER_CONFIG_KEYS["ssl.keystore.password"].sensitive
    assert "log.retention.ms" in DYNAMIC_BROKER_CONFIGS
    assert "node.id" not in DYNAMIC_BROKER_CONFIGS


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("BOOLEAN", " True ", True),
        ("INT", " 42 ", 42),
        ("INT", "-2147483648", -(1 << 31)),
        ("INT", "+7", 7),
        ("LONG", "9223372036854775807", (1 << 63) - 1),
        ("DOUBLE", "1e3", 1000.0),
        ("DOUBLE", "0.5f", 0.5),
        ("DOUBLE", "-Infinity", float("-inf")),
        ("DOUBLE", "0x1p3", 8.0),
        ("LIST", " a , b,c ", ["a", "b", "c"]),
        ("LIST", "  ", []),
        ("LIST", "a,,b", ["a", "", "b"]),
        ("LIST", "a\t ,\n ,b c", ["a", "", "b c"]),
        pytest.param("LIST", f"a{' ' * 1_000_000}b", [f"a{' ' * 1_000_000}b"], id="in-linear-time"),
        ("STRING", " x ", "x"),
    ],
)
def test_values(type_, text, value):
    assert parse_value("k", type_, text) == value


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("BOOLEAN", "1"),
        ("INT", "2147483648"),
        ("INT", "1.0"),
        ("INT", "0x10"),
        ("INT", "1_000"),
        ("INT", ""),
        ("INT", "9" * 5_000),
        ("LONG", "9223372036854775808"),
        ("SHORT", "32768"),
        ("DOUBLE", "one"),
        ("DOUBLE", "1e"),
    ],
)
def test_invalid_values(type_, text):
    with pytest.raises(InvalidConfigValueError, match="Invalid value"):
        parse_value("k", type_, text)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("latest", True),
        ("earliest", True),
        ("by_duration:PT1H", True),
        ("by_duration:P2DT3.5S", True),
        ("by_duration:-PT1H", False),
        ("by_duration:P", False),
        ("by_duration:PT", False),
        ("none", False),
    ],
)
def test_where_a_share_group_starts(text, good):
    assert (OffsetResetStrategy().why_invalid(text) is None) == good


@pytest.mark.parametrize("name", ["t", "a.b_c-9", "x" * 249, "__consumer_offsets"])
def test_topic_names(name):
    assert why_topic_name_invalid(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "a/b", "ä", "a\n"])
def test_invalid_topic_names(name):
    assert why_topic_name_invalid(name) is not None
