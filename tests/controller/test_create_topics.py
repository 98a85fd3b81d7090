"""CreateTopics: checks in Kafka's order, the records, the response (KIP-4, KIP-464, KIP-525)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.create_topics import create_topics
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.metadata import features
from kraftctl.metadata.directory_id import MIGRATING, UNASSIGNED
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kraftctl_protocol.generated.partition_record import PartitionRecord
from tests.support.active_controller import ActiveController
from tests.support.metadata_state import MetadataState, directory

VERSIONS = (2, 3, 4, 5, 6, 7)


def topic(name: str = "foo", partitions: int = 2, factor: int = 2, **configs: str | None) -> CreatableTopic:
    """`__` in a config's name is a dot."""
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        configs=[CreatableTopicConfig(name=k.replace("__", "."), value=v) for k, v in configs.items()],
    )


def manual(
    *assignments: tuple[int, list[int]], partitions: int = -1, factor: int = -1, name: str = "foo"
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[CreatableReplicaAssignment(partition_index=i, broker_ids=b) for i, b in assignments],
    )


def ask(
    state: MetadataState,
    *topics: CreatableTopic,
    version: int = 7,
    validate_only: bool = False,
    now_ms: int = 0,
) -> ControllerResult:
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    request = CreateTopicsRequest.decode(request.encode(version), version)
    result = create_topics(state.controller, state.context(19, version), request, state.moment(now_ms))
    assert isinstance(result.response, CreateTopicsResponse)
    result.response.encode(version)
    assert result.is_atomic
    return result


def results(result: ControllerResult) -> dict[str, CreatableTopicResult]:
    assert isinstance(result.response, CreateTopicsResponse)
    return {topic.name: topic for topic in result.response.topics}


def three_brokers(*, elr: bool = False) -> MetadataState:
    state = MetadataState(elr=elr)
    state.brokers(0, 1, 2)
    return state


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_is_created_with_its_configs_before_its_partitions(version: int) -> None:
    state = three_brokers()
    result = state.apply(ask(state, topic(partitions=3, retention__ms="1000"), version=version))
    names = [entry.record.NAME for entry in result.records]
    assert names == ["TopicRecord", "ConfigRecord"] + ["PartitionRecord"] * 3
    created = results(result)["foo"]
    assert (created.error_code, created.error_message) == (0, None)
    assert (created.num_partitions, created.replication_factor) == (3, 2)
    image = state.image.topics.topic_by_name("foo")
    assert image is not None
    assert image.topic_id == created.topic_id
    for index, partition in image.partitions.items():
        assert len(set(partition.replicas)) == 2, index
        assert partition.isr == partition.replicas
        assert partition.leader == partition.replicas[0]
        assert (partition.leader_epoch, partition.partition_epoch) == (0, 0)
        assert partition.directories == tuple(directory(replica) for replica in partition.replicas)


def test_min_insync_replicas_at_creation_clears_the_elr() -> None:
    """KIP-966: a ClearElrRecord sits between config and partitions, even for a new topic."""
    state = three_brokers(elr=True)
    result = state.apply(ask(state, topic(partitions=1, min__insync__replicas="2")))
    names = [entry.record.NAME for entry in result.records]
    assert names == ["TopicRecord", "ConfigRecord", "ClearElrRecord", "PartitionRecord"]


def test_the_response_lists_effective_configs_sorted() -> None:
    state = three_brokers()
    created = results(ask(state, topic(retention__ms="1000")))["foo"]
    assert created.configs is not None
    names = [config.name for config in created.configs]
    assert names == sorted(names)
    by_name = {config.name: config for config in created.configs}
    assert (by_name["retention.ms"].value, by_name["retention.ms"].config_source) == ("1000", 1)
    assert by_name["segment.bytes"].config_source == 5


@pytest.mark.parametrize("version", [5, 6, 7])
def test_inherited_configs_are_encoded_as_they_are_listed(version: int) -> None:
    state = MetadataState(properties={"log.retention.ms": "5000"})
    state.brokers(0, 1, 2)
    topics = (topic("foo"), topic("bar", retention__ms="1000"))
    response = ask(state, *topics, version=version).response
    assert isinstance(response, CreateTopicsResponse)
    decoded = CreateTopicsResponse.decode(response.encode(version), version)
    for listed, read in zip(response.topics, decoded.topics, strict=True):
        assert listed.configs
        assert read.configs
        assert [
            (one.name, one.value, one.config_source, one.is_sensitive, one.read_only)
            for one in listed.configs
        ] == [
            (one.name, one.value, one.config_source, one.is_sensitive, one.read_only) for one in read.configs
        ]
    values = [{config.name: config.value for config in one.configs or []} for one in decoded.topics]
    assert [one["retention.ms"] for one in values] == ["5000", "1000"]


def test_inherited_configs_follow_the_version_and_the_brokers_configs() -> None:
    """They are kept from request to request."""
    state = three_brokers()

    def described(version: int) -> str | None:
        response = ask(state, topic(), version=version, validate_only=True).response
        assert isinstance(response, CreateTopicsResponse)
        (one,) = CreateTopicsResponse.decode(response.encode(version), version).topics
        return next(config.value for config in one.configs or [] if config.name == "retention.ms")

    default = described(7)
    assert described(5) == default
    state.config(BROKER, CLUSTER_DEFAULT, log__retention__ms="7000")
    assert described(5) == described(7) == "7000"
    state.config(BROKER, CLUSTER_DEFAULT, log__retention__ms=None)
    assert described(7) == default


@pytest.mark.prevents("KAFKA-13324")
def test_validate_only_checks_everything_and_writes_nothing() -> None:
    """KAFKA-13324."""
    state = three_brokers()
    result = ask(state, topic(), topic("bar", factor=9), validate_only=True)
    assert result.records == []
    assert results(result)["foo"].error_code == 0
    assert results(result)["foo"].num_partitions == 2
    assert results(result)["bar"].error_code == Errors.INVALID_REPLICATION_FACTOR


@pytest.mark.parametrize("version", [4, 5, 6, 7])
def test_defaults_come_from_the_controllers_configuration(version: int) -> None:
    """KIP-464."""
    state = MetadataState(properties={"num.partitions": "4", "default.replication.factor": "3"})
    state.brokers(0, 1, 2)
    created = results(ask(state, topic(partitions=-1, factor=-1), version=version))["foo"]
    assert (created.num_partitions, created.replication_factor) == (4, 3)


def existing_foo() -> MetadataState:
    state = three_brokers()
    state.apply(ask(state, topic("foo_a"), topic("foo.b")))
    return state


REFUSALS = [
    pytest.param(topic("foo_a"), Errors.TOPIC_ALREADY_EXISTS, id="exists"),
    pytest.param(topic(""), Errors.INVALID_TOPIC_EXCEPTION, id="empty-name"),
    pytest.param(topic(".."), Errors.INVALID_TOPIC_EXCEPTION, id="dots"),
    pytest.param(topic("a b"), Errors.INVALID_TOPIC_EXCEPTION, id="space"),
    pytest.param(topic("x" * 250), Errors.INVALID_TOPIC_EXCEPTION, id="too-long"),
    pytest.param(topic("foo.a"), Errors.INVALID_TOPIC_EXCEPTION, id="collides-with-underscore"),
    pytest.param(topic("foo_b"), Errors.INVALID_TOPIC_EXCEPTION, id="collides-with-dot"),
    pytest.param(topic("__cluster_metadata"), Errors.INVALID_REQUEST, id="kafkas-own"),
    pytest.param(topic(retention__ms=None), Errors.INVALID_CONFIG, id="null-config"),
    pytest.param(topic(cleanup__policy=None), Errors.INVALID_CONFIG, id="null-config-that-may-be-empty"),
    pytest.param(topic(retention__ms="x"), Errors.INVALID_CONFIG, id="bad-config"),
    pytest.param(topic(no__such="1"), Errors.INVALID_CONFIG, id="unknown-config"),
    pytest.param(topic(factor=0), Errors.INVALID_REPLICATION_FACTOR, id="factor-zero"),
    pytest.param(topic(factor=-2), Errors.INVALID_REPLICATION_FACTOR, id="factor-negative"),
    pytest.param(topic(factor=4), Errors.INVALID_REPLICATION_FACTOR, id="factor-beyond-brokers"),
    pytest.param(topic(partitions=0), Errors.INVALID_PARTITIONS, id="no-partitions"),
    pytest.param(topic(partitions=-2), Errors.INVALID_PARTITIONS, id="partitions-negative"),
    pytest.param(manual((0, [0, 1]), factor=2), Errors.INVALID_REQUEST, id="manual-with-factor"),
    pytest.param(manual((0, [0, 1]), partitions=1), Errors.INVALID_REQUEST, id="manual-with-count"),
    pytest.param(
        manual((0, [0, 1]), (0, [1, 2])), Errors.INVALID_REPLICA_ASSIGNMENT, id="manual-partition-twice"
    ),
    pytest.param(manual((0, [])), Errors.INVALID_REPLICA_ASSIGNMENT, id="manual-empty"),
    pytest.param(manual((0, [0, 0])), Errors.INVALID_REPLICA_ASSIGNMENT, id="manual-broker-twice"),
    pytest.param(manual((0, [0, 9])), Errors.INVALID_REPLICA_ASSIGNMENT, id="manual-unknown-broker"),
    pytest.param(manual((0, [0, 1]), (1, [1])), Errors.INVALID_REPLICA_ASSIGNMENT, id="manual-uneven-factor"),
    pytest.param(manual((0, [0]), (2, [1])), Errors.INVALID_REPLICA_ASSIGNMENT, id="manual-with-a-gap"),
    pytest.param(manual((1, [0])), Errors.INVALID_REPLICA_ASSIGNMENT, id="manual-not-from-zero"),
]


@pytest.mark.prevents("KAFKA-13863")
@pytest.mark.parametrize(("wanted", "error"), REFUSALS)
def test_refusals(wanted: CreatableTopic, error: Errors) -> None:
    """One bad topic does not keep a good one from being created. KAFKA-13863 for null-config."""
    state = existing_foo()
    result = ask(state, wanted, topic("good"))
    refused = results(result)[wanted.name]
    assert Errors(refused.error_code) == error
    assert refused.error_message
    assert results(result)["good"].error_code == 0
    created = {entry.record.name for entry in result.records if entry.record.NAME == "TopicRecord"}  # type: ignore[attr-defined]
    assert created == {"good"}


def test_a_broker_that_has_shut_down_gets_replicas_of_new_topics() -> None:
    """As with Kafka's controller, three replicas can be had while one of three brokers is restarted."""
    active = ActiveController(min_insync_replicas="1")
    active.start_brokers(1, 2, 3)
    active.create_topic("t", 3, 3)
    active.heartbeat(1, shut_down=True)
    for broker in (2, 3):
        active.heartbeat(broker)
    assert active.heartbeat(1, shut_down=True).should_shut_down
    registration = active.controller.image.cluster.brokers[1]
    assert (registration.fenced, registration.in_controlled_shutdown) == (True, True)
    active.create_topic("u", 1, 3)
    created = active.controller.image.topics.topic_by_name("u")
    assert created is not None
    assert (sorted(created.partitions[0].replicas), sorted(created.partitions[0].isr)) == ([1, 2, 3], [2, 3])


def test_a_name_given_twice_is_refused_once() -> None:
    result = ask(three_brokers(), topic("foo"), topic("bar"), topic("foo"))
    assert isinstance(result.response, CreateTopicsResponse)
    answered = [(answer.name, answer.error_code) for answer in result.response.topics]
    assert answered == [("bar", 0), ("foo", int(Errors.INVALID_REQUEST))]


@pytest.mark.prevents("KAFKA-14204", "KAFKA-14996", "KAFKA-21129")
def test_too_many_partitions_fail_the_whole_request() -> None:
    result = ask(three_brokers(), topic("foo", partitions=9_999, factor=1), topic("bar"))
    codes = {name: Errors(answer.error_code) for name, answer in results(result).items()}
    assert codes == {"foo": Errors.POLICY_VIOLATION, "bar": Errors.POLICY_VIOLATION}
    assert result.records == []


def test_the_limit_counts_more_partitions_than_an_integer_has() -> None:
    """Kafka's sum of them is less than nothing: it makes assignments until it has no memory."""
    result = ask(three_brokers(), topic("foo", partitions=2**31 - 1, factor=1), topic("bar"))
    codes = {name: Errors(answer.error_code) for name, answer in results(result).items()}
    assert codes == {"foo": Errors.POLICY_VIOLATION, "bar": Errors.POLICY_VIOLATION}


@pytest.mark.prevents("KAFKA-13916", "KAFKA-13841")
@pytest.mark.parametrize("fenced", [[0], [0, 1]])
def test_fenced_brokers_get_replicas_but_neither_lead_nor_are_in_sync(fenced: list[int]) -> None:
    """KAFKA-13841: registered brokers may get replicas, even before their first heartbeat."""
    state = MetadataState()
    for broker_id in (0, 1, 2):
        state.broker(broker_id, fenced=broker_id in fenced)
    result = ask(state, topic(partitions=6, factor=3))
    assert len(result.records) == 7
    for entry in result.records[1:]:
        assert isinstance(entry.record, PartitionRecord)
        assert sorted(entry.record.replicas) == [0, 1, 2]
        assert not set(entry.record.isr) & set(fenced)
        assert entry.record.leader == entry.record.isr[0]


def test_no_broker_alive() -> None:
    state = MetadataState()
    state.broker(0, fenced=True)
    refused = results(ask(state, topic(factor=1)))["foo"]
    assert refused.error_code == Errors.INVALID_REPLICATION_FACTOR
    assert (refused.error_message or "").startswith("Unable to replicate the partition 1 time(s): ")


def test_brokers_that_leave_or_are_cordoned_get_no_replicas() -> None:
    """KIP-841, KIP-1066."""
    state = MetadataState()
    state.broker(0, in_controlled_shutdown=True)
    state.broker(1, cordoned=[directory(1)])
    state.broker(2, directories=2, cordoned=[directory(2, 0)])
    result = ask(state, topic(partitions=1, factor=1))
    record = result.records[1].record
    assert isinstance(record, PartitionRecord)
    assert (record.replicas, record.directories) == ([2], [UNASSIGNED])


def test_a_manual_assignment_on_inactive_brokers_only() -> None:
    state = MetadataState()
    state.broker(0, fenced=True)
    state.broker(1, in_controlled_shutdown=True)
    state.broker(2)
    refused = results(ask(state, manual((0, [0, 1]))))["foo"]
    assert refused.error_code == Errors.INVALID_REPLICA_ASSIGNMENT
    accepted = ask(state, manual((0, [0, 2])))
    record = accepted.records[1].record
    assert isinstance(record, PartitionRecord)
    assert (record.replicas, record.isr, record.leader) == ([0, 2], [2], 2)


@pytest.mark.parametrize(
    ("metadata_version", "record_version", "directories"),
    [
        pytest.param(features.IBP_3_6_IV2, 0, [], id="3.6"),
        pytest.param(features.IBP_3_7_IV2, 1, [directory(0)], id="3.7"),
        pytest.param(features.LATEST_PRODUCTION, 2, [directory(0)], id="latest"),
    ],
)
def test_record_versions(metadata_version: int, record_version: int, directories: list[bytes]) -> None:
    state = MetadataState(metadata_version)
    state.broker(0)
    result = state.apply(ask(state, topic(partitions=1, factor=1)))
    record = result.records[1]
    assert isinstance(record.record, PartitionRecord)
    assert (record.version, record.record.directories) == (record_version, directories)
    created = state.image.topics.topic_by_name("foo")
    assert created is not None
    assert created.partitions[0].directories == (tuple(directories) or (MIGRATING,))


def limited(rate: float) -> MetadataState:
    """Every user may create `rate` partitions a second; the bucket holds 11 seconds' worth."""
    state = three_brokers()
    state.append(
        ClientQuotaRecord(
            entity=[EntityData(entity_type="user", entity_name=None)],
            key="controller_mutation_rate",
            value=rate,
        )
    )
    return state


@pytest.mark.parametrize("validate_only", [False, True])
def test_a_used_up_quota_refuses_the_rest(validate_only: bool) -> None:
    """KIP-599: charged topic by topic, validate_only included; numbers as seen with Kafka."""
    state = limited(1.0)
    result = ask(
        state,
        topic("a", partitions=30),
        topic("b", partitions=1),
        validate_only=validate_only,
        now_ms=1_000,
    )
    codes = {name: Errors(answer.error_code) for name, answer in results(result).items()}
    assert codes == {"a": Errors.NONE, "b": Errors.THROTTLING_QUOTA_EXCEEDED}
    assert isinstance(result.response, CreateTopicsResponse)
    assert result.response.throttle_time_ms == 19_000
    again = ask(state, topic("b"), validate_only=validate_only, now_ms=3_804)
    assert isinstance(again.response, CreateTopicsResponse)
    assert again.response.throttle_time_ms == 16_196
    assert Errors(results(again)["b"].error_code) == Errors.THROTTLING_QUOTA_EXCEEDED
    assert results(ask(state, topic("b"), now_ms=20_000))["b"].error_code == 0


def test_clients_that_do_not_know_the_error_are_only_throttled() -> None:
    state = limited(1.0)
    result = ask(state, topic("a", partitions=30), topic("b"), version=5)
    assert {answer.error_code for answer in results(result).values()} == {0}
    assert isinstance(result.response, CreateTopicsResponse)
    assert result.response.throttle_time_ms == 21_000


def test_authorization_is_per_topic() -> None:
    """A principal that may not describe configs gets neither configs nor counts (KIP-525)."""
    state = three_brokers()
    state.allow_only((AclOperation.CREATE, ResourceType.TOPIC, "foo"))
    answers = results(ask(state, topic("foo"), topic("bar")))
    assert Errors(answers["bar"].error_code) == Errors.TOPIC_AUTHORIZATION_FAILED
    foo = answers["foo"]
    assert (foo.error_code, foo.topic_config_error_code) == (0, int(Errors.TOPIC_AUTHORIZATION_FAILED))
    assert (foo.num_partitions, foo.replication_factor, foo.configs) == (-1, -1, [])


def test_create_on_the_cluster_allows_every_name() -> None:
    state = three_brokers()
    state.allow_only((AclOperation.CREATE, ResourceType.CLUSTER, "kafka-cluster"))
    assert results(ask(state, topic("foo")))["foo"].error_code == 0
