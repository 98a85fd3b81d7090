"""ControllerConfig: Kafka's defaults, types, ranges and error texts; all bad keys are reported together."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.config.endpoints import Endpoint, parse_host_port
from kraftctl.raft.raft_config import RaftConfig
from tests.support.controller_properties import controller_properties

MINIMAL = controller_properties(static=True)

WITH_KEY = {
    "inter.broker.listener.name": {"listener.security.protocol.map": "EXTERNAL:SSL,CONTROLLER:PLAINTEXT"}
}
"""What some keys need beside them."""

KEYS_OF_TEST_KITS = Path(__file__).parent / "data" / "controller-properties-seen.csv"


def config(**changes: str | None) -> ControllerConfig:
    """MINIMAL with changes; `__` in a name is a dot, None removes the key."""
    properties = dict(MINIMAL)
    for name, value in changes.items():
        key = name.replace("__", ".")
        if value is None:
            properties.pop(key, None)
        else:
            properties[key] = value
    return ControllerConfig(properties)


def errors(**changes: str | None) -> list[str]:
    with pytest.raises(ConfigException) as caught:
        config(**changes)
    return caught.value.errors


def test_defaults_are_those_of_kafka_4_3() -> None:
    default = config()
    assert default.broker_session_timeout_ms == 9_000
    assert default.broker_heartbeat_interval_ms == 2_000
    assert default.controller_quorum_election_timeout_ms == 1_000
    assert default.controller_quorum_fetch_timeout_ms == 2_000
    assert default.controller_quorum_election_backoff_max_ms == 1_000
    assert default.controller_quorum_request_timeout_ms == 2_000
    assert default.controller_quorum_retry_backoff_ms == 20
    assert (
        default.controller_quorum_fetch_max_bytes
        == default.controller_quorum_fetch_snapshot_max_bytes
        == 2**20
    )
    assert default.metadata_max_idle_interval_ms == 500
    assert default.metadata_log_segment_bytes == 2**30
    assert default.metadata_log_max_record_bytes_between_snapshots == 20 * 2**20
    assert default.metadata_log_max_snapshot_interval_ms == 3_600_000
    assert default.metadata_max_retention_bytes == 100 * 2**20
    assert default.num_partitions == default.default_replication_factor == default.min_insync_replicas == 1
    assert default.leader_imbalance_check_interval_seconds == 300
    assert default.unclean_leader_election_interval_ms == 300_000
    assert (default.delete_topic_enable, default.auto_leader_rebalance_enable) == (True, True)
    assert (default.unclean_leader_election_enable, default.controller_quorum_auto_join_enable) == (
        False,
        False,
    )
    assert default.socket_request_max_bytes == 100 * 2**20
    assert default.max_connections == default.max_connections_per_ip == 2**31 - 1
    assert default.connections_max_idle_ms == 600_000
    assert (default.controller_quota_window_num, default.controller_quota_window_size_seconds) == (11, 1)
    assert default.delegation_token_max_lifetime_ms == 7 * 86_400_000
    assert (default.metadata_log_dir, default.log_dirs) == ("data", ["data"])
    assert default.observer_fetch_interval_ms == RaftConfig().observer_fetch_interval_ms == 1
    assert default.unused_keys == []


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        pytest.param("num.partitions", " +12 ", 12, id="blanks-and-plus"),
        pytest.param("delete.topic.enable", "FALSE", False, id="boolean-in-any-case"),
        pytest.param("metadata.max.idle.interval.ms", "0", 0, id="zero-allowed"),
        pytest.param("unclean.leader.election.interval.ms", str(2**63 - 1), 2**63 - 1, id="largest-long"),
        pytest.param(
            "super.users", "User:ANONYMOUS;User:CN=a,O=b", ["User:ANONYMOUS", "User:CN=a,O=b"], id="users"
        ),
        pytest.param(
            "kraftctl.node.principals", "User:b-{id}; User:c-{id}", ["User:b-{id}", "User:c-{id}"], id="nodes"
        ),
        pytest.param("kraftctl.dynamic.trust", "TRUE", True, id="trust-in-the-log"),
        pytest.param("kraftctl.observer.fetch.interval.ms", "0", 0, id="every-change-wakes-observers"),
        pytest.param("log.dirs", "a , b,a", ["a", "b"], id="repeated-list-entry"),
    ],
)
def test_values_are_read_as_java_reads_them(key: str, value: str, expected: object) -> None:
    field = key.removeprefix("kraftctl.").replace(".", "_")
    assert getattr(config(**{key.replace(".", "__"): value}), field) == expected


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        pytest.param("num.partitions", "x", "it is no INT", id="not-a-number"),
        pytest.param("num.partitions", "1_000", "it is no INT", id="python-only-spelling"),
        pytest.param("num.partitions", str(2**31), "it is no INT", id="over-32-bits"),
        pytest.param("num.partitions", "0", "it must be at least 1", id="too-small"),
        pytest.param("metadata.log.segment.ms", str(2**63), "it is no LONG", id="over-64-bits"),
        pytest.param("metadata.log.segment.bytes", "1024", "it must be at least 8388608", id="small-segment"),
        pytest.param("delete.topic.enable", "yes", "it is neither true nor false", id="boolean"),
        pytest.param("node.id", "-1", "it must be at least 0", id="negative-node"),
        pytest.param(
            "kraftctl.node.principals",
            "User:broker",
            "expected Type:name entries with {id} for the id of the node, got 'User:broker'",
            id="node-without-id",
        ),
        pytest.param(
            "kraftctl.observer.fetch.interval.ms", "-1", "it must be at least 0", id="interval-in-the-past"
        ),
        pytest.param(
            "authorizer.class.name",
            "a.B",
            "it must be one of , org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            id="authorizer-class",
        ),
    ],
)
def test_a_bad_value_is_named_with_its_key_as_kafka_words_it(key: str, value: str, error: str) -> None:
    assert f"Invalid value {value} for configuration {key}: {error}" in errors(
        **{key.replace(".", "__"): value}
    )


@pytest.mark.parametrize("key", ["process.roles", "node.id", "controller.listener.names"])
def test_required_keys(key: str) -> None:
    expected = f'Missing required configuration "{key}": it has no default.'
    assert expected in errors(**{key.replace(".", "__"): None})


def test_the_default_of_listeners_is_kafkas() -> None:
    (error,) = errors(listeners=None)
    assert error.startswith(
        'Missing required configuration "listeners": its default, PLAINTEXT://:9092, is not'
    )
    found = config(listeners=None, controller__listener__names="PLAINTEXT")
    assert found.listeners == [Endpoint("PLAINTEXT", "PLAINTEXT", None, 9092)]


def test_all_mistakes_are_reported_together() -> None:
    found = errors(num__partitions="x", broker__session__timeout__ms="", listeners="bad", log__dirs=None)
    assert len(found) == 4


@pytest.mark.parametrize("roles", ["broker", "broker,controller"])
def test_it_is_a_controller_only(roles: str) -> None:
    assert any("process.roles" in error and "controller" in error for error in errors(process__roles=roles))


def test_broker_id_is_the_old_name_of_node_id() -> None:
    assert config(node__id=None, broker__id="3000").node_id == 3000
    assert config(broker__id="3000").node_id == 3000
    assert any("broker.id" in error for error in errors(broker__id="1"))


def test_one_of_voters_and_bootstrap_servers_is_needed() -> None:
    (error,) = errors(controller__quorum__voters=None)
    assert "controller.quorum.bootstrap.servers" in error
    assert "controller.quorum.voters" in error
    dynamic = config(controller__quorum__voters=None, controller__quorum__bootstrap__servers="a:1,[::1]:2")
    assert dynamic.controller_quorum_bootstrap_servers == [("a", 1), ("::1", 2)]
    assert dynamic.controller_quorum_voters == {}


@pytest.mark.parametrize(
    ("listeners", "host", "port"),
    [
        pytest.param("CONTROLLER://localhost:9093", "localhost", 9093, id="name"),
        pytest.param("controller://10.0.0.1:9093", "10.0.0.1", 9093, id="lower-case"),
        pytest.param("CONTROLLER://:9093", None, 9093, id="wildcard"),
        pytest.param("CONTROLLER://[::1]:0", "::1", 0, id="ipv6"),
        pytest.param("CONTROLLER://fe80::1%eth0:1", "fe80::1%eth0", 1, id="ipv6-zone"),
    ],
)
def test_listeners(listeners: str, host: str | None, port: int) -> None:
    assert config(listeners=listeners).listeners == [Endpoint("CONTROLLER", "PLAINTEXT", host, port)]


JAAS = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="c" password="p" user_c="p";'
)
PLAIN = {
    "sasl__enabled__mechanisms": "PLAIN",
    "sasl__mechanism__controller__protocol": "PLAIN",
    "listener__name__controller__plain__sasl__jaas__config": JAAS,
}


def test_keys_for_sasl_are_read_for_listeners_that_use_it() -> None:
    assert config(sasl__enabled__mechanisms="GSSAPI").sasl == {}
    assert config().controller_sasl is None
    found = config(listener__security__protocol__map="CONTROLLER:SASL_PLAINTEXT", **PLAIN)
    assert list(found.sasl) == ["CONTROLLER"]
    assert list(found.sasl["CONTROLLER"].mechanisms) == ["PLAIN"]
    assert found.controller_sasl is not None
    assert found.controller_sasl.options["username"] == "c"
    assert found.ssl == {}
    missing = errors(
        listener__security__protocol__map="CONTROLLER:SASL_PLAINTEXT", sasl__enabled__mechanisms="PLAIN"
    )
    assert len(missing) == 2, "a mechanism of the listener, and the one for other controllers"


def test_over_ssl_sasl_asks_for_a_certificate_only_with_the_prefix_of_the_listener() -> None:
    """KIP-684, as Kafka's ChannelBuilders."""
    keys = {
        "listener__security__protocol__map": "CONTROLLER:SASL_SSL",
        "ssl__keystore__type": "PEM",
        "ssl__keystore__location": "key.pem",
        "ssl__truststore__type": "PEM",
        "ssl__truststore__location": "ca.pem",
        **PLAIN,
    }
    found = config(ssl__client__auth="required", **keys)
    assert (list(found.ssl), list(found.sasl)) == (["CONTROLLER"], ["CONTROLLER"])
    assert found.ssl["CONTROLLER"].client_auth == "none"
    assert any("set listener.name.controller.ssl.client.auth" in warning for warning in found.warnings)
    found = config(listener__name__controller__ssl__client__auth="required", **keys)
    assert found.ssl["CONTROLLER"].client_auth == "required"
    assert found.warnings == []


def test_keys_for_ssl_are_read_for_listeners_that_use_it() -> None:
    assert config(ssl__truststore__password="no truststore").ssl == {}
    keys = {"ssl__keystore__type": "PEM", "ssl__keystore__location": "key.pem"}
    found = config(listener__security__protocol__map="CONTROLLER:SSL", **keys)
    assert list(found.ssl) == ["CONTROLLER"]
    assert [endpoint.security_protocol for endpoint in found.advertised_listeners] == ["SSL"]
    (missing,) = errors(listener__security__protocol__map="CONTROLLER:SSL")
    assert '"ssl.keystore.location": listener CONTROLLER uses SSL' in missing


def test_the_protocol_map_may_name_strangers_and_end_in_a_comma() -> None:
    found = config(listener__security__protocol__map="external:SASL_SSL, CONTROLLER:PLAINTEXT,")
    assert found.listener_security_protocol_map == {"EXTERNAL": "SASL_SSL", "CONTROLLER": "PLAINTEXT"}


@pytest.mark.parametrize(
    ("changes", "host", "port"),
    [
        pytest.param({}, "localhost", 9093, id="as-bound"),
        pytest.param(
            {"advertised__listeners": "CONTROLLER://public:19093"}, "public", 19093, id="advertised"
        ),
        pytest.param(
            {"listeners": "CONTROLLER://:9093", "controller__quorum__voters": "3000@me:5"},
            "me",
            5,
            id="as-voter",
        ),
        pytest.param(
            {
                "listeners": "CONTROLLER://0.0.0.0:9093",
                "controller__quorum__voters": None,
                "controller__quorum__bootstrap__servers": "h:1",
            },
            None,
            9093,
            id="host-name-to-be-found",
        ),
    ],
)
def test_what_is_advertised(changes: dict[str, str | None], host: str | None, port: int) -> None:
    assert config(**changes).advertised_listeners == [Endpoint("CONTROLLER", "PLAINTEXT", host, port)]


def test_a_directory_is_needed_and_metadata_log_dir_goes_first() -> None:
    assert len(errors(log__dirs=None)) == 1
    assert config(metadata__log__dir="meta").metadata_log_dir == "meta"
    assert config(log__dirs=None, log__dir="old").metadata_log_dir == "old"


@pytest.mark.parametrize(
    "key",
    ["create.topic.policy.class.name", "alter.config.policy.class.name", "client.quota.callback.class"],
)
def test_rules_in_java_classes_are_not_silently_dropped(key: str) -> None:
    assert any(key in error for error in errors(**{key.replace(".", "__"): "com.example.Policy"}))


def test_late_heartbeats_are_warned_about() -> None:
    assert config().warnings == []
    (warning,) = config(broker__session__timeout__ms="3000").warnings
    assert "broker.session.timeout.ms (3000)" in warning


def test_unknown_keys_are_kept_and_named() -> None:
    found = config(log__retention__ms="-1", my__own="x")
    assert found.unused_keys == ["log.retention.ms", "my.own"]
    assert found.originals["log.retention.ms"] == "-1"


@pytest.mark.parametrize(
    "key",
    [
        "auto.create.topics.enable",
        "controller.performance.always.log.threshold.ms",
        "controller.quorum.append.linger.ms",
        "internal.metadata.delete.delay.millis",
        "internal.metadata.max.batch.size.in.bytes",
        "queued.max.requests",
        "request.timeout.ms",
        "server.max.startup.time.ms",
    ],
)
def test_a_key_without_effect_is_named_as_unused(key: str) -> None:
    value = "true" if key.endswith(".enable") else "1000"
    assert ControllerConfig({**MINIMAL, key: value}).unused_keys == [key]


def test_every_key_that_kafkas_test_kits_pass_is_accepted() -> None:
    with KEYS_OF_TEST_KITS.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 50
    for row in rows:
        for value in row["values"].split(" | "):
            ControllerConfig({**MINIMAL, **WITH_KEY.get(row["key"], {}), row["key"]: value})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h:1", ("h", 1)),
        ("[::1]:65535", ("::1", 65535)),
        ("PLAINTEXT://h:1", ("h", 1)),
        ("h", None),
        (":1", None),
        ("h:65536", None),
        ("a b:1", None),
    ],
)
def test_host_and_port(text: str, expected: tuple[str, int] | None) -> None:
    assert parse_host_port(text) == expected
