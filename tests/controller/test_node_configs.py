"""Dynamic broker configs of a controller: which it obeys, and what it refuses."""

from __future__ import annotations

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.dynamic_keys import LIMIT_KEYS, LISTENER_LIMIT_KEYS, STORE_KEYS, TRUST_KEYS
from kraftctl.controller.configuration_control.incremental_alter_configs import APPEND, DELETE, SET
from kraftctl.controller.configuration_control.node_configs import node_configs
from kraftctl.controller.state.dynamic_broker_config import DynamicBrokerConfig
from kraftctl.controller.state.effective_configs import OBEYED_CONFIGS
from kraftctl.controller.state.obeyed_configs import ObeyedConfigs
from kraftctl.metadata import features
from kraftctl.metadata.config_definitions.config_key import BOOLEAN, DOUBLE, INT, LONG
from kraftctl.metadata.config_definitions.config_source import DYNAMIC_DEFAULT_BROKER_CONFIG
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_configs_request import AlterableConfig as LegacyConfig
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsResource as LegacyResource
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResourceResult
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.active_controller import BASE_PROPERTIES, NODE_ID, ActiveController

OWN = str(NODE_ID)
PREFIX = "listener.name.controller."
OBEYED = {*LIMIT_KEYS, *OBEYED_CONFIGS}


def value_for(key: str) -> str:
    """One that is not the default."""
    definition = BROKER_CONFIG_KEYS.get(key)
    kind = None if definition is None else definition.type
    if kind == BOOLEAN:
        return "false" if definition is not None and definition.default == "true" else "true"
    return {INT: "7", LONG: "7", DOUBLE: "0.7"}.get(kind or "", "127.0.0.1:7")


def alter(active: ActiveController, name: str, key: str, value: str | None) -> Errors:
    change = AlterableConfig(name=key, config_operation=DELETE if value is None else SET, value=value)
    resource = AlterConfigsResource(resource_type=BROKER, resource_name=name, configs=[change])
    answer = active.request(IncrementalAlterConfigsRequest(resources=[resource]))
    return Errors(answer.responses[0].error_code)


def described(
    active: ActiveController, name: str = OWN, keys: list[str] | None = None
) -> dict[str, DescribeConfigsResourceResult]:
    resource = DescribeConfigsResource(resource_type=BROKER, resource_name=name, configuration_keys=keys)
    answer = active.request(DescribeConfigsRequest(resources=[resource], include_synonyms=True))
    return {entry.name: entry for entry in answer.results[0].configs}


def store(active: ActiveController, name: str, key: str, value: str | None) -> None:
    """As a controller that checks nothing has stored it."""
    active.controller.image.configurations.replay(ConfigRecord(BROKER, name, key, value), 0)


ALL_KEYS = sorted({*BROKER_CONFIG_KEYS, *DYNAMIC_BROKER_CONFIGS})
"""Also those that Kafka reads only at a start."""


@pytest.mark.parametrize(
    ("name", "prefix", "obeyed"),
    [
        pytest.param(OWN, "", OBEYED, id="node"),
        pytest.param(CLUSTER_DEFAULT, "", OBEYED, id="cluster"),
        pytest.param(OWN, PREFIX, set(LISTENER_LIMIT_KEYS), id="node-and-listener"),
        pytest.param(CLUSTER_DEFAULT, PREFIX, set(LISTENER_LIMIT_KEYS), id="cluster-and-listener"),
        pytest.param(OWN, "listener.name.other.", set(), id="node-and-another-listener"),
        pytest.param(CLUSTER_DEFAULT, "listener.name.other.", set(), id="cluster-and-another-listener"),
    ],
)
def test_every_key_is_obeyed_or_has_no_effect(name: str, prefix: str, obeyed: set[str]) -> None:
    """All keys that Kafka defines, dynamic or not, at each level."""
    config = ActiveController().config
    stored = {prefix + base: value_for(base) for base in ALL_KEYS}
    if name == OWN:
        used = node_configs(config, stored, {})
        assert {each.key for each in used.unused} == stored.keys() - used.own.keys()
    else:
        used = node_configs(config, {}, stored)
    assert {**used.own, **used.cluster}.keys() == {prefix + key for key in obeyed}


@pytest.mark.parametrize(("key", "value"), [("max.connections", "3"), ("max.connections.per.ip", "4")])
def test_a_limit_is_shown_as_it_is_in_effect(key: str, value: str) -> None:
    """Kafka changes nothing any more after num.io.threads=1000: it neither obeys nor shows the limit."""
    active = ActiveController()
    assert alter(active, CLUSTER_DEFAULT, "num.io.threads", "1000") == Errors.NONE
    assert alter(active, OWN, key, value) == Errors.NONE
    shown = described(active)
    assert (shown[key].value, shown["num.io.threads"].value) == (value, "8")
    assert shown["num.io.threads"].synonyms[0].value == "1000"


UNUSED = [
    *(
        (key, value)
        for key in ("max.connections", PREFIX + "max.connections")
        for value in ("0", "x", " -1 ")
    ),
    *(("max.connection.creation.rate", value) for value in ("0", "fast")),
    (PREFIX + "max.connection.creation.rate", "0"),
    *(("max.connections.per.ip", value) for value in ("0", "-1", "x")),
    *(("max.connections.per.ip.overrides", value) for value in ("127.0.0.1", ":3", "127.0.0.1:x")),
]
"""Limits with values that Kafka may have stored."""


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("name", [OWN, CLUSTER_DEFAULT])
@pytest.mark.parametrize(("key", "value"), UNUSED)
def test_a_limit_has_the_source_of_its_value(key: str, value: str, name: str, in_file: bool) -> None:
    """One without effect is no source: the default of the cluster is, if that is obeyed, then the file."""
    usable = "127.0.0.1:7" if key.endswith("overrides") else "7"
    active = ActiveController(features.LATEST_PRODUCTION, 1, **({key: usable} if in_file else {}))
    before = described(active).get(key)
    store(active, name, key, value)
    assert described(active).get(key) == before
    if name == CLUSTER_DEFAULT:
        found = described(active, CLUSTER_DEFAULT).get(key)
        assert found is None or found.value == value, "the default of all nodes is shown as it is stored"
        return
    of_cluster = "127.0.0.1:9" if key.endswith("overrides") else "9"
    store(active, CLUSTER_DEFAULT, key, of_cluster)
    shown = described(active)[key]
    if (key, value) == ("max.connections.per.ip", "0"):
        assert shown == before, "no client could connect: no dynamic limit of addresses is obeyed"
        return
    assert (shown.value, shown.config_source) == (of_cluster, DYNAMIC_DEFAULT_BROKER_CONFIG)
    assert shown.synonyms[0].value == of_cluster


@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_what_a_node_does_not_obey_is_not_shown_of_its_own(prefix: str) -> None:
    """All keys that Kafka defines: what is in effect is shown, of the cluster, the file or Kafka itself."""
    active = ActiveController(features.LATEST_PRODUCTION, 1, num_network_threads="4")
    alter(active, CLUSTER_DEFAULT, "num.io.threads", "9")
    before = described(active)
    for base in ALL_KEYS:
        store(active, OWN, prefix + base, value_for(base))
    obeyed = node_configs(active.config, active.controller.image.configurations.config(BROKER, OWN), {}).own
    assert {key for key, entry in described(active).items() if entry != before.get(key)} == obeyed.keys()


def test_truststores_that_are_not_used_are_not_shown() -> None:
    key = "listener.name.controller.ssl.truststore.location"
    for name, allowed in (("false", False), ("true", True)):
        ssl = {"listener.security.protocol.map": "CONTROLLER:SSL", "ssl.keystore.location": "/keys.pem"}
        ssl |= {"ssl.keystore.type": "PEM", "kraftctl.dynamic.trust": name}
        active = ActiveController(features.LATEST_PRODUCTION, 1, **ssl)
        store(active, OWN, key, "/other.jks")
        assert (key in described(active)) == allowed


def test_what_is_not_obeyed_is_stored_named_and_can_be_deleted() -> None:
    active = ActiveController()
    keys = ["log.cleaner.threads", "num.io.threads", "node.id", "ssl.keystore.password", "no.such.key"]
    for key in keys:
        assert alter(active, OWN, key, "7") == Errors.NONE, key
    stored = active.controller.image.configurations.config(BROKER, OWN)
    assert sorted(stored) == sorted(keys)
    lines = "\n".join(each.line() for each in node_configs(active.config, stored, {}).unused)
    assert "The dynamic config log.cleaner.threads=7 of node 3000 has no effect on this controller" in lines
    assert "ssl.keystore.password=(redacted)" in lines, "a password is in no line"
    assert "no.such.key=(redacted)" in lines
    assert len(lines.splitlines()) == len(keys)
    for key in keys:
        assert alter(active, OWN, key, None) == Errors.NONE, key
    assert active.controller.image.configurations.config(BROKER, OWN) == {}


OWN_STORE_KEYS = [
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
]
"""The key and the certificate that a controller shows."""


@pytest.mark.parametrize("trust", ["false", "true"])
def test_stores_of_a_listener_that_uses_ssl_are_obeyed_but_none_changes_whom_it_trusts(trust: str) -> None:
    """Of all keys, with the prefix of the listener: what else has a part in that is no dynamic config."""
    ssl = {"listener.security.protocol.map": "CONTROLLER:SASL_SSL", "ssl.keystore.type": "PEM"}
    ssl |= {"ssl.keystore.location": "/keys.pem", "kraftctl.dynamic.trust": trust}
    ssl |= {"sasl.enabled.mechanisms": "SCRAM-SHA-512", "sasl.mechanism.controller.protocol": "SCRAM-SHA-512"}
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required username=a password=b;"
    ssl[PREFIX + "scram-sha-512.sasl.jaas.config"] = scram
    config = ControllerConfig({**BASE_PROPERTIES, **ssl})
    own = {PREFIX + key: "7" for key in (*ALL_KEYS, *STORE_KEYS, "scram-sha-512.sasl.jaas.config")}
    used = node_configs(config, own, {})
    obeyed = {*LISTENER_LIMIT_KEYS, *(STORE_KEYS if trust == "true" else OWN_STORE_KEYS)}
    assert sorted(used.own) == sorted(PREFIX + key for key in obeyed)
    assert {*STORE_KEYS} - {*OWN_STORE_KEYS} == {*TRUST_KEYS}
    refused = [each.line() for each in used.unused if "whom a controller trusts is decided" in each.line()]
    assert len(refused) == (0 if trust == "true" else len(TRUST_KEYS))
    assert node_configs(config, {}, own).cluster.keys() == {PREFIX + key for key in LISTENER_LIMIT_KEYS}


@pytest.mark.parametrize("key", TRUST_KEYS)
@pytest.mark.parametrize("listener", ["controller", "other", "with.dots"])
def test_nobody_changes_whom_a_controller_trusts_through_the_log(key: str, listener: str) -> None:
    """Of no controller: who may alter configs would else connect as any of them. A broker's is its own."""
    active = ActiveController()
    active.start_brokers(1)
    active.controller.follow_quorum(NODE_ID, 1, [NODE_ID, 3001])
    prefixed = f"listener.name.{listener}.{key}"
    for name in (OWN, "3001", CLUSTER_DEFAULT):
        for operation in (SET, APPEND):
            change = AlterableConfig(name=prefixed, config_operation=operation, value="hush")
            resource = AlterConfigsResource(resource_type=BROKER, resource_name=name, configs=[change])
            answer = active.request(IncrementalAlterConfigsRequest(resources=[resource])).responses[0]
            assert answer.error_code in (Errors.INVALID_CONFIG, Errors.INVALID_REQUEST)
        kept = [LegacyConfig("min.insync.replicas", "1")] if name == CLUSTER_DEFAULT else []
        whole = LegacyResource(BROKER, name, [*kept, LegacyConfig(prefixed, "hush")])
        (refused,) = active.request(AlterConfigsRequest(resources=[whole])).responses
        assert refused.error_code == Errors.INVALID_CONFIG
        text = f"{prefixed} would change whom a controller trusts, which its properties file decides."
        assert refused.error_message is not None
        assert refused.error_message.startswith(text)
        assert "hush" not in refused.error_message
        store(active, name, prefixed, "hush")
        assert alter(active, name, prefixed, None) == Errors.NONE, "what is there can be deleted"
    assert alter(active, "1", prefixed, "hush") == Errors.NONE
    assert alter(active, OWN, f"listener.name.{listener}.ssl.keystore.location", "/k") == Errors.NONE
    allowed = ActiveController(kraftctl_dynamic_trust="true")
    assert alter(allowed, OWN, prefixed, "hush") == Errors.NONE


INVALID = [
    ("max.connections", "0"),
    ("max.connections", "-1"),
    ("max.connections", "three"),
    ("max.connections", ""),
    ("max.connections", "2147483648"),
    ("max.connections.per.ip", "-1"),
    ("max.connections.per.ip", "1.5"),
    ("max.connections.per.ip.overrides", "127.0.0.1"),
    ("max.connections.per.ip.overrides", "127.0.0.1:x"),
    ("max.connections.per.ip.overrides", ":3"),
    ("max.connections.per.ip.overrides", "127.0.0.1:99999999999999999999999"),
    ("max.connections.per.ip.overrides", "127.0.0.1:\u00b2"),
    ("max.connection.creation.rate", "0"),
    ("max.connection.creation.rate", "fast"),
    (PREFIX + "max.connections", "0"),
    (PREFIX + "max.connections", "x"),
    (PREFIX + "max.connection.creation.rate", "-5"),
    ("min.insync.replicas", "0"),
    ("unclean.leader.election.enable", "maybe"),
]


@pytest.mark.parametrize(("key", "value"), INVALID)
def test_invalid_values_are_refused_and_never_obeyed(key: str, value: str) -> None:
    """Of the node that is asked, of another controller, and of the cluster; and if they are stored."""
    active = ActiveController()
    active.controller.follow_quorum(NODE_ID, 1, [NODE_ID, 3001])
    before = described(active)[key.removeprefix(PREFIX)].value
    for name in (OWN, "3001", CLUSTER_DEFAULT):
        assert alter(active, name, key, value) == Errors.INVALID_CONFIG, name
    for name in (OWN, CLUSTER_DEFAULT):
        store(active, name, key, value)
        shown = described(active).get(key)
        assert shown is None or shown.value == before, name


def test_no_keys_are_all_keys() -> None:
    """As in Kafka; a key that does not exist is left out."""
    active = ActiveController(listener_name_controller_max_connections="9")
    assert list(described(active, keys=[])) == list(described(active, keys=None))
    keys = ["no.such.key", "node.id", "listener.name.controller.max.connections"]
    found = described(active, keys=keys)
    assert {name: entry.value for name, entry in found.items()} == {keys[1]: OWN, keys[2]: "9"}


def test_a_broker_decides_about_its_own_configs() -> None:
    active = ActiveController()
    active.start_brokers(1)
    assert alter(active, "1", "max.connections", "three") == Errors.NONE


def test_nobody_is_locked_out() -> None:
    """max.connections.per.ip=0 needs an override, as in Kafka: the last one cannot be taken away."""
    active = ActiveController()
    overrides = "max.connections.per.ip.overrides"
    for name in (OWN, CLUSTER_DEFAULT):
        assert alter(active, name, "max.connections.per.ip", "0") == Errors.INVALID_CONFIG
        assert alter(active, name, overrides, "127.0.0.1:9") == Errors.NONE
        assert alter(active, name, "max.connections.per.ip", "0") == Errors.NONE
        assert alter(active, name, overrides, None) == Errors.INVALID_CONFIG
        assert alter(active, name, overrides, "") == Errors.INVALID_CONFIG
        assert alter(active, name, "max.connections.per.ip", None) == Errors.NONE
        assert alter(active, name, overrides, None) == Errors.NONE
    store(active, CLUSTER_DEFAULT, "max.connections.per.ip", "x")
    assert alter(active, OWN, overrides, "127.0.0.1:9") == Errors.NONE, "what others stored is no obstacle"
    assert alter(active, OWN, overrides, None) == Errors.NONE
    store(active, OWN, "max.connections.per.ip", "0")
    assert described(active)["max.connections.per.ip"].value == "2147483647"


@pytest.mark.parametrize(
    "prefix", ["", PREFIX, "listener.name.other."], ids=["node", "its-listener", "another"]
)
def test_what_is_shown_of_its_own_is_what_has_an_effect(prefix: str) -> None:
    """Both ask one rule; a listener that only brokers have is shown, and has none here."""
    config = ControllerConfig(BASE_PROPERTIES)
    obeyed, dynamic = ObeyedConfigs(config), DynamicBrokerConfig(config)
    for base in sorted(BROKER_CONFIG_KEYS):
        key = f"{prefix}{base}"
        why_not = obeyed.why_not(key)
        assert dynamic._is_without_effect(key, prefix, base) == (
            why_not is not None and prefix in ("", PREFIX)
        )
        unused = node_configs(config, {key: value_for(base)}, {}).unused
        assert [each.reason for each in unused] == [why_not] or why_not is None, key
