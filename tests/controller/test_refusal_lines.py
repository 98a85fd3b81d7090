"""Responses to brokers have no room for a reason: the log has it at level DEBUG."""

from __future__ import annotations

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.controller.results.failures import REASON_LENGTH_MAX
from kraftctl.controller.results.refusal_lines import REFUSALS_NAMED_MAX, RefusalLines, refusal_line
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from tests.support.active_controller import ActiveController, registration


def test_an_isr_that_is_refused() -> None:
    active = ActiveController()
    active.start_brokers(1, 2)
    active.create_topic("t", 1, 2)
    image = active.controller.image
    topic = image.topics.topic_by_name("t")
    assert topic is not None
    partition = topic.partitions[0]
    leader = partition.leader
    request = AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=image.cluster.brokers[leader].epoch,
        topics=[
            TopicData(
                topic_id=topic.topic_id,
                partitions=[
                    PartitionData(
                        leader_epoch=partition.leader_epoch,
                        partition_epoch=partition.partition_epoch,
                        new_isr_with_epochs=[BrokerState(broker_id=leader), BrokerState(3 - leader, 7)],
                    )
                ],
            )
        ],
    )
    active.request(request)
    (line,) = active.controller.take_refusals()
    registered = image.cluster.brokers[3 - leader].epoch
    assert line == (
        f"Refusing to alter partition t-0 for broker {leader} with INELIGIBLE_REPLICA: not eligible for"
        f" the ISR: {3 - leader} (broker epoch 7 is not the registered {registered})"
    )
    assert active.controller.take_refusals() == []


def test_what_a_client_sent_does_not_make_a_line_long() -> None:
    active = ActiveController()
    request = registration(1)
    request.cluster_id = "c" * 30_000
    active.request(request)
    (line,) = active.controller.take_refusals()
    assert line.startswith("Refusing BrokerRegistration of broker 1 with INCONSISTENT_CLUSTER_ID: this is ")
    assert len(line) < 2 * REASON_LENGTH_MAX
    assert len(refusal_line("t" * 30_000, ApiError(Errors.UNKNOWN_TOPIC_ID))) < 2 * REASON_LENGTH_MAX


def test_many_are_counted() -> None:
    lines = RefusalLines()
    for number in range(REFUSALS_NAMED_MAX + 5):
        lines.add(f"thing {number}", ApiError(Errors.INVALID_REQUEST, "no"))
    assert len(lines.lines()) == REFUSALS_NAMED_MAX + 1
    assert lines.lines()[-1] == "Refusing 5 more in the same request"


def test_a_broker_that_is_not_registered() -> None:
    active = ActiveController()
    active.request(BrokerHeartbeatRequest(broker_id=1, broker_epoch=5))
    assert active.controller.take_refusals() == [
        "Refusing BrokerHeartbeat of broker 1 with STALE_BROKER_EPOCH: broker 1 is not registered"
    ]


def test_a_principal_without_rights() -> None:
    active = ActiveController(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:x")
    active.request(BrokerHeartbeatRequest(broker_id=1, broker_epoch=5))
    (line,) = active.controller.take_refusals()
    assert line.startswith("Refusing BrokerHeartbeatRequest of User:ANONYMOUS with CLUSTER_AUTHORIZATION_FA")
