"""The reference of configuration keys says what the code reads, with its defaults and ranges, and no more."""

from __future__ import annotations

import ast
import json
import logging
import re
from pathlib import Path
from typing import Final

import pytest

from kraftctl.cli import main
from kraftctl.cli.inspect.config_page import HEAD, page, text_table
from kraftctl.cli.inspect.config_rows import GROUPS, NOT_USED, config_rows
from kraftctl.cli.start import announce
from kraftctl.cli.unknown_keys import MECHANISMS, NODE_KEYS, unknown_keys_of_node
from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.config.own_keys import OWN_KEYS
from kraftctl.storage.meta_properties import MetaProperties
from kraftctl_security.config_values import ConfigValues
from tests.support.controller_properties import controller_properties

ROOT: Final = Path(__file__).parents[2]
ROWS: Final = {row.name: row for row in config_rows()}
PLAIN: Final = controller_properties(static=True)

OAUTH: Final = "org.apache.kafka.common.security.oauthbearer."
LOGIN: Final = {
    "plain": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "scram-sha-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "oauthbearer": f"{OAUTH}OAuthBearerLoginModule",
}
SECURED: Final = {
    **PLAIN,
    "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
    "sasl.mechanism.controller.protocol": "OAUTHBEARER",
    "ssl.keystore.location": "store",
    "ssl.keystore.password": "x",
    "ssl.truststore.location": "store",
    "ssl.truststore.password": "x",
    "org.apache.kafka.sasl.oauthbearer.allowed.urls": "https://issuer/token",
    "sasl.oauthbearer.token.endpoint.url": "https://issuer/token",
    **{
        f"listener.name.controller.{name}.sasl.jaas.config": f'{module} required username="a" password="b";'
        for name, module in LOGIN.items()
    },
}
RETRIEVERS: Final = ("DefaultJwtRetriever", "JwtBearerJwtRetriever")

READ_BY_OTHERS: Final = {
    "config.providers": "protocol/kraftctl_security/config_providers/resolve.py",
    "log.dir": "kraftctl/config/controller_config.py",
    "remote.log.storage.system.enable": "kraftctl/controller/configuration_control/validate_topic_configs.py",
    "group.streams.assignors": "kraftctl/config/group_checks.py",
}
"""Keys that ControllerConfig does not ask for, at least not here, with the module that does."""


def plain(key: str) -> str:
    """The key without the prefix of a listener and a mechanism."""
    return re.sub(rf"^listener\.name\.controller\.(({'|'.join(MECHANISMS)})\.)?", "", key)


class Asked:
    """The keys that ControllerConfig asks for, and default and least value of those that are numbers."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.numbers: dict[str, tuple[int, int | None]] = {}


@pytest.fixture(scope="module")
def asked() -> Asked:
    found = Asked()
    has, number = ConfigValues.has, ConfigValues._number

    def noting_key(self, key: str) -> bool:
        found.keys.add(plain(key))
        return has(self, key)

    def noting_number(self, key: str, default: int, at_least: int | None, bits: int, kind: str) -> int:
        if key == plain(key):
            found.numbers[key] = (default, at_least)
        return number(self, key, default, at_least, bits, kind)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConfigValues, "has", noting_key)
        patch.setattr(ConfigValues, "_number", noting_number)
        ControllerConfig(PLAIN)
        for retriever in RETRIEVERS:
            with pytest.raises(ConfigException):  # its stores and handlers are not named
                ControllerConfig(SECURED | {"sasl.oauthbearer.jwt.retriever.class": OAUTH + retriever})
    return found


def test_every_key_that_is_read_is_said_to_be_used_and_no_other(asked: Asked) -> None:
    used = {name for name, row in ROWS.items() if row.used}
    assert used == asked.keys | set(READ_BY_OTHERS) | set(GROUPS)
    assert set(READ_BY_OTHERS).isdisjoint(asked.keys)


@pytest.mark.parametrize("key", READ_BY_OTHERS)
def test_what_others_read_is_named_there(key: str) -> None:
    source = (ROOT / READ_BY_OTHERS[key]).read_text()
    literals = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert key in literals


def test_defaults_and_least_values_are_those_of_the_code(asked: Asked) -> None:
    wrong = {}
    for key, (default, least) in asked.numbers.items():
        row = ROWS[key]
        if row.default is not None and row.default != str(default):
            wrong[key] = (row.default, default)
        if least is not None and not row.values.startswith(f"{least}.."):
            wrong[key] = (row.values, least)
    assert wrong == {}


def test_every_key_that_a_node_may_have_is_there() -> None:
    assert (set(OWN_KEYS) | NODE_KEYS) - set(ROWS) == set()
    assert set(OWN_KEYS) == {name for name in ROWS if name.startswith("kraftctl.")}


def test_no_key_of_the_reference_is_warned_about() -> None:
    assert unknown_keys_of_node(dict.fromkeys(ROWS, "")) == {}


def test_the_start_names_no_key_as_unused_that_the_page_says_is_used(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without `remote.log.storage.system.enable`, `remote.storage.enable` of topics would be refused."""
    refused = {"broker.id", "sasl.enabled.mechanisms", "sasl.mechanism.controller.protocol"}
    others = {name: row.default for name, row in ROWS.items() if row.default and name not in refused}
    with caplog.at_level(logging.INFO):
        announce(
            ControllerConfig(others | PLAIN | {"listener.security.protocol.map": "CONTROLLER:PLAINTEXT"}),
            MetaProperties("q1Sh-9_ISia_zwGINzRvyQ", 3000, None),
        )
    (line,) = [each.message for each in caplog.records if "does not use" in each.message]
    named = line.partition(": ")[2].split(", ")
    assert "log.retention.hours" in named
    assert [name for name in named if ROWS[name].used] == []


def test_what_is_not_used_says_why() -> None:
    rows = [row for row in ROWS.values() if not row.used]
    assert rows
    assert {row.subject for row in rows} == {NOT_USED}
    assert all(row.meaning for row in ROWS.values())
    assert ROWS["log.retention.ms"].meaning.endswith("shown as the default of `retention.ms`")


@pytest.mark.parametrize(
    ("key", "dynamic"),
    [
        ("max.connections", "node, cluster, listener"),
        ("max.connections.per.ip", "node, cluster"),
        ("unclean.leader.election.enable", "node, cluster"),
        ("ssl.keystore.location", "listener"),
        ("ssl.truststore.location", "listener, with `kraftctl.dynamic.trust`"),
        ("log.retention.ms", ""),
        ("follower.replication.throttled.rate", "dynamic only"),
    ],
)
def test_what_changes_at_run_time(key: str, dynamic: str) -> None:
    assert ROWS[key].dynamic == dynamic


def test_each_key_that_a_file_may_have_is_checked_unless_the_page_says_otherwise() -> None:
    """Kafka defines no key of a file for the limits of replication, and clients have header.urlencode."""
    unchecked = set()
    for key, row in ROWS.items():
        if row.type not in ("BOOLEAN", "INT", "LONG", "SHORT", "DOUBLE"):
            continue
        try:
            ControllerConfig({**PLAIN, key: "banana"})
        except ConfigException:
            continue
        unchecked.add(key)
    named = {key for key in unchecked if f"`{key}`" in HEAD}
    assert named == {"sasl.oauthbearer.header.urlencode"}
    assert unchecked - named == {key for key, row in ROWS.items() if row.dynamic == "dynamic only"}


@pytest.mark.parametrize(
    ("key", "end"),
    [
        ("group.streams.assignors", " Since 4.4."),
        ("log.remote.copy.lag.ms", "; since 4.4"),
        ("group.streams.max.size", "brokers"),
    ],
)
def test_a_key_that_the_reference_release_does_not_have_says_so(key: str, end: str) -> None:
    assert ROWS[key].meaning.endswith(end)
    assert len([row for row in ROWS.values() if "ince 4.4" in row.meaning]) == 19


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("controller.socket.timeout.ms", "kraftctl does not use it"),
        ("errors.deadletterqueue.topic.name.prefix", "share groups are coordinated by brokers"),
        ("broker.rack", "only brokers have it"),
    ],
)
def test_the_reason_of_a_key_that_is_not_used_is_true_of_kafka(key: str, why: str) -> None:
    """Kafka's controllers use controller.socket.timeout.ms when they register."""
    assert ROWS[key].meaning.startswith(why)


def test_no_default_is_not_the_value_none() -> None:
    lines = {
        line.split(" | ")[0]: line.split(" | ")[2]
        for line in page(ROWS.values()).splitlines()
        if " | " in line
    }
    assert lines["| `ssl.client.auth`"] == "`none`"
    assert lines["| `ssl.keystore.location`"] == "none"
    assert lines["| `super.users`"] == "empty"


def test_the_page_is_that_of_the_code() -> None:
    assert (ROOT / "docs/reference/configs.md").read_text() == page(ROWS.values()), "run make generate"


def test_text_and_json_have_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert [line.split()[0] for line in text_table(ROWS.values()).splitlines()[1:]] == list(ROWS)
    assert main(["inspect", "configs", "--output", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(ROWS)
    assert next(row["name"] for row in rows if row["secret"]) == "ssl.keystore.password"


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("ssl.client.auth", "ssl.client.auth"),
        ("listener.name.controller.ssl.client.auth", "ssl.client.auth"),
        ("listener.name.controller.scram-sha-512.sasl.jaas.config", "sasl.jaas.config"),
        ("broker.rack", "broker.rack"),
    ],
)
def test_one_key_is_found_with_any_prefix_that_it_may_have(
    name: str, row: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", "configs", name]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["KEY", row]


@pytest.mark.parametrize(
    ("what", "name", "text"),
    [
        ("configs", "controler.listener.names", "did you mean controller.listener.names?"),
        ("configs", "listener.name.controller.nonsense.of.mine", "Next step: kraftctl inspect configs"),
        ("metrics", "kafka_controller_active_count", "Next step: kraftctl inspect metrics"),
    ],
)
def test_a_name_that_is_none_is_answered_by_the_most_similar_one(
    what: str, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", what, name]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert text in printed.err
