"""A broker of a small cluster that is in memory: it describes itself, and changes as a controller would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kraftctl_protocol.config_resource import BROKER, NAMES, TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import (
    alter_client_quotas_request,
    alter_client_quotas_response,
    create_acls_request,
    create_acls_response,
    create_partitions_request,
    create_partitions_response,
    create_topics_request,
    create_topics_response,
    describe_acls_request,
    describe_acls_response,
    describe_client_quotas_request,
    describe_client_quotas_response,
    describe_cluster_request,
    describe_cluster_response,
    describe_configs_request,
    describe_configs_response,
    describe_user_scram_credentials_request,
    describe_user_scram_credentials_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
    list_config_resources_request,
    list_config_resources_response,
    metadata_request,
    metadata_response,
)
from kraftctl_protocol.message import Message
from kraftctl_spark.restore.cluster_state import NamedAcl, QuotaKey, ResourceConfig, TopicReplicas
from kraftctl_spark.restore.wire_numbers import ACL_FIELDS, acl_name, acl_number
from tests.support.wire.scripted_node import ScriptedNode

BROKER_ID = 1
SOURCES = {"TOPIC": 1, "BROKER": 2, "CLIENT_METRICS": 7, "GROUP": 8}


@dataclass
class FakeCluster:
    """One broker and what the cluster has."""

    topics: dict[str, TopicReplicas] = field(default_factory=dict)
    configs: dict[ResourceConfig, str] = field(default_factory=dict)
    acls: set[NamedAcl] | None = field(default_factory=set)
    quotas: dict[QuotaKey, float] = field(default_factory=dict)
    refuses: Callable[[str], Errors] = lambda _: Errors.NONE
    """The error for the name of a topic, the key of a config or a quota, or a principal."""
    describes: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    """The type of a config and its text in descriptions, by its key and the value that it is set to."""
    hidden: set[str] = field(default_factory=set)
    """The topics that the client may not describe."""
    lists_topics: bool = True
    """Brokers before 4.1 list no topics among the resources that have configs."""
    is_throttled: Callable[[], bool] = lambda: False
    """Whether a quota refuses the next topic."""
    throttle_ms: int = 0
    requests: list[Message] = field(default_factory=list)

    def node(self) -> ScriptedNode:
        return ScriptedNode(
            {
                metadata_request.MetadataRequest: self._metadata,
                describe_cluster_request.DescribeClusterRequest: self._cluster,
                list_config_resources_request.ListConfigResourcesRequest: self._listed,
                describe_configs_request.DescribeConfigsRequest: self._described,
                describe_acls_request.DescribeAclsRequest: self._described_acls,
                describe_client_quotas_request.DescribeClientQuotasRequest: self._described_quotas,
                describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest: lambda _: (
                    describe_user_scram_credentials_response.DescribeUserScramCredentialsResponse()
                ),
                create_topics_request.CreateTopicsRequest: self._create,
                create_partitions_request.CreatePartitionsRequest: self._add_partitions,
                incremental_alter_configs_request.IncrementalAlterConfigsRequest: self._alter,
                create_acls_request.CreateAclsRequest: self._create_acls,
                alter_client_quotas_request.AlterClientQuotasRequest: self._alter_quotas,
            }
        )

    def serve(self) -> ScriptedNode:
        """Returns the node, which this cluster names as its only broker."""
        self._node = self.node()
        return self._node

    def _metadata(self, _: Message) -> Message:
        part = metadata_response.MetadataResponsePartition
        return metadata_response.MetadataResponse(
            topics=[
                metadata_response.MetadataResponseTopic(
                    name=name,
                    partitions=[
                        part(partition_index=place, replica_nodes=list(one))
                        for place, one in reversed(list(enumerate(topic.replicas)))
                    ],
                )
                for name, topic in self.topics.items()
                if name not in self.hidden
            ]
        )

    def _cluster(self, _: Message) -> Message:
        broker = describe_cluster_response.DescribeClusterBroker(
            broker_id=BROKER_ID, host="127.0.0.1", port=self._node.port
        )
        return describe_cluster_response.DescribeClusterResponse(
            cluster_id="fake", controller_id=BROKER_ID, brokers=[broker]
        )

    def _listed(self, _: Message) -> Message:
        numbers = {name: number for number, name in NAMES.items()}
        found = {(numbers[one.resource_type], one.resource_name) for one in self.configs}
        found = {one for one in found if one[0] != TOPIC}
        if self.lists_topics:
            found |= {(TOPIC, name) for name in self.topics}
        return list_config_resources_response.ListConfigResourcesResponse(
            config_resources=[
                list_config_resources_response.ConfigResource(resource_name=name, resource_type=kind)
                for kind, name in sorted(found)
            ]
        )

    def _described(self, request: Any) -> Message:
        results = []
        for asked in request.resources:
            found = [
                describe_configs_response.DescribeConfigsResourceResult(
                    name=one.key,
                    value=shown,
                    config_source=3 if one[:2] == ("BROKER", "") else SOURCES[one.resource_type],
                    config_type=kind,
                )
                for one, value in self.configs.items()
                if one[:2] == (NAMES[asked.resource_type], asked.resource_name)
                for kind, shown in [self.describes.get((one.key, value), (0, value))]
            ]
            static = describe_configs_response.DescribeConfigsResourceResult(
                name="broker.rack", value="a", config_source=4
            )
            results.append(
                describe_configs_response.DescribeConfigsResult(
                    resource_type=asked.resource_type,
                    resource_name=asked.resource_name,
                    configs=[*found, static],
                )
            )
        return describe_configs_response.DescribeConfigsResponse(results=results)

    def _described_acls(self, _: Message) -> Message:
        if self.acls is None:
            return describe_acls_response.DescribeAclsResponse(error_code=Errors.SECURITY_DISABLED)
        return describe_acls_response.DescribeAclsResponse(
            resources=[
                describe_acls_response.DescribeAclsResource(
                    resource_type=acl_number("resource_type", acl.resource_type),
                    resource_name=acl.resource_name,
                    pattern_type=acl_number("pattern_type", acl.pattern_type),
                    acls=[
                        describe_acls_response.AclDescription(
                            principal=acl.principal,
                            host=acl.host,
                            operation=acl_number("operation", acl.operation),
                            permission_type=acl_number("permission", acl.permission),
                        )
                    ],
                )
                for acl in sorted(self.acls)
            ]
        )

    def _described_quotas(self, _: Message) -> Message:
        return describe_client_quotas_response.DescribeClientQuotasResponse(
            entries=[
                describe_client_quotas_response.EntryData(
                    entity=[
                        describe_client_quotas_response.EntityData(entity_type=kind, entity_name=name)
                        for kind, name in reversed(quota.entity)
                    ],
                    values=[describe_client_quotas_response.ValueData(key=quota.key, value=value)],
                )
                for quota, value in self.quotas.items()
            ]
        )

    def _create(self, request: Any) -> Message:
        if not request.validate_only:
            self.requests.append(request)
        results = []
        for one in request.topics:
            error = Errors.NONE if request.validate_only else self.refuses(one.name)
            if error == Errors.NONE and one.name in self.topics:
                error = Errors.TOPIC_ALREADY_EXISTS
            if error == Errors.NONE and one.num_partitions == 0:
                error = Errors.INVALID_PARTITIONS
            if error == Errors.NONE and not request.validate_only and self.is_throttled():
                error = Errors.THROTTLING_QUOTA_EXCEEDED
            if error == Errors.NONE and not request.validate_only:
                placed = [tuple(each.broker_ids) for each in one.assignments]
                placed = placed or [(BROKER_ID,) * one.replication_factor] * one.num_partitions
                self.topics[one.name] = TopicReplicas(tuple(placed))
                for config in one.configs:
                    self.configs[ResourceConfig("TOPIC", one.name, config.name)] = str(config.value)
            results.append(create_topics_response.CreatableTopicResult(name=one.name, error_code=error))
        return create_topics_response.CreateTopicsResponse(topics=results, throttle_time_ms=self.throttle_ms)

    def _add_partitions(self, request: Any) -> Message:
        self.requests.append(request)
        results = []
        for one in request.topics:
            before = self.topics[one.name].replicas
            error = Errors.INVALID_PARTITIONS if one.count <= len(before) else Errors.NONE
            if error == Errors.NONE and self.is_throttled():
                error = Errors.THROTTLING_QUOTA_EXCEEDED
            if error == Errors.NONE:
                self.topics[one.name] = TopicReplicas(before + before[:1] * (one.count - len(before)))
            results.append(
                create_partitions_response.CreatePartitionsTopicResult(name=one.name, error_code=error)
            )
        return create_partitions_response.CreatePartitionsResponse(
            results=results, throttle_time_ms=self.throttle_ms
        )

    def _alter(self, request: Any) -> Message:
        self.requests.append(request)
        results = []
        for one in request.resources:
            errors = [self.refuses(config.name) for config in one.configs]
            if one.resource_type == BROKER and one.resource_name not in ("", str(BROKER_ID)):
                errors = [Errors.INVALID_REQUEST]
            if one.resource_type == TOPIC and one.resource_name not in self.topics:
                errors = [Errors.UNKNOWN_TOPIC_OR_PARTITION]
            error = max(errors)
            for config in one.configs if error == Errors.NONE else ():
                key = ResourceConfig(NAMES[one.resource_type], one.resource_name, config.name)
                self.configs[key] = str(config.value)
            results.append(
                incremental_alter_configs_response.AlterConfigsResourceResponse(
                    resource_type=one.resource_type, resource_name=one.resource_name, error_code=error
                )
            )
        return incremental_alter_configs_response.IncrementalAlterConfigsResponse(responses=results)

    def _create_acls(self, request: Any) -> Message:
        self.requests.append(request)
        assert self.acls is not None
        results = []
        for one in request.creations:
            error = self.refuses(one.principal)
            if error == Errors.NONE:
                names = [
                    acl_name(name, getattr(one, wire)) for name, wire in zip(ACL_FIELDS, WIRE, strict=True)
                ]
                resource, pattern, operation, permission = names
                self.acls.add(
                    NamedAcl(
                        *(resource, one.resource_name, pattern, one.principal, one.host),
                        *(operation, permission),
                    )
                )
            results.append(create_acls_response.AclCreationResult(error_code=error))
        return create_acls_response.CreateAclsResponse(results=results)

    def _alter_quotas(self, request: Any) -> Message:
        """As Kafka's, with one result for each entity."""
        self.requests.append(request)
        results = {}
        for one in request.entries:
            entity = tuple(sorted((part.entity_type, part.entity_name) for part in one.entity))
            error = max(self.refuses(each.key) for each in one.ops)
            for each in one.ops if error == Errors.NONE else ():
                self.quotas[QuotaKey(entity, each.key)] = each.value
            results[entity] = alter_client_quotas_response.EntryData(
                error_code=error,
                entity=[
                    alter_client_quotas_response.EntityData(entity_type=kind, entity_name=name)
                    for kind, name in entity
                ],
            )
        return alter_client_quotas_response.AlterClientQuotasResponse(entries=list(results.values()))


WIRE = ("resource_type", "resource_pattern_type", "operation", "permission_type")
