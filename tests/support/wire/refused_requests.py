"""Requests that are refused, in whole or in part: one for each reason that a client can cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftctl_protocol.generated import add_raft_voter_request as add_voter
from kraftctl_protocol.generated import alter_client_quotas_request as quotas
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated import alter_partition_reassignments_request as reassign
from kraftctl_protocol.generated import alter_user_scram_credentials_request as scram
from kraftctl_protocol.generated import create_acls_request as acls
from kraftctl_protocol.generated import create_partitions_request as partitions
from kraftctl_protocol.generated import create_topics_request as topics
from kraftctl_protocol.generated import delete_acls_request as acl_filters
from kraftctl_protocol.generated import delete_topics_request as deletions
from kraftctl_protocol.generated import describe_configs_request as shown
from kraftctl_protocol.generated import describe_quorum_request as quorum
from kraftctl_protocol.generated import elect_leaders_request as elections
from kraftctl_protocol.generated import incremental_alter_configs_request as configs
from kraftctl_protocol.generated import update_features_request as features
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.message import Message

TOPIC, BROKER, CLUSTER_DEFAULT = 2, 4, ""
CLIENT_METRICS, GROUP, LOGGER, UNKNOWN_TYPE = 16, 32, 8, 99
SET, DELETE, APPEND, SUBTRACT = range(4)
METADATA_QUORUM = "__cluster_metadata"
OTHER_CLUSTER = "x" * 22


def create_topic(name: str, *, count: int = 1, replicas: int = 1, **fields: Any) -> Message:
    topic = topics.CreatableTopic(name=name, num_partitions=count, replication_factor=replicas, **fields)
    return topics.CreateTopicsRequest(topics=[topic], timeout_ms=10_000)


def assigned(*replicas: list[int], count: int = -1, factor: int = -1, first: int = 0) -> Message:
    """A topic whose replicas are given."""
    rows = [
        topics.CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
        for index, brokers in enumerate(replicas, first)
    ]
    return create_topic("assigned", count=count, replicas=factor, assignments=rows)


def with_config(name: str, value: str | None) -> Message:
    return create_topic("configured", configs=[topics.CreatableTopicConfig(name=name, value=value)])


def created() -> Iterator[tuple[str, Message]]:
    yield "exists", create_topic("kept")
    yield "collides", create_topic("much.used")
    yield "name-empty", create_topic("")
    yield "name-dot", create_topic(".")
    yield "name-long", create_topic("x" * 250)
    yield "name-character", create_topic("a b")
    yield "name-of-the-log", create_topic(METADATA_QUORUM)
    yield "no-partitions", create_topic("none", count=0)
    yield "too-many-partitions", create_topic("many", count=10_001)
    yield "no-replicas", create_topic("none", replicas=0)
    yield "more-replicas-than-brokers", create_topic("many", replicas=9)
    twice = topics.CreatableTopic(name="twice", num_partitions=1, replication_factor=1)
    yield "twice", topics.CreateTopicsRequest(topics=[twice, twice], timeout_ms=10_000)
    yield "unknown-key", with_config("no.such.key", "1")
    yield "no-value", with_config("retention.ms", None)
    yield "no-number", with_config("retention.ms", "x")
    yield "too-small", with_config("segment.bytes", "1")
    yield "too-large", with_config("min.cleanable.dirty.ratio", "1.1")
    yield "no-choice", with_config("compression.type", "zip")
    yield "no-boolean", with_config("preallocate", "maybe")
    yield "unknown-broker", assigned([9])
    yield "broker-twice", assigned([1, 1])
    yield "uneven", assigned([1, 2], [1])
    yield "no-broker", assigned([])
    yield "not-from-0", assigned([1], first=1)
    yield "with-count", assigned([1], count=1)
    yield "with-factor", assigned([1], factor=1)
    yield "only-fenced", assigned([4])
    same = [topics.CreatableReplicaAssignment(partition_index=0, broker_ids=[1])] * 2
    yield "partition-twice", create_topic("assigned", count=-1, replicas=-1, assignments=same)


def deleted() -> Iterator[tuple[str, Message]]:
    def request(*states: deletions.DeleteTopicState) -> Message:
        return deletions.DeleteTopicsRequest(topics=list(states), timeout_ms=10_000)

    state = deletions.DeleteTopicState
    yield "unknown-name", request(state(name="unknown"))
    yield "unknown-id", request(state(topic_id=b"u" * 16))
    yield "neither", request(state())
    yield "both", request(state(name="kept", topic_id=b"u" * 16))
    yield "name-twice", request(state(name="unknown"), state(name="unknown"))
    yield "id-twice", request(state(topic_id=b"u" * 16), state(topic_id=b"u" * 16))


def added_partitions() -> Iterator[tuple[str, Message]]:
    def request(name: str, count: int, *replicas: list[int], times: int = 1) -> Message:
        rows = [partitions.CreatePartitionsAssignment(broker_ids=brokers) for brokers in replicas]
        topic = partitions.CreatePartitionsTopic(name=name, count=count, assignments=rows or None)
        return partitions.CreatePartitionsRequest(topics=[topic] * times, timeout_ms=10_000)

    yield "unknown", request("unknown", 5)
    yield "fewer", request("kept", 1)
    yield "equal", request("kept", 2)
    yield "negative", request("kept", -5)
    yield "too-many", request("much_used", 20_000)
    yield "twice", request("kept", 5, times=2)
    yield "too-few-assignments", request("kept", 5, [1])
    yield "unknown-broker", request("kept", 3, [9, 8])
    yield "broker-twice", request("kept", 3, [1, 1])
    yield "uneven", request("kept", 3, [1])
    yield "no-broker", request("kept", 3, [])
    yield "only-fenced", request("single", 2, [4])


def reassigned() -> Iterator[tuple[str, Message]]:
    def request(name: str, index: int, replicas: list[int] | None, *, factor: bool = True) -> Message:
        partition = reassign.ReassignablePartition(partition_index=index, replicas=replicas)
        topic = reassign.ReassignableTopic(name=name, partitions=[partition])
        return reassign.AlterPartitionReassignmentsRequest(
            topics=[topic], allow_replication_factor_change=factor, timeout_ms=10_000
        )

    yield "unknown-topic", request("unknown", 0, [1])
    yield "unknown-partition", request("kept", 9, [1])
    yield "unknown-broker", request("kept", 0, [9])
    yield "broker-twice", request("kept", 0, [1, 1])
    yield "no-broker", request("kept", 0, [])
    yield "nothing-to-cancel", request("kept", 0, None)
    yield "cancel-unknown-topic", request("unknown", 0, None)
    yield "cancel-unknown-partition", request("kept", 9, None)
    yield "factor", request("kept", 0, [1], factor=False)


def elected() -> Iterator[tuple[str, Message]]:
    def request(kind: int, topic: str, index: int) -> Message:
        chosen = elections.TopicPartitions(topic=topic, partitions=[index])
        return elections.ElectLeadersRequest(election_type=kind, topic_partitions=[chosen], timeout_ms=10_000)

    yield "unknown-topic", request(0, "unknown", 0)
    yield "unknown-partition", request(0, "kept", 9)
    yield "not-needed", request(0, "kept", 0)
    yield "unclean-not-needed", request(1, "kept", 0)
    yield "unclean-unknown-topic", request(1, "unknown", 0)
    yield "unknown-kind", request(9, "kept", 0)
    yield "preferred-is-fenced", request(0, "fenced-first", 0)
    yield "unclean-no-live-replica", request(1, "leaderless", 0)
    yield "preferred-no-live-replica", request(0, "leaderless", 0)


def altered_quotas() -> Iterator[tuple[str, Message]]:
    def request(kinds: list[str], names: list[str | None], key: str, value: float = 1.0) -> Message:
        entity = [
            quotas.EntityData(entity_type=kind, entity_name=name)
            for kind, name in zip(kinds, names, strict=True)
        ]
        entry = quotas.EntryData(entity=entity, ops=[quotas.OpData(key=key, value=value)])
        return quotas.AlterClientQuotasRequest(entries=[entry])

    yield "no-entity", request([], [], "producer_byte_rate")
    yield "unknown-entity", request(["planet"], ["x"], "producer_byte_rate")
    yield "empty-name", request(["user"], [""], "producer_byte_rate")
    yield "entity-twice", request(["user", "user"], ["a", "b"], "producer_byte_rate")
    yield "unknown-key", request(["user"], ["a"], "no_such_rate")
    yield "zero", request(["user"], ["a"], "producer_byte_rate", 0.0)
    yield "fraction", request(["user"], ["a"], "producer_byte_rate", 1.5)
    yield "user-and-ip", request(["user", "ip"], ["a", "127.0.0.1"], "producer_byte_rate")
    yield "ip-key-of-user", request(["user"], ["a"], "connection_creation_rate")
    yield "user-key-of-ip", request(["ip"], ["127.0.0.1"], "producer_byte_rate")
    yield "no-address", request(["ip"], ["not an address"], "connection_creation_rate")


def altered_users() -> Iterator[tuple[str, Message]]:
    def upsert(name: str = "u", *, mechanism: int = 1, iterations: int = 4096, times: int = 1) -> Message:
        one = scram.ScramCredentialUpsertion(
            name=name, mechanism=mechanism, iterations=iterations, salt=b"s" * 16, salted_password=b"p" * 32
        )
        return scram.AlterUserScramCredentialsRequest(upsertions=[one] * times)

    def delete(name: str, mechanism: int = 1) -> Message:
        one = scram.ScramCredentialDeletion(name=name, mechanism=mechanism)
        return scram.AlterUserScramCredentialsRequest(deletions=[one])

    yield "no-such-user", delete("unknown")
    yield "delete-unknown-mechanism", delete("u", 9)
    yield "delete-no-name", delete("")
    yield "no-name", upsert("")
    yield "unknown-mechanism", upsert(mechanism=9)
    yield "few-iterations", upsert(iterations=1)
    yield "many-iterations", upsert(iterations=99_999_999)
    yield "twice", upsert(times=2)


def updated_features() -> Iterator[tuple[str, Message]]:
    def request(feature: str, level: int, kind: int = 1) -> Message:
        update = features.FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
        return features.UpdateFeaturesRequest(feature_updates=[update])

    for kind in (1, 2, 3):
        yield f"unknown-{kind}", request("no.such.version", 1, kind)
        yield f"too-high-{kind}", request("metadata.version", 99, kind)
        yield f"too-low-{kind}", request("metadata.version", 1, kind)
        yield f"lower-{kind}", request("metadata.version", 10, kind)
        yield f"group-lower-{kind}", request("group.version", -1, kind)
    yield "unknown-type", request("group.version", 1, 9)
    yield "kraft-lower", request("kraft.version", 0, 3)
    yield "kraft-too-high", request("kraft.version", 9)


def altered_acls() -> Iterator[tuple[str, Message]]:
    def request(**fields: Any) -> Message:
        values: dict[str, Any] = {
            "resource_type": 2, "resource_name": "t", "resource_pattern_type": 3, "principal": "User:a",
            "host": "*", "operation": 3, "permission_type": 3,
        }  # fmt: skip
        return acls.CreateAclsRequest(creations=[acls.AclCreation(**{**values, **fields})])

    def remove(**fields: Any) -> Message:
        values: dict[str, Any] = {
            "resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1, "permission_type": 1,
        }  # fmt: skip
        return acl_filters.DeleteAclsRequest(filters=[acl_filters.DeleteAclsFilter(**{**values, **fields})])

    yield "cluster-of-another-name", request(resource_type=4, resource_name="c")
    yield "no-resource-name", request(resource_name="")
    yield "no-type-of-principal", request(principal="a")
    yield "any-type", request(resource_type=1)
    yield "any-operation", request(operation=1)
    yield "any-permission", request(permission_type=1)
    yield "any-pattern", request(resource_pattern_type=1)
    yield "match-pattern", request(resource_pattern_type=2)


def altered_configs() -> Iterator[tuple[str, Message]]:
    def request(kind: int, name: str, key: str, value: str | None, operation: int = SET) -> Message:
        entry = configs.AlterableConfig(name=key, value=value, config_operation=operation)
        resource = configs.AlterConfigsResource(resource_type=kind, resource_name=name, configs=[entry])
        return configs.IncrementalAlterConfigsRequest(resources=[resource])

    yield "unknown-topic", request(TOPIC, "unknown", "retention.ms", "1")
    yield "topic-without-name", request(TOPIC, "", "retention.ms", "1")
    yield "topic-name", request(TOPIC, "a b", "retention.ms", "1")
    yield "unknown-key", request(TOPIC, "kept", "no.such.key", "1")
    yield "no-number", request(TOPIC, "kept", "retention.ms", "x")
    yield "append-to-a-number", request(TOPIC, "kept", "retention.ms", "1", APPEND)
    yield "subtract-from-a-number", request(TOPIC, "kept", "retention.ms", "1", SUBTRACT)
    yield "unknown-broker", request(BROKER, "77", "log.cleaner.threads", "1")
    yield "no-broker-id", request(BROKER, "x", "log.cleaner.threads", "1")
    yield "unknown-type", request(UNKNOWN_TYPE, "x", "k", "1")
    yield "unknown-client-metrics-key", request(CLIENT_METRICS, "m", "k", "1")
    yield "client-metrics-interval", request(CLIENT_METRICS, "m", "interval.ms", "1")
    yield "client-metrics-match", request(CLIENT_METRICS, "m", "match", "x")
    yield "client-metrics-without-name", request(CLIENT_METRICS, "", "interval.ms", "100")
    yield "unknown-group-key", request(GROUP, "g", "k", "1")
    yield "group-session", request(GROUP, "g", "consumer.session.timeout.ms", "1")
    yield "group-without-name", request(GROUP, "", "consumer.session.timeout.ms", "50000")
    yield "logger-of-another-node", request(LOGGER, "77", "kafka", "INFO")
    yield "logger-no-id", request(LOGGER, "x", "kafka", "INFO")
    yield "min-insync-replicas", request(BROKER, "1", "min.insync.replicas", "1")
    one = configs.AlterConfigsResource(resource_type=TOPIC, resource_name="kept")
    yield "resource-twice", configs.IncrementalAlterConfigsRequest(resources=[one, one])


def replaced_configs() -> Iterator[tuple[str, Message]]:
    def request(kind: int, name: str, key: str, value: str | None, times: int = 1) -> Message:
        entry = legacy.AlterableConfig(name=key, value=value)
        resource = legacy.AlterConfigsResource(resource_type=kind, resource_name=name, configs=[entry])
        return legacy.AlterConfigsRequest(resources=[resource] * times)

    yield "unknown-topic", request(TOPIC, "unknown", "retention.ms", "1")
    yield "no-number", request(TOPIC, "kept", "retention.ms", "x")
    yield "unknown-type", request(UNKNOWN_TYPE, "x", "k", "1")
    yield "logger", request(LOGGER, "1", "kafka", "INFO")
    yield "unknown-broker", request(BROKER, "77", "log.cleaner.threads", "1")
    yield "twice", request(TOPIC, "kept", "retention.ms", "1", 2)


def described() -> Iterator[tuple[str, Message]]:
    def request(kind: int, name: str) -> Message:
        resource = shown.DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=None
        )
        return shown.DescribeConfigsRequest(resources=[resource])

    yield "unknown-topic", request(TOPIC, "unknown")
    yield "topic-name", request(TOPIC, "a b")
    yield "topic-without-name", request(TOPIC, "")
    yield "no-broker-id", request(BROKER, "x")
    yield "another-broker", request(BROKER, "77")
    yield "unknown-type", request(UNKNOWN_TYPE, "x")
    yield "client-metrics-without-name", request(CLIENT_METRICS, "")
    yield "group-without-name", request(GROUP, "")
    yield "logger-of-another-node", request(LOGGER, "77")
    yield "logger-without-id", request(LOGGER, "")
    yield "logger-no-id", request(LOGGER, "x")


def others() -> Iterator[tuple[str, Message]]:
    yield "unregister-unknown", UnregisterBrokerRequest(broker_id=77)
    yield "brokers-of-a-controller", DescribeClusterRequest(endpoint_type=1)
    yield "unknown-endpoints", DescribeClusterRequest(endpoint_type=9)
    partition = quorum.PartitionData(partition_index=9)
    topic = quorum.TopicData(topic_name=METADATA_QUORUM, partitions=[partition])
    yield "partition-of-another-quorum", quorum.DescribeQuorumRequest(topics=[topic])
    topic = quorum.TopicData(topic_name="x", partitions=[quorum.PartitionData()])
    yield "topic-of-another-quorum", quorum.DescribeQuorumRequest(topics=[topic])
    listener = add_voter.Listener(name="CONTROLLER", host="localhost", port=1)
    directory = b"d" * 16
    yield (
        "add-of-another-cluster",
        add_voter.AddRaftVoterRequest(
            cluster_id=OTHER_CLUSTER, voter_id=5, voter_directory_id=directory, listeners=[listener]
        ),
    )
    yield (
        "add-without-listener",
        add_voter.AddRaftVoterRequest(
            cluster_id=None, voter_id=5, voter_directory_id=directory, listeners=[]
        ),
    )
    yield (
        "add-voter",
        add_voter.AddRaftVoterRequest(
            cluster_id=None, voter_id=3000, voter_directory_id=directory, listeners=[listener]
        ),
    )
    yield (
        "remove-of-another-cluster",
        RemoveRaftVoterRequest(cluster_id=OTHER_CLUSTER, voter_id=5, voter_directory_id=directory),
    )
    yield "remove-unknown", RemoveRaftVoterRequest(cluster_id=None, voter_id=5, voter_directory_id=directory)


GROUPS = (
    created, deleted, added_partitions, reassigned, elected, altered_quotas, altered_users,
    updated_features, altered_acls, altered_configs, replaced_configs, described, others,
)  # fmt: skip


def refused_requests() -> dict[str, Message]:
    """All of them by name: API and reason."""
    return {
        f"{type(request).__name__.removesuffix('Request')}: {name}": request
        for group in GROUPS
        for name, request in group()
    }


def unauthorized_requests() -> dict[str, Message]:
    """One of each API, for a principal that may do nothing."""
    requests = {type(request).__name__: request for request in refused_requests().values()}
    requests["ListPartitionReassignmentsRequest"] = ListPartitionReassignmentsRequest()
    requests["DescribeAclsRequest"] = DescribeAclsRequest()
    return {name.removesuffix("Request"): request for name, request in requests.items()}


def throttled_requests() -> dict[str, Message]:
    """Requests that change partitions, which take from a quota."""
    gone = deletions.DeleteTopicState(name="single")
    more = partitions.CreatePartitionsTopic(name="kept", count=3, assignments=None)
    return {
        "CreateTopics": create_topic("slow"),
        "DeleteTopics": deletions.DeleteTopicsRequest(topics=[gone], timeout_ms=10_000),
        "CreatePartitions": partitions.CreatePartitionsRequest(topics=[more], timeout_ms=10_000),
    }
