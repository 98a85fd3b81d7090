"""KIP-841 as an executable specification: fenced and stopping replicas stay out of the ISR.

A leader learns of fencing late, through the metadata log. Until then it may see such a replica catch up
and propose to add it to the ISR. If the controller agreed, it would count on a replica that it has fenced,
and might elect it. AlterPartition version 3 (KIP-903) closes the same gap for a broker that was restarted
in between.
"""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.isr_eligibility import why_ineligible
from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import BrokerState
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, partition_record
from tests.support.transitions import (
    records_for_controlled_shutdown,
    records_for_fenced_broker,
    records_for_unfenced_broker,
)
from tests.support.wire.alter_partition_requests import VERSIONS, ask, error_of, request_for


def foo_with_broker_3(**condition: bool) -> MetadataState:
    """foo-0 on 1, 2, 3; led by 1. Broker 3, out of sync, is in the `condition`."""
    state = MetadataState()
    state.brokers(1, 2)
    state.broker(3, **condition)  # type: ignore[arg-type]
    state.topic("foo", partition_record([1, 2, 3], [1, 2]))
    return state


def refusal(version: int) -> Errors:
    """Version 2 adds INELIGIBLE_REPLICA; older leaders understand OPERATION_NOT_ATTEMPTED."""
    return Errors.INELIGIBLE_REPLICA if version >= 2 else Errors.OPERATION_NOT_ATTEMPTED


# AlterPartition.


@pytest.mark.prevents("KAFKA-13916")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "condition",
    [
        pytest.param({"fenced": True}, id="fenced"),
        pytest.param({"in_controlled_shutdown": True}, id="shutting-down"),
        pytest.param({"fenced": True, "in_controlled_shutdown": True}, id="both"),
    ],
)
def test_a_replica_that_is_given_up_on_does_not_join(version: int, condition: dict[str, bool]) -> None:
    """KAFKA-13916: the whole change is refused, the eligible members included."""
    state = foo_with_broker_3(**condition)
    result = ask(state, version, request_for(version, [1, 2, 3]))
    assert (error_of(result), result.records) == (refusal(version), [])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_replica_whose_broker_is_not_registered_does_not_join(version: int) -> None:
    state = MetadataState()
    state.brokers(1, 2)
    state.topic("foo", partition_record([1, 2, 3], [1, 2]))
    assert error_of(ask(state, version, request_for(version, [1, 2, 3]))) == refusal(version)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_leader_may_shrink_without_it(version: int) -> None:
    state = foo_with_broker_3(fenced=True)
    assert error_of(ask(state, version, request_for(version, [1]))) == Errors.NONE


@pytest.mark.parametrize("version", VERSIONS)
def test_once_it_is_unfenced_it_may_join(version: int) -> None:
    state = foo_with_broker_3(fenced=True)
    state.append_all(records_for_unfenced_broker(state.image, state.controller.config, 3))
    assert error_of(ask(state, version, request_for(version, [1, 2, 3]))) == Errors.NONE


@pytest.mark.parametrize("version", VERSIONS)
def test_a_leader_in_controlled_shutdown_cannot_change_its_isr(version: int) -> None:
    """It is an ineligible member of its own ISR."""
    state = MetadataState()
    state.broker(1, in_controlled_shutdown=True)
    state.broker(2)
    state.topic("foo", partition_record([1, 2], [1]))
    assert error_of(ask(state, version, request_for(version, [1, 2]))) == refusal(version)


@pytest.mark.prevents("KAFKA-14617")
@pytest.mark.parametrize(
    ("sent_epoch", "error"),
    [
        pytest.param(BROKER_EPOCH + 3, Errors.NONE, id="the-registered-epoch"),
        pytest.param(BROKER_EPOCH + 2, Errors.INELIGIBLE_REPLICA, id="an-earlier-incarnation"),
        pytest.param(BROKER_EPOCH + 4, Errors.INELIGIBLE_REPLICA, id="a-later-one"),
        pytest.param(-1, Errors.NONE, id="the-leader-does-not-know"),
    ],
)
def test_version_3_names_the_incarnation(sent_epoch: int, error: Errors) -> None:
    """KIP-903, KAFKA-14617: the replica was in sync, then came back with an empty disk."""
    result = ask(foo_with_broker_3(), 3, request_for(3, [1, 2, 3], epochs={3: sent_epoch}))
    assert error_of(result) == error


def test_the_refusal_names_each_member_and_the_reason() -> None:
    state = MetadataState()
    state.broker(1)
    state.broker(2, fenced=True)
    state.broker(3, in_controlled_shutdown=True)
    members = [
        BrokerState(broker_id=broker_id, broker_epoch=BROKER_EPOCH + broker_id) for broker_id in (1, 2, 3, 4)
    ]
    members.append(BrokerState(broker_id=1, broker_epoch=7))
    assert why_ineligible(state.image.cluster, LeavingBrokers(), members) == ApiError(
        Errors.INELIGIBLE_REPLICA,
        "not eligible for the ISR: 2 (fenced), 3 (shutting down), 4 (not registered),"
        " 1 (broker epoch 7 is not the registered 101)",
    )


# Broker transitions: the other half of the invariant.


def led_by_three() -> MetadataState:
    """Broker 3 leads foo-0, follows in foo-1, is alone in the ISR of foo-2."""
    state = MetadataState()
    state.brokers(1, 2, 3)
    state.topic(
        "foo",
        partition_record([3, 1, 2]),
        partition_record([1, 2, 3]),
        partition_record([3, 1], [3]),
    )
    return state


def fenced_or_stopping_only_if_alone(state: MetadataState) -> bool:
    """The invariant: such a broker is in an ISR only as its only member."""
    return all(
        partition.isr == (member,) or state.image.cluster.active(member)
        for topic in state.image.topics.topics.values()
        for partition in topic.partitions.values()
        for member in partition.isr
    )


@pytest.mark.parametrize("transition", [records_for_fenced_broker, records_for_controlled_shutdown])
def test_a_broker_that_goes_leaves_all_isrs_but_those_it_is_alone_in(transition: object) -> None:
    state = led_by_three()
    state.append_all(transition(state.image, state.controller.config, 3))  # type: ignore[operator]
    assert [state.partition(index).isr for index in range(3)] == [(1, 2), (1, 2), (3,)]
    assert [state.partition(index).leader for index in range(3)] == [1, 1, -1]
    assert fenced_or_stopping_only_if_alone(state)


def test_a_fenced_broker_is_never_seen_in_an_isr_not_even_between_two_records() -> None:
    """ISR changes come first, the fencing last: the list may be cut anywhere."""
    state = led_by_three()
    records = records_for_fenced_broker(state.image, state.controller.config, 3)
    assert isinstance(records[-1].record, BrokerRegistrationChangeRecord)
    for entry in records:
        state.append(entry.record, entry.version)
        assert fenced_or_stopping_only_if_alone(state)


def test_controlled_shutdown_is_recorded_before_anything_moves() -> None:
    """in_controlled_shutdown, from version 1 of the record on: no leader can add it to an ISR any more."""
    state = led_by_three()
    records = records_for_controlled_shutdown(state.image, state.controller.config, 3)
    first = records[0]
    assert isinstance(first.record, BrokerRegistrationChangeRecord)
    assert (first.version, first.record.in_controlled_shutdown, first.record.fenced) == (1, 1, 0)
    state.append(first.record, first.version)
    assert error_of(ask(state, 3, request_for(3, [1, 2, 3], sender=1, index=1))) == Errors.INELIGIBLE_REPLICA


def test_only_a_new_incarnation_ends_a_controlled_shutdown() -> None:
    state = led_by_three()
    state.append_all(records_for_controlled_shutdown(state.image, state.controller.config, 3))
    state.append_all(records_for_fenced_broker(state.image, state.controller.config, 3))
    assert state.image.cluster.brokers[3].in_controlled_shutdown
    state.broker(3)
    assert state.image.cluster.active(3)
