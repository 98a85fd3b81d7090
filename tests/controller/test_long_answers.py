"""A request that names so much that its answer would block the loop is not answered: its connection ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.apis.request_size import ANSWER_ENTRIES_MAX
from kraftctl.controller.answer_entries import ENTRIES_PER_ITEM, AnswerTooLongError
from kraftctl.controller.configuration_control.describe_configs import describe_configs
from kraftctl.controller.replication_control.delete_topics import delete_topics
from kraftctl.controller.replication_control.elect_leaders import elect_leaders
from kraftctl.controller.replication_control.reassign_partitions import alter_partition_reassignments
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.message import Message
from tests.support.metadata_state import MetadataState

ITEMS_MAX = ANSWER_ENTRIES_MAX // ENTRIES_PER_ITEM
OF_ONE_TOPIC_MAX = ANSWER_ENTRIES_MAX - ENTRIES_PER_ITEM


def elections(topics: int, partitions: int = 0) -> Message:
    asked = [TopicPartitions(topic="foo", partitions=[0] * partitions)] * topics
    return ElectLeadersRequest(topic_partitions=asked)


def reassignments(topics: int, partitions: int = 0) -> Message:
    asked = [ReassignableTopic(name="foo", partitions=[ReassignablePartition()] * partitions)] * topics
    return AlterPartitionReassignmentsRequest(topics=asked)


def resources(count: int, _of_each: int = 0) -> Message:
    return DescribeConfigsRequest(resources=[DescribeConfigsResource(resource_type=99)] * count)


def deletions(topics: int, _of_each: int = 0) -> Message:
    return DeleteTopicsRequest(topic_names=["foo"] * topics)


HANDLERS = {20: delete_topics, 43: elect_leaders, 45: alter_partition_reassignments, 32: describe_configs}


@pytest.mark.parametrize(
    ("api_key", "request_of", "most"),
    [
        pytest.param(43, elections, (ITEMS_MAX, 0), id="topics-to-elect"),
        pytest.param(43, elections, (1, OF_ONE_TOPIC_MAX), id="partitions-to-elect"),
        pytest.param(45, reassignments, (ITEMS_MAX, 0), id="topics-to-reassign"),
        pytest.param(45, reassignments, (1, OF_ONE_TOPIC_MAX), id="partitions-to-reassign"),
        pytest.param(20, deletions, (ITEMS_MAX, 0), id="topics-to-delete"),
        pytest.param(32, resources, (ITEMS_MAX, 0), id="resources-to-describe"),
    ],
)
def test_as_much_as_may_be_named_is_answered_and_no_more(
    api_key: int, request_of: Callable[[int, int], Message], most: tuple[int, int]
) -> None:
    state = MetadataState()
    context = state.context(api_key, 1)
    items, of_each = most
    handler = HANDLERS[api_key]
    assert handler(state.controller, context, request_of(items, of_each), state.moment()).response is not None
    more = (items, of_each + 1) if of_each else (items + 1, 0)
    with pytest.raises(AnswerTooLongError):
        handler(state.controller, context, request_of(*more), state.moment())
