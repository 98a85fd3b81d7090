"""A request that asks for more than one batch can hold is refused before the work for it is done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.apis.request_size import RESPONSE_ENTRIES_MAX
from kraftctl.controller.configuration_control.client_quota_control import PARTS_PER_REQUEST_MAX
from kraftctl.controller.configuration_control.config_alteration import CONFIGS_PER_REQUEST_MAX
from kraftctl.controller.configuration_control.validate_configs import (
    PATTERNS_COST_MAX,
    PLAIN_COST,
    pattern_cost,
)
from kraftctl.controller.replication_control.assign_replicas_to_dirs import ASSIGNMENTS_PER_REQUEST_MAX
from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import ITEMS_PER_REQUEST_MAX, PARTITIONS_PER_REQUEST_MAX
from kraftctl.controller.results.response_entries import ENTRIES_PER_ITEM, ResponseTooLongError
from kraftctl.controller.security.scram_control import UPSERTIONS_PER_REQUEST_MAX
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated import assign_replicas_to_dirs_request as directories
from kraftctl_protocol.generated import elect_leaders_request as elections
from kraftctl_protocol.generated import incremental_alter_configs_request as incremental
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, partition_record, uuid

MANY = RECORDS_PER_BATCH_MAX + 1

RESOURCES = RESPONSE_ENTRIES_MAX // (ENTRIES_PER_ITEM + 1)
"""Each with one entry."""


def handled(state: MetadataState, key: int, version: int, request: Message) -> ControllerResult:
    return HANDLERS[key](state.controller, state.context(key, version), request, state.moment())


def codes(result: ControllerResult) -> set[int]:
    """The error codes of all items of the response; or of the whole."""
    response = result.response
    assert response is not None
    for field in response.FIELDS:
        items = getattr(response, field.name)
        if isinstance(items, list) and items:
            return {item.error_code for item in items}
    return {getattr(response, "error_code", 0)}


def with_acls(state: MetadataState) -> MetadataState:
    state.controller.authorizer = StandardAuthorizer(state.image, ["User:tester"], False)
    return state


def config_changes(count: int) -> Message:
    return incremental.IncrementalAlterConfigsRequest(resources=[incremental.AlterConfigsResource()] * count)


def replaced_configs(count: int) -> Message:
    return legacy.AlterConfigsRequest(resources=[legacy.AlterConfigsResource()] * count)


def deletions_of_credentials(count: int) -> Message:
    return AlterUserScramCredentialsRequest(deletions=[ScramCredentialDeletion(name="u")] * count)


@pytest.mark.parametrize(
    ("api_key", "version", "request_of"),
    [
        pytest.param(44, 1, config_changes, id="config-changes"),
        pytest.param(33, 2, replaced_configs, id="replaced-configs"),
        pytest.param(51, 0, deletions_of_credentials, id="credentials"),
        pytest.param(
            20,
            5,
            lambda count: DeleteTopicsRequest(timeout_ms=60_000, topic_names=["foo"] * count),
            id="deletions",
        ),
        pytest.param(
            19, 7, lambda count: CreateTopicsRequest(topics=[CreatableTopic()] * count), id="topics"
        ),
        pytest.param(
            37,
            3,
            lambda count: CreatePartitionsRequest(
                timeout_ms=60_000, topics=[CreatePartitionsTopic()] * count
            ),
            id="partitions",
        ),
        pytest.param(30, 3, lambda count: CreateAclsRequest(creations=[AclCreation()] * count), id="acls"),
    ],
)
def test_more_items_than_can_be_changed_are_not_looked_at(
    api_key: int, version: int, request_of: Callable[[int], Message]
) -> None:
    state = with_acls(MetadataState())
    served = handled(state, api_key, version, request_of(ITEMS_PER_REQUEST_MAX))
    assert Errors.POLICY_VIOLATION not in codes(served)
    refused = handled(state, api_key, version, request_of(ITEMS_PER_REQUEST_MAX + 1))
    assert (codes(refused), refused.records) == ({Errors.POLICY_VIOLATION}, [])
    with pytest.raises(ResponseTooLongError):
        handled(state, api_key, version, request_of(RESPONSE_ENTRIES_MAX))


def test_no_more_partitions_are_named_than_can_be_looked_at() -> None:
    def election(count: int) -> Message:
        return elections.ElectLeadersRequest(
            topic_partitions=[elections.TopicPartitions(topic="foo", partitions=[0] * count)]
        )

    def reassignment(count: int) -> Message:
        topic = ReassignableTopic(name="foo", partitions=[ReassignablePartition()] * count)
        return AlterPartitionReassignmentsRequest(topics=[topic])

    state = MetadataState()
    for key, request_of in ((43, election), (45, reassignment)):
        assert handled(state, key, 1, request_of(PARTITIONS_PER_REQUEST_MAX)).response is not None
        with pytest.raises(ResponseTooLongError):
            handled(state, key, 1, request_of(PARTITIONS_PER_REQUEST_MAX + 1))


class TestMoreRecordsThanABatchCanHave:
    """Nothing is encoded, nor answered one by one, once it is known that all will be refused."""

    def refused(self, state: MetadataState, key: int, version: int, request: Message) -> None:
        result = handled(state, key, version, request)
        assert (codes(result), result.records) == ({Errors.POLICY_VIOLATION}, [])

    @pytest.fixture
    def many_topics(self) -> MetadataState:
        state = MetadataState()
        state.brokers(1, 2)
        for number in range(MANY):
            state.append(TopicRecord(name=f"t{number}", topic_id=uuid(number)))
        return state

    def test_deleted_topics(self, many_topics: MetadataState) -> None:
        self.refused(
            many_topics,
            20,
            5,
            DeleteTopicsRequest(timeout_ms=60_000, topic_names=[f"t{n}" for n in range(MANY)]),
        )

    def test_created_topics(self) -> None:
        state = MetadataState()
        state.brokers(1)
        topics = [CreatableTopic(name=f"n{n}", num_partitions=1, replication_factor=1) for n in range(5_001)]
        self.refused(state, 19, 7, CreateTopicsRequest(topics=topics, validate_only=True))

    def test_created_partitions(self) -> None:
        """Each topic may get 10,000."""
        state = MetadataState()
        state.broker(1)
        for number in range(3):
            state.topic(f"t{number}", partition_record([1]), number=number)
        topics = [
            CreatePartitionsTopic(name=f"t{number}", count=9_000, assignments=None) for number in range(3)
        ]
        self.refused(
            state, 37, 3, CreatePartitionsRequest(timeout_ms=60_000, topics=topics, validate_only=True)
        )

    def test_reassigned_partitions(self) -> None:
        state = MetadataState()
        state.brokers(1, 2)
        state.topic("foo", *[partition_record([1]) for _ in range(MANY)])
        moved = [ReassignablePartition(partition_index=index, replicas=[2]) for index in range(MANY)]
        topic = ReassignableTopic(name="foo", partitions=moved)
        result = handled(state, 45, 0, AlterPartitionReassignmentsRequest(topics=[topic]))
        assert (getattr(result.response, "error_code", 0), result.records) == (Errors.POLICY_VIOLATION, [])

    def test_configs(self, many_topics: MetadataState) -> None:
        resources = [
            incremental.AlterConfigsResource(
                resource_type=TOPIC,
                resource_name=f"t{number}",
                configs=[incremental.AlterableConfig(name="retention.ms", value="1")],
            )
            for number in range(MANY)
        ]
        request = incremental.IncrementalAlterConfigsRequest(resources=resources, validate_only=True)
        self.refused(many_topics, 44, 1, request)

    def test_replaced_configs(self) -> None:
        state = MetadataState()
        state.broker(1)
        configs = [legacy.AlterableConfig(name=f"k{number}", value="v") for number in range(MANY)]
        resource = legacy.AlterConfigsResource(resource_type=BROKER, resource_name="1", configs=configs)
        self.refused(state, 33, 2, legacy.AlterConfigsRequest(resources=[resource]))

    def test_created_acls(self) -> None:
        creations = [
            AclCreation(
                resource_type=TOPIC,
                resource_name=f"t{number}",
                resource_pattern_type=3,
                principal="User:a",
                host="*",
                operation=3,
                permission_type=3,
            )
            for number in range(MANY)
        ]
        self.refused(with_acls(MetadataState()), 30, 3, CreateAclsRequest(creations=creations))


def test_credentials_to_hash_are_limited() -> None:
    state = MetadataState()

    def ask(count: int) -> set[int]:
        upsertions = [
            ScramCredentialUpsertion(
                name=f"u{n}", mechanism=1, iterations=4_096, salt=b"s", salted_password=b"p"
            )
            for n in range(count)
        ]
        return codes(handled(state, 51, 0, AlterUserScramCredentialsRequest(upsertions=upsertions)))

    assert ask(UPSERTIONS_PER_REQUEST_MAX) == {Errors.NONE}
    assert ask(UPSERTIONS_PER_REQUEST_MAX + 1) == {Errors.POLICY_VIOLATION}


def test_names_and_quotas_of_entities_are_limited() -> None:
    state = MetadataState()
    most = [EntryData(ops=[OpData()] * PARTS_PER_REQUEST_MAX)]
    assert codes(handled(state, 49, 1, AlterClientQuotasRequest(entries=most))) == {Errors.INVALID_REQUEST}
    more = [*most, EntryData(ops=[OpData()])]
    assert codes(handled(state, 49, 1, AlterClientQuotasRequest(entries=more))) == {Errors.POLICY_VIOLATION}


def test_directories_of_more_replicas_than_a_broker_reports_are_refused() -> None:
    state = MetadataState()
    state.broker(1)

    def ask(count: int) -> set[int]:
        topic = directories.TopicData(partitions=[directories.PartitionData()] * count)
        data = directories.DirectoryData(id=uuid(1), topics=[topic])
        request = AssignReplicasToDirsRequest(broker_id=1, broker_epoch=BROKER_EPOCH + 1, directories=[data])
        response = handled(state, 73, 0, request).response
        return {getattr(response, "error_code", -1)}

    assert ask(ASSIGNMENTS_PER_REQUEST_MAX) == {Errors.NONE}
    assert ask(ASSIGNMENTS_PER_REQUEST_MAX + 1) == {Errors.POLICY_VIOLATION}


def test_an_isr_of_a_million_members_is_known_to_be_wrong_by_the_first_few() -> None:
    state = MetadataState()
    state.brokers(1, 2, 3)
    state.topic("foo", partition_record([1, 2, 3]))
    data = PartitionData(leader_epoch=5, partition_epoch=10, new_isr=list(range(1, 1_000)))
    topic = TopicData(topic_name="foo", partitions=[data])
    request = AlterPartitionRequest(broker_id=1, broker_epoch=BROKER_EPOCH + 1, topics=[topic])
    (line,) = handled(state, ApiKey.ALTER_PARTITION, 1, request).refusals
    assert "[1, 2, 3, 4] is not a set of replicas" in line


def test_configs_of_a_request_are_limited_with_those_that_its_resources_have() -> None:
    state = MetadataState()
    state.config(GROUP, "g0", consumer__session__timeout__ms="45000")

    def ask(count: int) -> list[int]:
        config = incremental.AlterableConfig(name="consumer.session.timeout.ms", value="46000")
        resources = [
            incremental.AlterConfigsResource(
                resource_type=GROUP, resource_name=f"g{number}", configs=[config] * each
            )
            for number, each in ((0, count), (1, 1))
        ]
        response = handled(
            state, 44, 1, incremental.IncrementalAlterConfigsRequest(resources=resources)
        ).response
        return [item.error_code for item in getattr(response, "responses", [])]

    assert ask(CONFIGS_PER_REQUEST_MAX - 2) == [Errors.NONE, Errors.NONE]
    assert ask(CONFIGS_PER_REQUEST_MAX - 1) == [Errors.NONE, Errors.POLICY_VIOLATION]
    assert ask(CONFIGS_PER_REQUEST_MAX) == [Errors.POLICY_VIOLATION, Errors.NONE], "the first does not count"


def test_mirror_maker_deletes_the_configs_that_thousands_of_topics_do_not_have() -> None:
    """One request for all topics, with a DELETE for each config that has its default."""
    state = MetadataState()
    for number in range(3_000):
        state.topic(f"t{number}", partition_record([1]), number=number)
    names = sorted(TOPIC_CONFIG_KEYS)[:27]
    deletions = [incremental.AlterableConfig(name=name, config_operation=1) for name in names]
    resources = [
        incremental.AlterConfigsResource(resource_type=TOPIC, resource_name=f"t{number}", configs=deletions)
        for number in range(3_000)
    ]
    result = handled(state, 44, 1, incremental.IncrementalAlterConfigsRequest(resources=resources))
    assert {item.error_code for item in getattr(result.response, "responses", [])} == {Errors.NONE}
    assert result.records == []


class TestClientMatching:
    """A regular expression of 32 KB took a minute to compile, on the loop."""

    def ask(self, *matches: str) -> list[int]:
        resources = [
            incremental.AlterConfigsResource(
                resource_type=CLIENT_METRICS,
                resource_name=f"m{number}",
                configs=[incremental.AlterableConfig(name="match", value=match)],
            )
            for number, match in enumerate(matches)
        ]
        request = incremental.IncrementalAlterConfigsRequest(resources=resources)
        response = handled(MetadataState(), 44, 1, request).response
        return [item.error_code for item in getattr(response, "responses", [])]

    @pytest.mark.parametrize(
        "expression",
        [
            pytest.param("(?i)" + "[\u0100-\uffff]" * 5, id="wide-sets"),
            pytest.param("(?i)" + r"[\u0100-\uffff]" * 5, id="escaped"),
            pytest.param("(?i)" + r"[\U00000100-\U0000ffff]" * 5, id="escaped-in-eight"),
            pytest.param("(?i)[" + "\u0100-\uffff" * 5 + "]", id="ranges-of-one-set"),
            pytest.param("(?i)" + "[a-z]" * 1_000, id="sets-without-case"),
            pytest.param("a+" * (PATTERNS_COST_MAX // 2 + 1), id="long"),
        ],
    )
    def test_an_expression_that_takes_long_is_refused(self, expression: str) -> None:
        assert self.ask(f"client_id={expression}") == [Errors.POLICY_VIOLATION]

    def test_the_expressions_of_all_resources_count(self) -> None:
        half = "client_id=" + "a+" * (PATTERNS_COST_MAX // 4)
        assert self.ask(half, half, half) == [Errors.NONE, Errors.NONE, Errors.POLICY_VIOLATION]

    def test_what_is_in_use_is_accepted(self) -> None:
        usual = (
            "client_software_name=apache-kafka-java,client_software_version=[3-9]\\.[0-9]+.*,client_id=a.*"
        )
        assert self.ask(*[usual] * 50) == [Errors.NONE] * 50
        ids = ",".join([f"client_instance_id=b69cc35a-7a54-4790-aa69-{number:012}" for number in range(550)])
        assert self.ask(*[ids] * 9) == [Errors.NONE] * 9

    def test_names_are_not_compiled(self) -> None:
        assert pattern_cost("b69cc35a-7a54-4790-aa69-cc2bd4ee4538") == PLAIN_COST
        assert pattern_cost("app-[0-9]") > len("app-[0-9]")


class TestWhatAnAnswerRepeats:
    """It is made once, and the response has the same object for each topic."""

    def test_inherited_configs_of_created_topics(self) -> None:
        state = MetadataState()
        state.broker(1)
        own = [CreatableTopicConfig(name="retention.ms", value="1")]
        topics = [
            CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=configs)
            for name, configs in (("a", []), ("b", []), ("c", own))
        ]
        response = handled(state, 19, 7, CreateTopicsRequest(topics=topics)).response
        assert isinstance(response, CreateTopicsResponse)
        first, second, third = [topic.configs or [] for topic in response.topics]
        assert first
        assert all(a is b for a, b in zip(first, second, strict=True))
        different = [b.name for a, b in zip(first, third, strict=True) if a is not b]
        assert different == ["retention.ms"]

    def test_configs_of_described_topics(self) -> None:
        state = MetadataState()
        for number, name in enumerate(("a", "b", "c")):
            state.topic(name, partition_record([1]), number=number)
        state.config(TOPIC, "c", retention__ms="1")
        resources = [
            DescribeConfigsResource(resource_type=TOPIC, resource_name=name, configuration_keys=keys)
            for name, keys in (("a", None), ("b", None), ("c", None), ("a", ["retention.ms"]))
        ]
        response = handled(state, 32, 4, DescribeConfigsRequest(resources=resources)).response
        assert isinstance(response, DescribeConfigsResponse)
        first, second, third, fourth = [result.configs for result in response.results]
        assert first is second
        assert [config.value for config in third if config.name == "retention.ms"] == ["1"]
        assert [config.name for config in fourth] == ["retention.ms"]


def test_each_resource_that_acls_are_listed_for_counts_as_three_entries() -> None:
    state = MetadataState()
    state.allow_only(*[(3, TOPIC, f"t{number}") for number in range(RESOURCES)])
    everything = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    result = handled(state, 29, 3, everything)
    assert len(getattr(result.response, "resources", [])) == RESOURCES
    record = AccessControlEntryRecord(
        id=uuid(1),
        resource_type=TOPIC,
        resource_name="one more",
        pattern_type=3,
        principal="User:tester",
        host="*",
        operation=3,
        permission_type=3,
    )
    state.append(record)
    with pytest.raises(ResponseTooLongError):
        handled(state, 29, 3, everything)
