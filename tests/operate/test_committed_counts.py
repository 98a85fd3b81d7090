"""KAFKA-14457: metrics have what is committed, although an active controller's image has more."""

from __future__ import annotations

from kraftctl.operate.committed_counts import FENCED, CommittedCounts
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from tests.node.audited_node import audited_node
from tests.support.simulator.cluster.lone_node import LoneNode


def topics(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in names],
        timeout_ms=60_000,
    )


def look(counts: CommittedCounts, node: LoneNode) -> bool:
    return counts.look(node.controller, node.raft.high_watermark)


def test_what_is_not_committed_is_not_counted() -> None:
    node = audited_node(1)
    counts = CommittedCounts()
    assert look(counts, node)
    assert counts.committed is not None
    assert (counts.committed.topics, counts.committed.partitions) == (0, 0)
    node.send(topics("one"))
    assert node.controller.image.topics.partition_count == 2, "it is in the image"
    assert not look(counts, node)
    assert counts.committed.topics == 0
    node.settle()
    assert look(counts, node)
    assert counts.committed is not None
    assert (counts.committed.topics, counts.committed.partitions) == (1, 2)


def test_under_constant_load_they_are_those_of_the_look_before() -> None:
    """There is always something that is not committed."""
    node = audited_node(1)
    counts = CommittedCounts()
    node.send(topics("one"))
    assert not look(counts, node)
    assert node.flush()
    node.run_for(0)
    node.send(topics("two"))
    assert look(counts, node), "what was in the image before is committed now"
    assert counts.committed is not None
    assert counts.committed.topics == 1


def test_what_a_former_leader_had_counted_is_dropped() -> None:
    node = audited_node(1)
    counts = CommittedCounts()
    assert look(counts, node)
    node.send(topics("lost"))
    assert not look(counts, node)
    node.controller.renounce()
    assert look(counts, node)
    assert counts.committed is not None
    assert counts.committed.topics == 0


def altered(resource_type: int, name: str, value: str) -> IncrementalAlterConfigsRequest:
    config = AlterableConfig(name="min.insync.replicas", config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=resource_type, resource_name=name, configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource])


def test_partitions_under_min_isr_follow_the_configs_of_topic_and_cluster() -> None:
    """Of two replicas one is in the ISR once a broker is fenced."""
    node = audited_node(1, 2)
    node.ask(
        CreateTopicsRequest(
            topics=[CreatableTopic(name=name, num_partitions=3, replication_factor=2) for name in "ab"],
            timeout_ms=60_000,
        ),
        CreateTopicsResponse,
    )
    node.settle()
    epoch = node.controller.image.cluster.brokers[2].epoch
    leaving = BrokerHeartbeatRequest(broker_id=2, broker_epoch=epoch, want_shut_down=True)
    node.ask(leaving, BrokerHeartbeatResponse)
    counts = CommittedCounts()

    def under_min_isr() -> int:
        node.settle()
        assert look(counts, node)
        assert counts.committed is not None
        return counts.committed.under_min_isr

    assert under_min_isr() == 0, "one is enough without a config"
    node.ask(altered(TOPIC, "a", "2"), IncrementalAlterConfigsResponse)
    assert under_min_isr() == 3
    node.ask(altered(BROKER, CLUSTER_DEFAULT, "2"), IncrementalAlterConfigsResponse)
    assert under_min_isr() == 6
    node.ask(altered(TOPIC, "a", "1"), IncrementalAlterConfigsResponse)
    assert under_min_isr() == 3
    node.ask(altered(BROKER, CLUSTER_DEFAULT, "7"), IncrementalAlterConfigsResponse)
    assert under_min_isr() == 3, "a partition needs no more than it has replicas"


def test_brokers_have_their_states() -> None:
    node = audited_node(1, 2)
    counts = CommittedCounts()
    node.pass_time(20_000)
    assert look(counts, node)
    assert counts.committed is not None
    assert counts.committed.broker_states == ((1, FENCED), (2, FENCED))
    assert node.controller.state.fencings.timed_out_count == 2
