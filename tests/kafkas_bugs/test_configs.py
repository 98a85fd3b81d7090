"""Bugs of Kafka's controller that concern configs do not exist here; each test names the issue."""

from __future__ import annotations

import pytest

from kraftctl.controller.configuration_control.incremental_alter_configs import (
    APPEND,
    DELETE,
    SET,
    SUBTRACT,
)
from kraftctl.metadata import features
from kraftctl.metadata.config_definitions import config_source
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol import config_resource as resources
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated.alter_configs_response import AlterConfigsResponse
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import UpdateFeaturesResponse
from tests.support.active_controller import ActiveController

Resource = tuple[int, str]

MIN_ISR = "min.insync.replicas"
CLUSTER: Resource = (resources.BROKER, "")
BROKER_1: Resource = (resources.BROKER, "1")
TOPIC_T: Resource = (resources.TOPIC, "t")
UPGRADE = 1


def alter(
    active: ActiveController, resource: Resource, key: str, operation: int, value: str | None
) -> Errors:
    """IncrementalAlterConfigs of one config."""
    change = AlterableConfig(name=key, config_operation=operation, value=value)
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(resource_type=resource[0], resource_name=resource[1], configs=[change])
        ]
    )
    response = active.request(request)
    assert isinstance(response, IncrementalAlterConfigsResponse)
    return Errors(response.responses[0].error_code)


def replace(active: ActiveController, resource: Resource, key: str, value: str) -> Errors:
    """The older AlterConfigs, with one config."""
    config = legacy.AlterableConfig(name=key, value=value)
    request = legacy.AlterConfigsRequest(
        resources=[
            legacy.AlterConfigsResource(
                resource_type=resource[0], resource_name=resource[1], configs=[config]
            )
        ]
    )
    response = active.request(request)
    assert isinstance(response, AlterConfigsResponse)
    return Errors(response.responses[0].error_code)


def config_records(active: ActiveController, start_offset: int) -> list[tuple[str, str, str | None]]:
    """Resource name, key and value of the ConfigRecords from there on."""
    written = [entry.record for offset, entry in active.log if offset >= start_offset]
    return [
        (record.resource_name, record.name, record.value)
        for record in written
        if isinstance(record, ConfigRecord)
    ]


# min.insync.replicas while eligible leader replicas are enabled.


def create(active: ActiveController, name: str) -> None:
    """Two partitions, on 1, 2, 4 and on 1, 3, 4."""
    topic = CreatableTopic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2, 4]),
            CreatableReplicaAssignment(partition_index=1, broker_ids=[1, 3, 4]),
        ],
    )
    active.request(CreateTopicsRequest(topics=[topic]))


def partitions_of(active: ActiveController, name: str) -> list[PartitionRegistration]:
    topic = active.controller.image.topics.topic_by_name(name)
    assert topic is not None
    return [topic.partitions[0], topic.partitions[1]]


@pytest.mark.prevents("KAFKA-16540")
@pytest.mark.parametrize("older_request", [False, True])
@pytest.mark.parametrize("resource", [CLUSTER, (resources.TOPIC, "foo")], ids=["cluster", "topic"])
def test_a_change_of_min_insync_replicas_clears_the_elr_that_it_was_decided_by(
    resource: Resource, older_request: bool
) -> None:
    """KAFKA-16540: of the topic or of all; the situation is that of Kafka's own test of it."""
    active = ActiveController(min_insync_replicas="2")
    active.start_brokers(1, 2, 3, 4)
    for name in ("foo", "bar"):
        create(active, name)
    active.heartbeat(4, fence=True)
    active.heartbeat(1, fence=True)
    before = {name: partitions_of(active, name) for name in ("foo", "bar")}
    assert [partition.elr for partition in (*before["foo"], *before["bar"])] == [(1,)] * 4
    if older_request:
        assert replace(active, resource, MIN_ISR, "1") == Errors.NONE
    else:
        assert alter(active, resource, MIN_ISR, SET, "1") == Errors.NONE
    for name, partitions in before.items():
        cleared = name == "foo" or resource == CLUSTER
        for former, present in zip(partitions, partitions_of(active, name), strict=True):
            assert present.elr == (() if cleared else (1,))
            assert present.partition_epoch == former.partition_epoch + cleared
            assert (present.isr, present.leader, present.leader_epoch) == (
                former.isr,
                former.leader,
                former.leader_epoch,
            )


@pytest.mark.prevents("KAFKA-16540")
def test_clearing_the_elr_leaves_partitions_that_have_none_as_they_are() -> None:
    """KAFKA-16540: with another partition epoch, the next ISR change of their leaders would be refused."""
    active = ActiveController(min_insync_replicas="2")
    active.start_brokers(1, 2, 3, 4)
    create(active, "foo")
    before = partitions_of(active, "foo")
    assert alter(active, CLUSTER, MIN_ISR, SET, "1") == Errors.NONE
    assert partitions_of(active, "foo") == before


@pytest.mark.prevents("KAFKA-16540")
@pytest.mark.parametrize(("operation", "value"), [(SET, "3"), (DELETE, None)], ids=["set", "delete"])
def test_with_elr_all_brokers_have_one_min_insync_replicas(operation: int, value: str | None) -> None:
    """KAFKA-16540: none for a single broker; the one of the cluster is changed, but not removed."""
    active = ActiveController(min_insync_replicas="2")
    active.start_brokers(1)
    before = active.end_offset
    assert alter(active, BROKER_1, MIN_ISR, operation, value) == Errors.INVALID_CONFIG
    assert active.end_offset == before
    expected = Errors.NONE if value is not None else Errors.INVALID_CONFIG
    assert alter(active, CLUSTER, MIN_ISR, operation, value) == expected
    assert config_records(active, before) == ([] if value is None else [("", MIN_ISR, value)])


@pytest.mark.prevents("KAFKA-16540")
@pytest.mark.parametrize(
    "value", [pytest.param("2", id="of-the-properties-file"), pytest.param(None, id="default")]
)
def test_enabling_elr_takes_min_insync_replicas_from_single_brokers(value: str | None) -> None:
    """KAFKA-16540: brokers with different values would disagree about who is eligible."""
    if value is None:
        active = ActiveController(features.IBP_4_0_IV1)
    else:
        active = ActiveController(features.IBP_4_0_IV1, min_insync_replicas=value)
    active.start_brokers(1)
    assert alter(active, BROKER_1, MIN_ISR, SET, "3") == Errors.NONE
    start_offset = active.end_offset
    update = FeatureUpdateKey(
        feature="eligible.leader.replicas.version", max_version_level=1, upgrade_type=UPGRADE
    )
    response = active.request(UpdateFeaturesRequest(feature_updates=[update]))
    assert isinstance(response, UpdateFeaturesResponse)
    assert response.error_code == 0, response
    assert config_records(active, start_offset) == [("", MIN_ISR, value or "1"), ("1", MIN_ISR, None)]
    assert active.controller.image.configurations.config(*BROKER_1) == {}


# Lists, and broker configs that topics inherit.


@pytest.mark.prevents("KAFKA-13862")
def test_several_items_of_a_list_are_appended_and_subtracted_each_on_its_own() -> None:
    """KAFKA-13862: "0:1,1:2" is two items; the steps are those of Kafka's test of it."""
    active = ActiveController()
    active.start_brokers(1)
    active.create_topic("t")
    key = "leader.replication.throttled.replicas"
    steps: list[tuple[int, str, str | None]] = [
        (APPEND, "0:1,0:2,0:3", "0:1,0:2,0:3"),
        (APPEND, "0:1,0:2", None),
        (SUBTRACT, "0:1,0:2", "0:3"),
        (SUBTRACT, "0:4", None),
        (APPEND, "0:5,", "0:3,0:5"),
    ]
    for operation, value, expected in steps:
        start_offset = active.end_offset
        assert alter(active, TOPIC_T, key, operation, value) == Errors.NONE
        written = [] if expected is None else [("t", key, expected)]
        assert config_records(active, start_offset) == written


@pytest.mark.prevents("KAFKA-13807")
def test_log_flush_interval_ms_can_be_set_and_is_what_topics_inherit() -> None:
    """KAFKA-13807: it, and not log.flush.scheduler.interval.ms, is the first synonym of flush.ms."""
    active = ActiveController()
    active.start_brokers(1)
    active.create_topic("t")
    assert alter(active, CLUSTER, "log.flush.scheduler.interval.ms", SET, "7000") == Errors.NONE
    assert alter(active, CLUSTER, "log.flush.interval.ms", SET, "9000") == Errors.NONE
    wanted = DescribeConfigsResource(
        resource_type=resources.TOPIC, resource_name="t", configuration_keys=["flush.ms"]
    )
    response = active.request(DescribeConfigsRequest(resources=[wanted]))
    assert isinstance(response, DescribeConfigsResponse)
    [shown] = response.results[0].configs
    assert (shown.value, shown.config_source) == ("9000", config_source.DYNAMIC_DEFAULT_BROKER_CONFIG)
