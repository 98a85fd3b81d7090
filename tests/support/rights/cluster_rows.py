"""Rows of APIs that need a right on the cluster, or none."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import add_raft_voter_request as add_voter
from kraftctl_protocol.generated import alter_client_quotas_request as quotas
from kraftctl_protocol.generated import alter_partition_reassignments_request as reassign
from kraftctl_protocol.generated import begin_quorum_epoch_request as begin
from kraftctl_protocol.generated import describe_quorum_request as quorum
from kraftctl_protocol.generated import end_quorum_epoch_request as end
from kraftctl_protocol.generated import fetch_request as fetch
from kraftctl_protocol.generated import fetch_snapshot_request as snapshot
from kraftctl_protocol.generated import vote_request as vote
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.create_acls_request import CreateAclsRequest
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_delegation_token_request import DescribeDelegationTokenRequest
from kraftctl_protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.uuids import ZERO_UUID
from tests.support.rights.grants import Grant
from tests.support.rights.row import Refusal, Row, World

FOREIGN = "9kJz1yG8TqOQ6k2u2fLxkA"
"""The id of another cluster: a request that is let in changes nothing."""

UNKNOWN_BROKER = 77

CLUSTER = int(Errors.CLUSTER_AUTHORIZATION_FAILED)
TOP: Refusal = (("error_code", CLUSTER),)

ANY, LITERAL = 1, 3


def on_cluster(
    name: str, operation: int, request: Message, refused: Refusal = TOP, *, errors_only: bool = False
) -> Row:
    """A row whose request is the same everywhere."""
    return Row(name, always(request), (Grant(operation),), refused, errors_only=errors_only)


def always(request: Message) -> Callable[[World], Message]:
    return lambda world: request


def _fetch() -> fetch.FetchRequest:
    partition = fetch.FetchPartition(partition=0, current_leader_epoch=0, last_fetched_epoch=0)
    topic = fetch.FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return fetch.FetchRequest(cluster_id=FOREIGN, topics=[topic])


ACTIONS = [
    on_cluster(
        "fetch",
        AclOperation.CLUSTER_ACTION,
        _fetch(),
    ),
    on_cluster(
        "vote",
        AclOperation.CLUSTER_ACTION,
        vote.VoteRequest(
            cluster_id=FOREIGN,
            topics=[vote.TopicData(topic_name=METADATA_TOPIC, partitions=[vote.PartitionData()])],
        ),
    ),
    on_cluster(
        "begin-quorum-epoch",
        AclOperation.CLUSTER_ACTION,
        begin.BeginQuorumEpochRequest(
            cluster_id=FOREIGN,
            topics=[begin.TopicData(topic_name=METADATA_TOPIC, partitions=[begin.PartitionData()])],
        ),
    ),
    on_cluster(
        "end-quorum-epoch",
        AclOperation.CLUSTER_ACTION,
        end.EndQuorumEpochRequest(
            cluster_id=FOREIGN,
            topics=[end.TopicData(topic_name=METADATA_TOPIC, partitions=[end.PartitionData()])],
        ),
    ),
    on_cluster(
        "fetch-snapshot",
        AclOperation.CLUSTER_ACTION,
        snapshot.FetchSnapshotRequest(
            cluster_id=FOREIGN,
            topics=[snapshot.TopicSnapshot(name=METADATA_TOPIC, partitions=[snapshot.PartitionSnapshot()])],
        ),
    ),
    on_cluster("update-raft-voter", AclOperation.CLUSTER_ACTION, UpdateRaftVoterRequest(cluster_id=FOREIGN)),
    on_cluster(
        "alter-partition", AclOperation.CLUSTER_ACTION, AlterPartitionRequest(broker_id=UNKNOWN_BROKER)
    ),
    on_cluster(
        "broker-registration",
        AclOperation.CLUSTER_ACTION,
        BrokerRegistrationRequest(broker_id=UNKNOWN_BROKER, cluster_id=FOREIGN, incarnation_id=b"i" * 16),
    ),
    on_cluster(
        "broker-heartbeat", AclOperation.CLUSTER_ACTION, BrokerHeartbeatRequest(broker_id=UNKNOWN_BROKER)
    ),
    on_cluster(
        "allocate-producer-ids",
        AclOperation.CLUSTER_ACTION,
        AllocateProducerIdsRequest(broker_id=UNKNOWN_BROKER),
    ),
    on_cluster(
        "controller-registration",
        AclOperation.CLUSTER_ACTION,
        ControllerRegistrationRequest(controller_id=UNKNOWN_BROKER, incarnation_id=ZERO_UUID),
    ),
    on_cluster(
        "assign-replicas-to-dirs",
        AclOperation.CLUSTER_ACTION,
        AssignReplicasToDirsRequest(broker_id=UNKNOWN_BROKER),
    ),
    # What is in it is not read before its sender is let in.
    on_cluster("envelope", AclOperation.CLUSTER_ACTION, EnvelopeRequest(request_principal=b"\0")),
]

CHANGES = [
    on_cluster("add-raft-voter", AclOperation.ALTER, add_voter.AddRaftVoterRequest(cluster_id=FOREIGN)),
    on_cluster("remove-raft-voter", AclOperation.ALTER, RemoveRaftVoterRequest(cluster_id=FOREIGN)),
    on_cluster("unregister-broker", AclOperation.ALTER, UnregisterBrokerRequest(broker_id=UNKNOWN_BROKER)),
    on_cluster(
        "unregister-controller", AclOperation.ALTER, UnregisterControllerRequest(controller_id=UNKNOWN_BROKER)
    ),
    on_cluster(
        "update-features",
        AclOperation.ALTER,
        UpdateFeaturesRequest(
            feature_updates=[FeatureUpdateKey(feature="metadata.version", max_version_level=99)],
            validate_only=True,
        ),
    ),
    on_cluster(
        "elect-leaders",
        AclOperation.ALTER,
        ElectLeadersRequest(topic_partitions=[TopicPartitions(topic="kept", partitions=[0])]),
        (("error_code", CLUSTER), ("replica_election_results.partition_result.error_code", CLUSTER)),
    ),
    on_cluster(
        "elect-all-leaders",
        AclOperation.ALTER,
        ElectLeadersRequest(topic_partitions=None),
        # Kafka lists topics, too, of which it lists no partition.
        errors_only=True,
    ),
    on_cluster(
        "alter-partition-reassignments",
        AclOperation.ALTER,
        reassign.AlterPartitionReassignmentsRequest(
            topics=[
                reassign.ReassignableTopic(
                    name="unknown", partitions=[reassign.ReassignablePartition(replicas=[1])]
                )
            ]
        ),
        (("error_code", CLUSTER), ("responses.partitions.error_code", CLUSTER)),
    ),
    on_cluster(
        "alter-user-scram-credentials",
        AclOperation.ALTER,
        AlterUserScramCredentialsRequest(deletions=[ScramCredentialDeletion(name="unknown", mechanism=1)]),
        (("results.error_code", CLUSTER),),
    ),
    on_cluster(
        "create-acls",
        AclOperation.ALTER,
        CreateAclsRequest(creations=[Grant(AclOperation.DESCRIBE).entry("User:somebody")]),
        (("results.error_code", CLUSTER),),
    ),
    on_cluster(
        "delete-acls",
        AclOperation.ALTER,
        DeleteAclsRequest(
            filters=[
                DeleteAclsFilter(
                    resource_type_filter=ANY,
                    resource_name_filter=None,
                    pattern_type_filter=ANY,
                    principal_filter="User:unknown",
                    host_filter=None,
                    operation=ANY,
                    permission_type=ANY,
                )
            ]
        ),
        (("filter_results.error_code", CLUSTER),),
    ),
    on_cluster(
        "alter-client-quotas",
        AclOperation.ALTER_CONFIGS,
        quotas.AlterClientQuotasRequest(
            entries=[
                quotas.EntryData(
                    entity=[quotas.EntityData(entity_type="user", entity_name="somebody")],
                    ops=[quotas.OpData(key="producer_byte_rate", value=1.0)],
                )
            ],
            validate_only=True,
        ),
        (("entries.error_code", CLUSTER),),
    ),
]

QUESTIONS = [
    on_cluster(
        "describe-acls",
        AclOperation.DESCRIBE,
        DescribeAclsRequest(
            resource_type_filter=ANY,
            resource_name_filter=None,
            pattern_type_filter=ANY,
            principal_filter="User:unknown",
            host_filter=None,
            operation=ANY,
            permission_type=ANY,
        ),
    ),
    on_cluster(
        "describe-quorum",
        AclOperation.DESCRIBE,
        quorum.DescribeQuorumRequest(
            topics=[quorum.TopicData(topic_name=METADATA_TOPIC, partitions=[quorum.PartitionData()])]
        ),
        errors_only=True,
    ),
    on_cluster("list-partition-reassignments", AclOperation.DESCRIBE, ListPartitionReassignmentsRequest()),
    on_cluster(
        "describe-cluster",
        AclOperation.ALTER,
        DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=True),
    ),
]

FOR_EVERYBODY = [
    Row("api-versions", always(ApiVersionsRequest(client_software_name="x", client_software_version="1")),
        errors_only=True),
    Row("sasl-handshake", always(SaslHandshakeRequest(mechanism="PLAIN")), errors_only=True),
    Row("sasl-authenticate", always(SaslAuthenticateRequest())),
    Row("describe-delegation-token", always(DescribeDelegationTokenRequest(owners=None))),
    Row("describe-user-scram-credentials", always(DescribeUserScramCredentialsRequest())),
]  # fmt: skip

CLUSTER_ROWS = [*ACTIONS, *CHANGES, *QUESTIONS, *FOR_EVERYBODY]
