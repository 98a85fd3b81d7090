"""A request whose answer would be so long that it blocks the loop is refused in few bytes, or for a part."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.apis.request_size import RESPONSE_ENTRIES_MAX
from kraftctl.controller.configuration_control.client_quota_control import (
    ENTITIES_PER_REQUEST_MAX,
    alter_client_quotas,
)
from kraftctl.controller.configuration_control.describe_configs import describe_configs
from kraftctl.controller.replication_control.delete_topics import delete_topics
from kraftctl.controller.replication_control.elect_leaders import elect_leaders
from kraftctl.controller.replication_control.reassign_partitions import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.response_entries import ENTRIES_PER_ITEM, ResponseTooLongError
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
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
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kraftctl_protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)
from kraftctl_protocol.message import Message
from tests.support.metadata_state import MetadataState, partition_record

ITEMS_MAX = RESPONSE_ENTRIES_MAX // ENTRIES_PER_ITEM
OF_ONE_TOPIC_MAX = RESPONSE_ENTRIES_MAX - ENTRIES_PER_ITEM


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


def listings(topics: int, partitions: int = 0) -> Message:
    asked = [ListPartitionReassignmentsTopics(name="foo", partition_indexes=[0] * partitions)] * topics
    return ListPartitionReassignmentsRequest(topics=asked)


def quotas(entities: int, _of_each: int = 0) -> Message:
    return AlterClientQuotasRequest(entries=[EntryData()] * entities)


HANDLERS = {
    49: alter_client_quotas,
    20: delete_topics,
    43: elect_leaders,
    45: alter_partition_reassignments,
    32: describe_configs,
}


@pytest.mark.parametrize(
    ("api_key", "request_of", "most"),
    [
        pytest.param(43, elections, (ITEMS_MAX, 0), id="topics-to-elect"),
        pytest.param(45, reassignments, (ITEMS_MAX, 0), id="topics-to-reassign"),
        pytest.param(20, deletions, (ITEMS_MAX, 0), id="topics-to-delete"),
        pytest.param(32, resources, (ITEMS_MAX, 0), id="resources-to-describe"),
        pytest.param(49, quotas, (ITEMS_MAX, 0), id="entities-with-quotas"),
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
    with pytest.raises(ResponseTooLongError):
        handler(state.controller, context, request_of(*more), state.moment())


def listed(state: MetadataState, request: Message) -> ListPartitionReassignmentsResponse:
    result = list_partition_reassignments(state.controller, state.context(46, 0), request, state.moment())
    assert isinstance(result.response, ListPartitionReassignmentsResponse)
    return result.response


def test_partitions_to_list_count_only_if_they_are_reassigned() -> None:
    """Tools list the reassignments of a whole cluster by the names of all its partitions."""
    state = MetadataState()
    state.topic("foo", partition_record([1, 2]))
    assert listed(state, listings(2, RESPONSE_ENTRIES_MAX)).topics == []
    state = MetadataState()
    state.topic("foo", partition_record([1, 2, 3], [1, 2], adding=[3]))
    (topic,) = listed(state, listings(1, OF_ONE_TOPIC_MAX)).topics
    assert len(topic.partitions) == OF_ONE_TOPIC_MAX
    with pytest.raises(ResponseTooLongError):
        listed(state, listings(1, OF_ONE_TOPIC_MAX + 1))


def test_topics_whose_configurations_do_not_fit_are_refused_one_by_one() -> None:
    state = MetadataState()
    state.topic("foo", partition_record([1]))
    foo = DescribeConfigsResource(resource_type=TOPIC, resource_name="foo", configuration_keys=None)

    def ask(count: int) -> list[int]:
        request = DescribeConfigsRequest(resources=[foo] * count)
        response = describe_configs(state.controller, state.context(32, 4), request, state.moment()).response
        assert isinstance(response, DescribeConfigsResponse)
        assert all(bool(result.configs) != bool(result.error_code) for result in response.results)
        return [result.error_code for result in response.results]

    answer = describe_configs(
        state.controller, state.context(32, 4), DescribeConfigsRequest(resources=[foo]), state.moment()
    ).response
    assert isinstance(answer, DescribeConfigsResponse)
    fitting = (RESPONSE_ENTRIES_MAX - 10_000 * ENTRIES_PER_ITEM) // len(answer.results[0].configs)
    codes = ask(10_000)
    assert codes == [0] * fitting + [Errors.POLICY_VIOLATION] * (10_000 - fitting)


def test_synonyms_are_looked_up_once_for_all_topics_of_a_request() -> None:
    """Of 10,000 topics they took half a minute on the loop. Topics without a config share all they have."""
    state = MetadataState()
    state.topic("foo", partition_record([1]))
    state.config(TOPIC, "foo", retention__ms="1")
    foo = DescribeConfigsResource(resource_type=TOPIC, resource_name="foo", configuration_keys=None)
    request = DescribeConfigsRequest(resources=[foo] * 2, include_synonyms=True)
    response = describe_configs(state.controller, state.context(32, 4), request, state.moment()).response
    assert isinstance(response, DescribeConfigsResponse)
    first, second = (result.configs for result in response.results)
    assert any(config.synonyms for config in first)
    for config, same in zip(first, second, strict=True):
        assert config.name == "retention.ms" or all(
            a is b for a, b in zip(config.synonyms, same.synonyms, strict=True)
        )


def test_quotas_of_more_entities_than_may_be_altered_are_refused() -> None:
    state = MetadataState()

    def ask(request: AlterClientQuotasRequest) -> tuple[set[int], int]:
        result = alter_client_quotas(state.controller, state.context(49, 1), request, state.moment())
        assert isinstance(result.response, AlterClientQuotasResponse)
        return {entry.error_code for entry in result.response.entries}, len(result.records)

    def of_users(count: int) -> AlterClientQuotasRequest:
        ops = [OpData(key="producer_byte_rate", value=1.0)]
        users = [EntityData(entity_type="user", entity_name=f"u{number}") for number in range(count)]
        return AlterClientQuotasRequest(entries=[EntryData(entity=[user], ops=ops) for user in users])

    assert ask(of_users(RECORDS_PER_BATCH_MAX)) == ({Errors.NONE}, RECORDS_PER_BATCH_MAX)
    assert ask(of_users(RECORDS_PER_BATCH_MAX + 1)) == ({Errors.POLICY_VIOLATION}, 0)
    entries = [EntryData()] * ENTITIES_PER_REQUEST_MAX  # one entity, which is in the response once
    assert ask(AlterClientQuotasRequest(entries=entries)) == ({Errors.INVALID_REQUEST}, 0)
    assert ask(AlterClientQuotasRequest(entries=[*entries, EntryData()])) == ({Errors.POLICY_VIOLATION}, 0)
