"""AlterPartition: requests against images, every version (KIP-497, KIP-704, KIP-841, KIP-903)."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.alter_partition_response import PartitionData as PartitionResult
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.metadata_state import MetadataState, partition_record
from tests.support.wire.alter_partition_requests import VERSIONS, ask, only_partition, request_for


def foo_without_3_in_sync(metadata_version: int = features.LATEST_PRODUCTION) -> MetadataState:
    """Brokers 1 to 4; foo-0 on 1, 2, 3, led by 1, with 3 out of sync."""
    state = MetadataState(metadata_version)
    state.brokers(1, 2, 3, 4)
    state.topic("foo", partition_record([1, 2, 3], [1, 2]))
    return state


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
def test_no_topics_no_questions(version: int) -> None:
    state = foo_without_3_in_sync()
    request = AlterPartitionRequest(broker_id=9, broker_epoch=-1)
    assert ask(state, version, request).response == AlterPartitionResponse()


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
