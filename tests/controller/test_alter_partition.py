"""AlterPartition: requests against images, every version (KIP-497, KIP-704, KIP-841, KIP-903)."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.alter_partition_response import PartitionData as PartitionResult
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, partition_record, uuid
from tests.support.wire.alter_partition_requests import VERSIONS, ask, only_partition, request_for


def foo_without_3_in_sync(metadata_version: int = features.LATEST_PRODUCTION) -> MetadataState:
    """Brokers 1 to 4; foo-0 on 1, 2, 3, led by 1, with 3 out of sync."""
    state = MetadataState(metadata_version)
    state.brokers(1, 2, 3, 4)
    state.topic("foo", partition_record([1, 2, 3], [1, 2]))
    return state


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("isr", "record_isr"),
    [
        pytest.param([1, 2, 3], [1, 2, 3], id="expand"),
        pytest.param([3, 1, 2], [3, 1, 2], id="order-as-sent"),
        pytest.param([1], [1], id="shrink"),
        pytest.param([1, 3], [1, 3], id="swap"),
    ],
)
def test_an_isr_change_is_one_record_and_the_new_state(
    version: int, isr: list[int], record_isr: list[int]
) -> None:
    state = foo_without_3_in_sync()
    result = state.apply(ask(state, version, request_for(version, isr)))
    assert [entry.record for entry in result.records] == [
        PartitionChangeRecord(partition_id=0, topic_id=uuid(1), isr=record_isr)
    ]
    assert [entry.version for entry in result.records] == [2]
    assert only_partition(result) == PartitionResult(
        partition_index=0, leader_id=1, leader_epoch=5, isr=record_isr, partition_epoch=11
    )
    partition = state.partition()
    assert (partition.isr, partition.leader_epoch, partition.partition_epoch) == (tuple(record_isr), 5, 11)


@pytest.mark.parametrize("version", VERSIONS)
def test_no_change_is_granted_without_a_record(version: int) -> None:
    state = foo_without_3_in_sync()
    result = ask(state, version, request_for(version, [1, 2]))
    assert result.records == []
    assert only_partition(result) == PartitionResult(
        partition_index=0, leader_id=1, leader_epoch=5, isr=[1, 2], partition_epoch=10
    )


def by_version(before: Errors, since_2: Errors) -> dict[int, Errors]:
    return {0: before, 1: before, 2: since_2, 3: since_2}


def always(error: Errors) -> dict[int, Errors]:
    return by_version(error, error)


REFUSALS = [
    pytest.param(
        {"topic": "bar", "topic_id": uuid(9)},
        by_version(Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_ID),
        id="topic-unknown",
    ),
    pytest.param(
        {"topic": "", "topic_id": bytes(16)},
        by_version(Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_ID),
        id="topic-missing",
    ),
    pytest.param({"index": 7}, always(Errors.UNKNOWN_TOPIC_OR_PARTITION), id="partition-unknown"),
    pytest.param({"leader_epoch": 6}, always(Errors.NOT_CONTROLLER), id="leader-epoch-ahead"),
    pytest.param({"partition_epoch": 11}, always(Errors.NOT_CONTROLLER), id="partition-epoch-ahead"),
    pytest.param({"leader_epoch": 4}, always(Errors.FENCED_LEADER_EPOCH), id="leader-epoch-behind"),
    pytest.param({"sender": 2}, always(Errors.INVALID_REQUEST), id="sender-is-not-the-leader"),
    pytest.param({"partition_epoch": 9}, always(Errors.INVALID_UPDATE_VERSION), id="partition-epoch-behind"),
    pytest.param({"isr": []}, always(Errors.INVALID_REQUEST), id="isr-empty"),
    pytest.param({"isr": [1, 2, 2]}, always(Errors.INVALID_REQUEST), id="isr-with-duplicates"),
    pytest.param({"isr": [1, 4]}, always(Errors.INVALID_REQUEST), id="isr-with-a-stranger"),
    pytest.param({"isr": [2, 3]}, always(Errors.INVALID_REQUEST), id="isr-without-the-leader"),
]
"""What is wrong -> the error per version."""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("wrong", "errors"), REFUSALS)
def test_refusals(version: int, wrong: dict[str, object], errors: dict[int, Errors]) -> None:
    state = foo_without_3_in_sync()
    arguments: dict[str, object] = {"isr": [1, 2, 3], **wrong}
    result = ask(state, version, request_for(version, **arguments))  # type: ignore[arg-type]
    assert result.records == []
    assert Errors(only_partition(result).error_code) == errors[version]
    assert only_partition(result).isr == []


ORDER = [
    pytest.param({"leader_epoch": 6, "partition_epoch": 9}, Errors.NOT_CONTROLLER, id="4-before-8"),
    pytest.param({"leader_epoch": 4, "partition_epoch": 11}, Errors.NOT_CONTROLLER, id="5-before-6"),
    pytest.param({"leader_epoch": 4, "sender": 2}, Errors.FENCED_LEADER_EPOCH, id="6-before-7"),
    pytest.param({"sender": 2, "partition_epoch": 9}, Errors.INVALID_REQUEST, id="7-before-8"),
    pytest.param({"partition_epoch": 9, "isr": []}, Errors.INVALID_UPDATE_VERSION, id="8-before-9"),
    pytest.param({"isr": [1, 4, 5]}, Errors.INVALID_REQUEST, id="9-before-11"),
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("wrong", "error"), ORDER)
def test_the_first_broken_rule_is_the_answer(version: int, wrong: dict[str, object], error: Errors) -> None:
    state = foo_without_3_in_sync()
    arguments: dict[str, object] = {"isr": [1, 2, 3], **wrong}
    result = ask(state, version, request_for(version, **arguments))  # type: ignore[arg-type]
    assert Errors(only_partition(result).error_code) == error


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("sender", "epoch"),
    [
        pytest.param(1, BROKER_EPOCH, id="epoch-behind"),
        pytest.param(1, BROKER_EPOCH + 2, id="epoch-ahead"),
        pytest.param(9, BROKER_EPOCH + 9, id="not-registered"),
        pytest.param(1, -1, id="epoch-unknown"),
    ],
)
def test_a_stale_broker_epoch_fails_the_whole_request(version: int, sender: int, epoch: int) -> None:
    state = foo_without_3_in_sync()
    result = ask(state, version, request_for(version, [1, 2, 3], sender=sender, sender_epoch=epoch))
    assert result.records == []
    assert result.response == AlterPartitionResponse(error_code=int(Errors.STALE_BROKER_EPOCH))


@pytest.mark.parametrize("version", VERSIONS)
def test_no_topics_no_questions(version: int) -> None:
    state = foo_without_3_in_sync()
    request = AlterPartitionRequest(broker_id=9, broker_epoch=-1)
    assert ask(state, version, request).response == AlterPartitionResponse()


def test_one_bad_partition_does_not_hurt_the_others() -> None:
    state = MetadataState()
    state.brokers(1, 2, 3)
    state.topic("foo", partition_record([1, 2, 3], [1, 2]), partition_record([1, 2, 3], [1]))
    good = request_for(3, [1, 2, 3])
    bad = request_for(3, [1, 2], index=1, partition_epoch=9)
    good.topics[0].partitions += bad.topics[0].partitions
    result = ask(state, 3, good)
    assert isinstance(result.response, AlterPartitionResponse)
    codes = [partition.error_code for partition in result.response.topics[0].partitions]
    assert codes == [0, int(Errors.INVALID_UPDATE_VERSION)]
    assert len(result.records) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_completing_a_reassignment_may_take_the_leadership_away(version: int) -> None:
    """The one refusal that comes with a record: replica 1 leaves, 4 takes over."""
    state = MetadataState()
    state.brokers(1, 4)
    state.topic("foo", partition_record([4, 1], [1], removing=[1], adding=[4]))
    result = state.apply(ask(state, version, request_for(version, [1, 4])))
    expected = Errors.NEW_LEADER_ELECTED if version >= 2 else Errors.FENCED_LEADER_EPOCH
    assert only_partition(result) == PartitionResult(partition_index=0, error_code=int(expected))
    record = result.records[0].record
    assert isinstance(record, PartitionChangeRecord)
    assert (record.isr, record.leader, record.replicas) == ([4], 4, [4])
    assert (record.removing_replicas, record.adding_replicas) == ([], [])
    partition = state.partition()
    assert (partition.replicas, partition.isr, partition.leader) == ((4,), (4,), 4)
    assert (partition.leader_epoch, partition.partition_epoch) == (6, 11)
    assert not partition.reassigning


@pytest.mark.parametrize("version", VERSIONS)
def test_completing_a_reassignment_keeps_a_leader_that_stays_but_bumps_its_epoch(version: int) -> None:
    """Replicas that go must not fetch under the old epoch: the record repeats the leader."""
    state = MetadataState()
    state.brokers(1, 2, 4)
    state.topic("foo", partition_record([1, 4, 2], [1, 2], removing=[2], adding=[4]))
    result = state.apply(ask(state, version, request_for(version, [1, 2, 4])))
    assert only_partition(result) == PartitionResult(
        partition_index=0, leader_id=1, leader_epoch=6, isr=[1, 4], partition_epoch=11
    )
    assert state.partition().replicas == (1, 4)


@pytest.mark.prevents("KAFKA-15021", "KAFKA-15109")
@pytest.mark.parametrize(
    ("metadata_version", "leader_epoch", "record_version"),
    [
        pytest.param(features.IBP_3_5_IV2, 6, 0, id="3.5-bumps"),
        pytest.param(features.IBP_3_6_IV0, 5, 0, id="3.6-does-not"),
        pytest.param(features.IBP_3_7_IV2, 5, 1, id="3.7-with-directories"),
        pytest.param(features.IBP_4_0_IV1, 5, 2, id="4.0-with-elr-fields"),
    ],
)
def test_a_shrink_bumps_the_leader_epoch_only_before_3_6(
    metadata_version: int, leader_epoch: int, record_version: int
) -> None:
    """KAFKA-15021."""
    state = foo_without_3_in_sync(metadata_version)
    result = state.apply(ask(state, 3, request_for(3, [1])))
    assert result.records[0].version == record_version
    assert state.partition().leader_epoch == leader_epoch
    assert only_partition(result).leader_epoch == leader_epoch


@pytest.mark.parametrize("metadata_version", [features.IBP_3_5_IV2, features.LATEST_PRODUCTION])
def test_an_expansion_never_bumps_the_leader_epoch(metadata_version: int) -> None:
    state = foo_without_3_in_sync(metadata_version)
    state.apply(ask(state, 3, request_for(3, [1, 2, 3])))
    assert state.partition().leader_epoch == 5
