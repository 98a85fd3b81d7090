"""Requests that change nothing: what tools ask a controller for, and what it always refuses."""

from __future__ import annotations

import random

from kraftctl_protocol.config_resource import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_delegation_token_request import DescribeDelegationTokenRequest
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC

ANY = 1
BROKERS, CONTROLLERS = 1, 2
"""Endpoints that DescribeCluster may ask for; a controller knows only the second kind."""
RESOURCES = (
    (TOPIC, ""),
    (BROKER, ""),
    (BROKER, "101"),
    (BROKER, "1"),
    (BROKER_LOGGER, "1"),
    (CLIENT_METRICS, "metrics-1"),
    (GROUP, "group-1"),
)


def draw_read(rng: random.Random, topics: list[str]) -> Message:
    """`topics` are names of some that may exist."""
    names = topics or ["topic-1"]
    kind, name = rng.choice(RESOURCES)
    listed = ListPartitionReassignmentsTopics(name=rng.choice(names), partition_indexes=[0])
    return rng.choice(
        (
            ApiVersionsRequest(client_software_name=rng.choice(("admin", "-")), client_software_version="1"),
            DescribeAclsRequest(
                resource_type_filter=ANY,
                resource_name_filter=None,
                pattern_type_filter=ANY,
                principal_filter=rng.choice((None, "User:alice")),
                host_filter=None,
                operation=ANY,
                permission_type=ANY,
            ),
            DescribeClusterRequest(
                include_cluster_authorized_operations=rng.random() < 0.5,
                endpoint_type=rng.choice((CONTROLLERS, CONTROLLERS, BROKERS)),
            ),
            DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=kind,
                        resource_name=name or (rng.choice(names) if kind == TOPIC else ""),
                        configuration_keys=None,
                    )
                ],
                include_synonyms=rng.random() < 0.5,
            ),
            DescribeDelegationTokenRequest(owners=None),
            DescribeQuorumRequest(
                topics=[
                    TopicData(
                        topic_name=rng.choice((METADATA_TOPIC, METADATA_TOPIC, "topic-1")),
                        partitions=[PartitionData(partition_index=0)],
                    )
                ]
            ),
            DescribeUserScramCredentialsRequest(users=None),
            ListPartitionReassignmentsRequest(topics=rng.choice((None, [listed]))),
            SaslAuthenticateRequest(auth_bytes=b"no"),
            SaslHandshakeRequest(mechanism="PLAIN"),
        )
    )
