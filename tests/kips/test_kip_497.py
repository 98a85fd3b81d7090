"""KIP-497 as an executable specification: the leader asks the controller to change an ISR.

Before, leaders wrote ISRs to ZooKeeper and notified the controller afterwards. Now the controller alone
decides: it checks that the request is from the current leader and about the current state, and the leader
learns the outcome from the response or from the metadata log.
"""

from __future__ import annotations

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse, PartitionData
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, partition_record, uuid
from tests.support.transitions import records_for_fenced_broker
from tests.support.wire.alter_partition_requests import VERSIONS, ask, error_of, only_partition, request_for

LEADER, IN_SYNC, LAGGING, STRANGER = 1, 2, 3, 4
LEADER_EPOCH, PARTITION_EPOCH = 5, 10


@pytest.fixture
def state() -> MetadataState:
    """foo-0 on 1, 2, 3; led by 1, in sync with 2. Broker 4 has no replica."""
    state = MetadataState()
    state.brokers(LEADER, IN_SYNC, LAGGING, STRANGER)
    state.topic("foo", partition_record([LEADER, IN_SYNC, LAGGING], [LEADER, IN_SYNC]))
    return state


@pytest.fixture(params=VERSIONS, ids="v{}".format)
def version(request: pytest.FixtureRequest) -> int:
    """Each rule holds in every version of the request."""
    assert isinstance(request.param, int)
    return request.param


# What a leader may ask for.


@pytest.mark.parametrize(
    "isr",
    [
        pytest.param([LEADER, IN_SYNC, LAGGING], id="a-follower-caught-up"),
        pytest.param([LEADER], id="a-follower-fell-behind"),
        pytest.param([LEADER, LAGGING], id="one-came-and-one-went"),
    ],
)
def test_the_leader_expands_and_shrinks_its_isr(state: MetadataState, version: int, isr: list[int]) -> None:
    result = state.apply(ask(state, version, request_for(version, isr)))
    change = PartitionChangeRecord(partition_id=0, topic_id=uuid(1), isr=isr)
    assert [entry.record for entry in result.records] == [change]
    assert list(state.partition().isr) == isr


def test_the_answer_is_the_state_after_the_change(state: MetadataState, version: int) -> None:
    """So that the leader need not wait for the metadata log."""
    result = ask(state, version, request_for(version, [LEADER]))
    assert only_partition(result) == PartitionData(
        partition_index=0,
        leader_id=LEADER,
        leader_epoch=LEADER_EPOCH,
        isr=[LEADER],
        partition_epoch=PARTITION_EPOCH + 1,
    )


def test_every_change_is_a_new_partition_epoch_but_not_a_new_leader_epoch(
    state: MetadataState, version: int
) -> None:
    """The partition epoch, once ZooKeeper's version, orders ISR changes; followers need not truncate."""
    for step, isr in enumerate([[LEADER], [LEADER, LAGGING], [LEADER, IN_SYNC, LAGGING]]):
        epoch = PARTITION_EPOCH + step
        state.apply(ask(state, version, request_for(version, isr, partition_epoch=epoch)))
        assert state.partition().partition_epoch == epoch + 1
        assert state.partition().leader_epoch == LEADER_EPOCH


def test_what_is_so_already_is_granted_and_not_written(state: MetadataState, version: int) -> None:
    result = ask(state, version, request_for(version, [LEADER, IN_SYNC]))
    assert (error_of(result), result.records) == (Errors.NONE, [])
    assert only_partition(result).partition_epoch == PARTITION_EPOCH


# Who may ask.


@pytest.mark.parametrize("epoch", [BROKER_EPOCH, BROKER_EPOCH + 2, -1])
def test_a_zombie_gets_nothing_at_all(state: MetadataState, version: int, epoch: int) -> None:
    """A broker whose registration was replaced: the whole request fails."""
    result = ask(state, version, request_for(version, [LEADER], sender_epoch=epoch))
    assert result.response == AlterPartitionResponse(error_code=int(Errors.STALE_BROKER_EPOCH))
    assert result.records == []


def test_an_unregistered_broker_is_a_zombie_too(state: MetadataState, version: int) -> None:
    result = ask(state, version, request_for(version, [9], sender=9))
    assert result.response == AlterPartitionResponse(error_code=int(Errors.STALE_BROKER_EPOCH))


@pytest.mark.parametrize("sender", [IN_SYNC, LAGGING, STRANGER])
def test_only_the_leader_may_ask(state: MetadataState, version: int, sender: int) -> None:
    result = ask(state, version, request_for(version, [LEADER, sender], sender=sender))
    assert (error_of(result), result.records) == (Errors.INVALID_REQUEST, [])


# About which state.


@pytest.mark.prevents("KAFKA-14154")
@pytest.mark.parametrize(
    ("leader_epoch", "partition_epoch", "error"),
    [
        pytest.param(4, 10, Errors.FENCED_LEADER_EPOCH, id="a-leader-that-was-replaced"),
        pytest.param(5, 9, Errors.INVALID_UPDATE_VERSION, id="a-leader-that-missed-a-change"),
        pytest.param(6, 10, Errors.NOT_CONTROLLER, id="a-leader-that-knows-a-newer-leader-epoch"),
        pytest.param(5, 11, Errors.NOT_CONTROLLER, id="a-leader-that-knows-a-newer-partition-epoch"),
        pytest.param(4, 9, Errors.FENCED_LEADER_EPOCH, id="both-behind"),
        pytest.param(6, 9, Errors.NOT_CONTROLLER, id="ahead-wins-over-behind"),
    ],
)
def test_the_epochs_must_be_the_present_ones(
    state: MetadataState, version: int, leader_epoch: int, partition_epoch: int, error: Errors
) -> None:
    """A sender that is ahead of this controller has talked to a newer one, and must find it (KAFKA-14154)."""
    request = request_for(version, [LEADER], leader_epoch=leader_epoch, partition_epoch=partition_epoch)
    result = ask(state, version, request)
    assert (error_of(result), result.records) == (error, [])


def test_of_two_requests_about_the_same_state_one_wins(state: MetadataState, version: int) -> None:
    """Compare and set: the second is refused; its sender learns of the first from the metadata log."""
    first = request_for(version, [LEADER])
    second = request_for(version, [LEADER, IN_SYNC, LAGGING])
    state.apply(ask(state, version, first))
    result = state.apply(ask(state, version, second))
    assert error_of(result) == Errors.INVALID_UPDATE_VERSION
    assert state.partition().isr == (LEADER,)


def test_a_request_sent_again_after_it_was_granted_is_refused(state: MetadataState, version: int) -> None:
    """The response was lost; granting twice would bump the epoch the leader is about to learn."""
    request = request_for(version, [LEADER])
    state.apply(ask(state, version, request))
    assert error_of(ask(state, version, request)) == Errors.INVALID_UPDATE_VERSION


def test_a_deposed_leader_is_fenced(state: MetadataState, version: int) -> None:
    """The controller has elected another leader meanwhile."""
    state.append_all(records_for_fenced_broker(state.image, state.controller.config, LEADER))
    assert state.partition().leader == IN_SYNC
    result = ask(state, version, request_for(version, [LEADER]))
    assert (error_of(result), result.records) == (Errors.FENCED_LEADER_EPOCH, [])


# Which ISRs make sense.


@pytest.mark.parametrize(
    "isr",
    [
        pytest.param([], id="empty"),
        pytest.param([IN_SYNC], id="without-the-leader"),
        pytest.param([LEADER, STRANGER], id="with-a-broker-that-has-no-replica"),
        pytest.param([LEADER, 99], id="with-a-broker-that-does-not-exist"),
        pytest.param([LEADER, LEADER], id="with-the-leader-twice"),
    ],
)
def test_an_isr_is_a_set_of_replicas_with_the_leader(
    state: MetadataState, version: int, isr: list[int]
) -> None:
    result = ask(state, version, request_for(version, isr))
    assert (error_of(result), result.records) == (Errors.INVALID_REQUEST, [])


# Batches.


def test_partitions_of_a_request_are_judged_one_by_one(state: MetadataState, version: int) -> None:
    state.topic("bar", partition_record([LEADER, IN_SYNC]), partition_record([IN_SYNC, LEADER]), number=2)
    request = request_for(version, [LEADER])
    bar = request_for(version, [LEADER], topic="bar", topic_id=uuid(2))
    bar.topics[0].partitions += request_for(version, [LEADER], index=1).topics[0].partitions
    bar.topics[0].partitions += request_for(version, [LEADER], index=2).topics[0].partitions
    gone = request_for(version, [LEADER], topic="gone", topic_id=uuid(3))
    request.topics += bar.topics + gone.topics
    result = ask(state, version, request)
    assert isinstance(result.response, AlterPartitionResponse)
    assert result.response.error_code == 0
    unknown_topic = Errors.UNKNOWN_TOPIC_ID if version >= 2 else Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert [
        [Errors(partition.error_code) for partition in topic.partitions] for topic in result.response.topics
    ] == [
        [Errors.NONE],
        [Errors.NONE, Errors.INVALID_REQUEST, Errors.UNKNOWN_TOPIC_OR_PARTITION],
        [unknown_topic],
    ]
    assert len(result.records) == 2


def test_topics_come_back_as_they_were_named(state: MetadataState, version: int) -> None:
    """By name up to version 1, by id from version 2 on (KIP-841)."""
    result = ask(state, version, request_for(version, [LEADER]))
    assert isinstance(result.response, AlterPartitionResponse)
    decoded = AlterPartitionResponse.decode(result.response.encode(version), version).topics[0]
    if version >= 2:
        assert (decoded.topic_id, decoded.topic_name) == (uuid(1), "")
    else:
        assert (decoded.topic_id, decoded.topic_name) == (bytes(16), "foo")
