"""IncrementalAlterConfigs, AlterConfigs, DescribeConfigs: what is written, refused and shown."""

from __future__ import annotations

import pytest

from kraftctl.controller.configuration_control.incremental_alter_configs import (
    APPEND,
    DELETE,
    SET,
    SUBTRACT,
)
from kraftctl.controller.configuration_control.validate_topic_configs import why_topic_configs_invalid
from kraftctl.controller.state.effective_configs import describe_topic_configs
from kraftctl.metadata import features
from kraftctl.metadata.config_definitions import config_source as sources
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl.metadata.config_definitions.validators import Range
from kraftctl_protocol import config_resource as resources
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.active_controller import ActiveController

CLUSTER = (resources.BROKER, "")
TOPIC_T = (resources.TOPIC, "t")


@pytest.fixture
def active():
    controller = ActiveController()
    controller.start_brokers(1)
    controller.create_topic("t")
    return controller


def incremental(*changes, validate_only=False):
    """Each change: ((type, name), key, operation, value)."""
    by_resource: dict[tuple[int, str], list[AlterableConfig]] = {}
    for resource, key, operation, value in changes:
        by_resource.setdefault(resource, []).append(
            AlterableConfig(name=key, config_operation=operation, value=value)
        )
    return IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
            for (kind, name), configs in by_resource.items()
        ],
        validate_only=validate_only,
    )


def written(active, request, **kwargs):
    """(resource type, name, key, value) or "ClearElr name" per record, and the responses' codes."""
    start = active.end_offset
    response = active.request(request, **kwargs)
    lines: list[object] = []
    for offset, entry in active.log:
        record = entry.record
        if offset >= start and isinstance(record, ConfigRecord):
            lines.append((record.resource_type, record.resource_name, record.name, record.value))
        elif offset >= start and isinstance(record, ClearElrRecord):
            lines.append(f"ClearElr {record.topic_name!r}")
    return lines, [result.error_code for result in response.responses]


class TestIncremental:
    def test_set_and_delete(self, active):
        lines, codes = written(active, incremental((TOPIC_T, "retention.ms", SET, "5000")))
        assert (lines, codes) == ([(2, "t", "retention.ms", "5000")], [0])
        lines, codes = written(active, incremental((TOPIC_T, "retention.ms", SET, "5000")))
        assert (lines, codes) == ([], [0])
        lines, codes = written(active, incremental((TOPIC_T, "retention.ms", DELETE, None)))
        assert (lines, codes) == ([(2, "t", "retention.ms", None)], [0])
        assert active.controller.image.configurations.config(*TOPIC_T) == {}

    def test_broker_configs_are_written_even_when_unchanged(self, active):
        request = incremental(((resources.BROKER, "1"), "log.cleaner.threads", SET, "2"))
        for _ in range(2):
            assert written(active, request)[0] == [(4, "1", "log.cleaner.threads", "2")]

    @pytest.mark.parametrize("names", [("interval.ms", "unknown"), ("unknown", "interval.ms")])
    def test_names_are_checked_before_values(self, active, names):
        """As Kafka's ClientMetricsConfigs does: the code of the response depends on it."""
        resource = (resources.CLIENT_METRICS, "s")
        configs = [legacy.AlterableConfig(name, "x") for name in names]
        asked = legacy.AlterConfigsRequest(resources=[legacy.AlterConfigsResource(*resource, configs)])
        assert written(active, asked) == ([], [Errors.INVALID_REQUEST])

    def test_resources_of_unknown_types_are_not_compared(self, active):
        """Kafka has a result for each."""
        unknown = ((99, "1"), "a", SET, "1")
        codes = [Errors.UNSUPPORTED_VERSION, Errors.UNSUPPORTED_VERSION]
        request = IncrementalAlterConfigsRequest(resources=incremental(unknown).resources * 2)
        assert written(active, request) == ([], codes)

    def test_unknown_broker_keys_are_the_brokers_business(self, active):
        assert written(active, incremental((CLUSTER, "zzz", SET, "1"))) == ([(4, "", "zzz", "1")], [0])

    @pytest.mark.parametrize(
        ("operation", "value", "expected"),
        [
            pytest.param(APPEND, "compact", "delete,compact", id="append-to-the-default"),
            pytest.param(APPEND, "delete", "delete", id="append-what-is-there"),
            pytest.param(SUBTRACT, "delete", "", id="subtract-the-default"),
            pytest.param(SUBTRACT, "compact", "delete", id="subtract-what-is-not-there"),
        ],
    )
    def test_lists(self, active, operation, value, expected):
        lines, codes = written(active, incremental((TOPIC_T, "cleanup.policy", operation, value)))
        assert (lines, codes) == ([(2, "t", "cleanup.policy", expected)], [0])

    def test_append_and_subtract_start_from_what_is_set(self, active):
        written(active, incremental((TOPIC_T, "cleanup.policy", SET, "compact")))
        lines, _ = written(active, incremental((TOPIC_T, "cleanup.policy", APPEND, "delete")))
        assert lines == [(2, "t", "cleanup.policy", "compact,delete")]
        lines, _ = written(active, incremental((TOPIC_T, "cleanup.policy", SUBTRACT, "compact")))
        assert lines == [(2, "t", "cleanup.policy", "delete")]

    @pytest.mark.parametrize(
        ("resource", "key", "operation", "value", "error"),
        [
            pytest.param(TOPIC_T, "nope", SET, "1", Errors.INVALID_CONFIG, id="unknown-key"),
            pytest.param(TOPIC_T, "retention.ms", SET, "x", Errors.INVALID_CONFIG, id="not-a-number"),
            pytest.param(TOPIC_T, "retention.ms", SET, "-2", Errors.INVALID_CONFIG, id="below-range"),
            pytest.param(TOPIC_T, "retention.ms", APPEND, "1", Errors.INVALID_CONFIG, id="append-to-no-list"),
            pytest.param(TOPIC_T, "retention.ms", 9, "1", Errors.INVALID_REQUEST, id="unknown-operation"),
            pytest.param(
                (resources.TOPIC, "u"),
                "retention.ms",
                SET,
                "1",
                Errors.UNKNOWN_TOPIC_OR_PARTITION,
                id="no-topic",
            ),
            pytest.param(
                (resources.TOPIC, ""), "retention.ms", SET, "1", Errors.INVALID_REQUEST, id="no-name"
            ),
            pytest.param(
                (resources.TOPIC, "a b"),
                "retention.ms",
                SET,
                "1",
                Errors.INVALID_TOPIC_EXCEPTION,
                id="bad-name",
            ),
            pytest.param(
                (resources.BROKER, "x"), "a", SET, "1", Errors.INVALID_REQUEST, id="broker-no-number"
            ),
            pytest.param(
                (resources.BROKER, "-1"), "a", SET, "1", Errors.INVALID_REQUEST, id="broker-negative"
            ),
            pytest.param(
                (resources.BROKER, "9"), "a", SET, "1", Errors.BROKER_ID_NOT_REGISTERED, id="broker-unknown"
            ),
            pytest.param(
                (resources.BROKER_LOGGER, "1"), "a", SET, "INFO", Errors.INVALID_REQUEST, id="broker-logger"
            ),
            pytest.param((99, "1"), "a", SET, "1", Errors.UNSUPPORTED_VERSION, id="unknown-type"),
            pytest.param(
                (resources.BROKER, "1"),
                "min.insync.replicas",
                SET,
                "2",
                Errors.INVALID_CONFIG,
                id="elr-broker",
            ),
            pytest.param(
                CLUSTER, "min.insync.replicas", DELETE, None, Errors.INVALID_CONFIG, id="elr-cluster-removal"
            ),
            pytest.param(
                CLUSTER,
                "min.insync.replicas",
                SET,
                "many",
                Errors.INVALID_CONFIG,
                id="what-we-read-ourselves",
            ),
            pytest.param(
                (resources.BROKER, "1"),
                "cordoned.log.dirs",
                SET,
                "/a",
                Errors.INVALID_CONFIG,
                id="cordon-directly",
            ),
            pytest.param(
                (resources.CLIENT_METRICS, "s"),
                "interval.ms",
                SET,
                "99",
                Errors.INVALID_REQUEST,
                id="interval",
            ),
            pytest.param(
                (resources.CLIENT_METRICS, "s"), "match", SET, "a=b", Errors.INVALID_CONFIG, id="match"
            ),
            pytest.param(
                (resources.GROUP, "g"),
                "consumer.session.timeout.ms",
                SET,
                "1",
                Errors.INVALID_CONFIG,
                id="group-below-node-minimum",
            ),
            pytest.param(
                (resources.GROUP, "g"),
                "streams.num.standby.replicas",
                SET,
                "3",
                Errors.INVALID_CONFIG,
                id="group-above-node-maximum",
            ),
            pytest.param((resources.GROUP, ""), "x", SET, "1", Errors.INVALID_REQUEST, id="group-no-name"),
        ],
    )
    def test_refused(self, active, resource, key, operation, value, error):
        assert written(active, incremental((resource, key, operation, value))) == ([], [error])

    @pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
    def test_a_group_must_beat_within_its_session(self, kind):
        active = ActiveController(
            group_consumer_max_heartbeat_interval_ms="60000",
            group_share_max_heartbeat_interval_ms="60000",
            group_streams_max_heartbeat_interval_ms="60000",
        )
        resource, key = (resources.GROUP, "g"), f"{kind}.heartbeat.interval.ms"
        assert written(active, incremental((resource, key, SET, "45000"))) == ([], [Errors.INVALID_CONFIG])
        _, errors = written(active, incremental((resource, key, SET, "44999")))
        assert errors == [Errors.NONE]

    @pytest.mark.parametrize("pattern", ["(" * 5_000, "a{99999999999}", "["], ids=["deep", "often", "open"])
    def test_a_client_pattern_that_cannot_be_compiled_is_refused(self, active, pattern):
        request = incremental(((resources.CLIENT_METRICS, "m"), "match", SET, f"client_id={pattern}"))
        assert written(active, request) == ([], [Errors.INVALID_CONFIG])

    @pytest.mark.parametrize("item", ["client_id=a", "client_id=a=", " client_id = a==", "client_id= ="])
    def test_a_client_match_may_end_with_equals_signs(self, active, item):
        """Java's split leaves out what is empty at the end."""
        request = incremental(((resources.CLIENT_METRICS, "m"), "match", SET, item))
        assert written(active, request)[1] == [Errors.NONE]

    @pytest.mark.parametrize(
        "item",
        ["=", "==", "client_id", "client_id=", "client_id==", "client_id==a", "client_id=a=b", "=a", "id=a"],
    )
    def test_a_client_match_has_a_name_and_one_expression(self, active, item):
        request = incremental(((resources.CLIENT_METRICS, "m"), "match", SET, item))
        assert written(active, request) == ([], [Errors.INVALID_CONFIG])

    def test_appending_cannot_make_a_value_that_no_record_can_hold(self, active):
        key = "ssl.cipher.suites"
        first, second = "\N{EURO SIGN}" * 9_000, "\N{POUND SIGN}" * 9_000
        assert written(active, incremental((CLUSTER, key, SET, first)))[1] == [0]
        assert written(active, incremental((CLUSTER, key, APPEND, second))) == ([], [Errors.INVALID_CONFIG])

    def test_other_resources_of_the_request_go_ahead(self, active):
        lines, codes = written(
            active, incremental((TOPIC_T, "nope", SET, "1"), (CLUSTER, "log.cleaner.threads", SET, "3"))
        )
        assert lines == [(4, "", "log.cleaner.threads", "3")]
        assert codes == [Errors.INVALID_CONFIG, 0]

    def test_duplicate_resources_are_refused_once(self, active):
        request = incremental((TOPIC_T, "retention.ms", SET, "1"))
        request.resources *= 3
        assert written(active, request) == ([], [Errors.INVALID_REQUEST])

    @pytest.mark.prevents("KAFKA-13863", "KAFKA-13862", "KAFKA-13807", "KAFKA-13861", "KAFKA-13324")
    def test_validate_only_writes_nothing(self, active):
        request = incremental((TOPIC_T, "retention.ms", SET, "5000"), validate_only=True)
        assert written(active, request) == ([], [0])

    @pytest.mark.prevents("KAFKA-16540")
    def test_min_insync_replicas_clears_elr_after_all_configs(self, active):
        lines, _ = written(
            active,
            incremental(
                (TOPIC_T, "min.insync.replicas", SET, "2"),
                (CLUSTER, "min.insync.replicas", SET, "2"),
                (CLUSTER, "log.cleaner.threads", SET, "3"),
            ),
        )
        assert lines == [
            (2, "t", "min.insync.replicas", "2"),
            (4, "", "min.insync.replicas", "2"),
            (4, "", "log.cleaner.threads", "3"),
            "ClearElr 't'",
            "ClearElr ''",
        ]

    def test_without_elr_nothing_is_cleared(self):
        active = ActiveController(features.IBP_3_9_IV0)
        active.start_brokers(1)
        lines, codes = written(
            active, incremental(((resources.BROKER, "1"), "min.insync.replicas", SET, "2"))
        )
        assert (lines, codes) == ([(4, "1", "min.insync.replicas", "2")], [0])

    def test_a_broker_may_forward_cordoned_directories_and_any_client_may_shorten_them(self, active):
        broker = (resources.BROKER, "1")
        request = incremental((broker, "cordoned.log.dirs", SET, "/a, /b"))
        forwarded = active.context(request, None, envelope=True)
        assert written(active, request, context=forwarded)[1] == [0]
        assert written(active, incremental((broker, "cordoned.log.dirs", SET, "/b")))[1] == [0]
        assert written(active, incremental((broker, "cordoned.log.dirs", SET, "")))[1] == [0]

    def test_controllers_have_configs_too(self, active):
        assert written(active, incremental(((resources.BROKER, "3000"), "a", SET, "1")))[1] == [0]

    @pytest.mark.parametrize("version", [0, 1])
    def test_every_version(self, active, version):
        response = active.request(incremental((TOPIC_T, "retention.ms", SET, "7")), version)
        assert [result.error_code for result in response.responses] == [0]


class TestLegacy:
    @pytest.mark.parametrize("version", [0, 1, 2])
    def test_what_is_not_named_is_deleted(self, active, version):
        written(active, incremental((TOPIC_T, "retention.ms", SET, "1"), (TOPIC_T, "segment.ms", SET, "9")))
        request = legacy.AlterConfigsRequest(
            resources=[
                legacy.AlterConfigsResource(
                    resource_type=2,
                    resource_name="t",
                    configs=[legacy.AlterableConfig(name="retention.ms", value="2")],
                )
            ]
        )
        start = active.end_offset
        response = active.request(request, version)
        assert [result.error_code for result in response.responses] == [0]
        records = [(e.record.name, e.record.value) for offset, e in active.log if offset >= start]
        assert records == [("retention.ms", "2"), ("segment.ms", None)]


class TestDescribe:
    def describe(self, active, kind, name, keys=None, synonyms=False, version=4):
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            ],
            include_synonyms=synonyms,
        )
        return active.request(request, version).results[0]

    def test_a_topic_shows_where_each_value_comes_from(self):
        active = ActiveController(log_retention_hours="2", compression_type="zstd")
        active.start_brokers(1)
        active.create_topic("t")
        active.request(
            incremental(
                (TOPIC_T, "segment.ms", SET, "77"),
                (CLUSTER, "message.max.bytes", SET, "99"),
                ((resources.BROKER, "3000"), "log.preallocate", SET, "true"),
            )
        )
        result = self.describe(active, 2, "t")
        shown = {config.name: (config.value, config.config_source) for config in result.configs}
        assert shown["segment.ms"] == ("77", sources.TOPIC_CONFIG)
        assert shown["preallocate"] == ("false", sources.DEFAULT_CONFIG), "no broker has a controller's own"
        assert shown["max.message.bytes"] == ("99", sources.DYNAMIC_DEFAULT_BROKER_CONFIG)
        assert shown["retention.ms"] == ("7200000", sources.DEFAULT_CONFIG), "Kafka looks at log.retention.ms"
        assert shown["compression.type"] == ("zstd", sources.STATIC_BROKER_CONFIG)
        assert shown["cleanup.policy"] == ("delete", sources.DEFAULT_CONFIG)
        assert "internal.segment.bytes" not in shown
        assert [config.name for config in result.configs] == sorted(shown)

    @pytest.mark.parametrize("hours", ["²", "--5", "9" * 5_000, "2147483648", "soon"])
    def test_a_stored_broker_config_that_is_no_number_leaves_it_to_the_next_layer(self, active, hours):
        """The value was stored unchecked: neither DescribeConfigs nor CreateTopics may fail because of it."""
        written(active, incremental((CLUSTER, "log.retention.hours", SET, hours)))
        active.create_topic("u")
        shown = {config.name: config.value for config in self.describe(active, 2, "u").configs}
        assert shown["retention.ms"] == "604800000"

    def test_only_what_is_asked_for(self, active):
        result = self.describe(active, 2, "t", keys=["retention.ms"], synonyms=True)
        assert [config.name for config in result.configs] == ["retention.ms"]
        assert result.configs[0].config_type == 5

    def test_this_node(self, active):
        result = self.describe(active, 4, "3000", synonyms=True)
        shown = {config.name: config for config in result.configs}
        assert shown["node.id"].value == "3000"
        assert shown["node.id"].read_only
        assert not shown["log.cleaner.threads"].read_only
        assert shown["ssl.keystore.password"].value is None
        assert shown["ssl.keystore.password"].is_sensitive

    def test_the_cluster_default_has_only_what_is_set(self, active):
        result = self.describe(active, 4, "")
        assert [(config.name, config.value) for config in result.configs] == [("min.insync.replicas", "1")]

    @pytest.mark.parametrize("kind", [resources.GROUP, resources.CLIENT_METRICS])
    def test_groups_and_client_metrics(self, active, kind):
        assert self.describe(active, kind, "x").configs

    @pytest.mark.parametrize(
        ("kind", "name", "error"),
        [
            (2, "nope", Errors.UNKNOWN_TOPIC_OR_PARTITION),
            (2, "a b", Errors.INVALID_TOPIC_EXCEPTION),
            (4, "1", Errors.INVALID_REQUEST),
            (8, "", Errors.INVALID_REQUEST),
            (8, "3001", Errors.INVALID_REQUEST),
            (16, "", Errors.INVALID_REQUEST),
            (77, "x", Errors.INVALID_REQUEST),
        ],
    )
    def test_refused(self, active, kind, name, error):
        assert self.describe(active, kind, name).error_code == error

    @pytest.mark.parametrize("version", [1, 2, 3, 4])
    def test_every_version(self, active, version):
        assert self.describe(active, 2, "t", version=version).error_code == 0


class TestTopicConfigRules:
    @pytest.mark.parametrize(
        ("configs", "good"),
        [
            pytest.param({}, True, id="nothing"),
            pytest.param(
                {"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"}, False, id="lags-cross"
            ),
            pytest.param({"compression.gzip.level": "-1"}, True, id="gzip-default"),
            pytest.param({"compression.gzip.level": "0"}, False, id="gzip-out-of-range"),
            pytest.param({"cleanup.policy": ""}, True, id="empty-policy"),
            pytest.param({"cleanup.policy": "delete,delete"}, True, id="policy-twice"),
            pytest.param({"cleanup.policy": "delete,"}, False, id="empty-item"),
            pytest.param({"leader.replication.throttled.replicas": "*"}, True, id="all-throttled"),
            pytest.param({"leader.replication.throttled.replicas": "0:1,2:3"}, True, id="some-throttled"),
            pytest.param({"leader.replication.throttled.replicas": "0:"}, False, id="bad-throttle"),
            pytest.param({"remote.storage.enable": "true"}, False, id="remote-storage-is-off"),
            pytest.param({"preallocate": " TRUE "}, True, id="boolean-in-any-case"),
            pytest.param({"preallocate": "yes"}, False, id="boolean-by-another-word"),
            pytest.param({"min.cleanable.dirty.ratio": "1.1"}, False, id="ratio"),
            pytest.param({"segment.bytes": "2147483648"}, False, id="int-overflow"),
        ],
    )
    def test_values(self, active, configs, good):
        assert (why_topic_configs_invalid(active.config, configs) is None) == good

    def test_remote_storage(self):
        config = ActiveController(remote_log_storage_system_enable="true").config
        remote = {"remote.storage.enable": "true"}
        assert why_topic_configs_invalid(config, remote) is None
        assert why_topic_configs_invalid(config, remote | {"cleanup.policy": "compact"}) is not None
        assert why_topic_configs_invalid(config, remote | {"local.retention.ms": "604800001"}) is not None
        assert why_topic_configs_invalid(config, {}, {"remote.storage.enable": "true"}) is not None
        deleting = {"remote.log.delete.on.disable": "true"}
        assert why_topic_configs_invalid(config, deleting, {"remote.storage.enable": "true"}) is None

    def test_create_topics_sees_all_public_keys_sorted(self, active):
        shown = describe_topic_configs(
            active.controller.image, active.config, {"internal.segment.bytes": "1"}
        )
        assert [entry.definition.name for entry in shown] == sorted(TOPIC_CONFIG_KEYS)


def test_a_bound_is_printed_as_it_was_given() -> None:
    """Compiled code once made a float of every bound: "no more than 1.0", and large bounds inexact."""
    assert Range(0, 1).why_invalid(1.1) == "Value must be no more than 1"
    assert Range(0, 2**63 - 2).why_invalid(2**63 - 1) == f"Value must be no more than {2**63 - 2}"
