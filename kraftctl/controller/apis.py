"""What a controller answers besides raft: API -> handler, right it needs, who may answer, what it waits for.

A handler reads the shared state and returns records and a response; nothing changes until the records are
replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.controller.api_versions import api_versions
from kraftctl.controller.client_quota_control import alter_client_quotas
from kraftctl.controller.cluster_control.process_broker_heartbeat import process_broker_heartbeat
from kraftctl.controller.cluster_control.register_broker import register_broker
from kraftctl.controller.cluster_control.register_controller import register_controller
from kraftctl.controller.cluster_control.unregister_broker import unregister_broker
from kraftctl.controller.configuration_control.alter_configs import (
    incremental_alter_configs,
    legacy_alter_configs,
)
from kraftctl.controller.configuration_control.describe_configs import describe_configs
from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.describe_cluster import describe_cluster
from kraftctl.controller.error_responses import error_response
from kraftctl.controller.feature_control import update_features
from kraftctl.controller.moment import Moment
from kraftctl.controller.producer_id_control import allocate_producer_ids
from kraftctl.controller.replication_control.alter_partition import alter_partition
from kraftctl.controller.replication_control.assign_replicas_to_dirs import assign_replicas_to_dirs
from kraftctl.controller.replication_control.create_partitions import create_partitions
from kraftctl.controller.replication_control.create_topics import create_topics
from kraftctl.controller.replication_control.delete_topics import delete_topics
from kraftctl.controller.replication_control.elect_leaders import elect_leaders
from kraftctl.controller.replication_control.reassign_partitions import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraftctl.controller.request_context import RequestContext
from kraftctl.controller.security.acl_control import create_acls, delete_acls, describe_acls
from kraftctl.controller.security.authorization import AclOperation
from kraftctl.controller.security.delegation_token_control import (
    create_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
)
from kraftctl.controller.security.scram_control import alter_user_scram_credentials
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message

Handler = Callable[[ControllerState, RequestContext, Message, Moment], ControllerResult]
"""`handler(state, context, request, moment)`: reads all four, changes none; see ControllerResult."""

NO_CLUSTER_RIGHT: Final = 0
"""Anybody may ask, or the handler looks at rights itself, per resource."""


Reads = Callable[[MetadataImage], list[object]]
"""The containers of the image that an answer is taken from, as the undo journal knows them."""


class Api:
    """One API: `cluster_operation` is the right on the cluster that all of it needs.

    An answer of the active controller waits until everything before it is committed. With `reads` it waits
    only while one of those containers has uncommitted changes, and not for ever. With empty `reads` it never
    waits: its handler looks at committed state alone. Kafka answers those outside its controller's queue.
    ApiVersions has to be like that: a follower's connection begins with it, and the commit that it would
    wait for needs that follower.
    """

    def __init__(
        self, handler: Handler, cluster_operation: int, active_only: bool, reads: Reads | None = None
    ) -> None:
        self.handler = handler
        self.cluster_operation = cluster_operation
        self.active_only = active_only
        self.reads = reads


def _nothing(image: MetadataImage) -> list[object]:
    return []


def _acls(image: MetadataImage) -> list[object]:
    return [image.acls.acls]


def _controllers(image: MetadataImage) -> list[object]:
    return [image.cluster.controllers, image.features, image.acls.acls]


def _configs(image: MetadataImage) -> list[object]:
    return [image.configurations.resources, image.topics.ids_by_name, image.acls.acls]


def _already_authenticated(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """SaslHandshake and SaslAuthenticate belong before the first other request."""
    response = error_response(context.api_key, request, context.version, Errors.ILLEGAL_SASL_STATE)
    return ControllerResult.of([], response)


def _unsupported(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Kafka's controller lists these, too, and answers the same: brokers serve them."""
    error = Errors.UNKNOWN_SERVER_ERROR
    return ControllerResult.of([], error_response(context.api_key, request, context.version, error))


APIS: Final[dict[int, Api]] = {
    ApiKey.SASL_HANDSHAKE: Api(_already_authenticated, NO_CLUSTER_RIGHT, False, _nothing),
    ApiKey.API_VERSIONS: Api(api_versions, NO_CLUSTER_RIGHT, False, _nothing),
    ApiKey.CREATE_TOPICS: Api(create_topics, NO_CLUSTER_RIGHT, True),
    ApiKey.DELETE_TOPICS: Api(delete_topics, NO_CLUSTER_RIGHT, True),
    ApiKey.DESCRIBE_ACLS: Api(describe_acls, AclOperation.DESCRIBE, False, _acls),
    ApiKey.CREATE_ACLS: Api(create_acls, AclOperation.ALTER, True),
    ApiKey.DELETE_ACLS: Api(delete_acls, AclOperation.ALTER, True),
    ApiKey.DESCRIBE_CONFIGS: Api(describe_configs, NO_CLUSTER_RIGHT, False, _configs),
    ApiKey.ALTER_CONFIGS: Api(legacy_alter_configs, NO_CLUSTER_RIGHT, True),
    ApiKey.SASL_AUTHENTICATE: Api(_already_authenticated, NO_CLUSTER_RIGHT, False, _nothing),
    ApiKey.CREATE_PARTITIONS: Api(create_partitions, NO_CLUSTER_RIGHT, True),
    ApiKey.CREATE_DELEGATION_TOKEN: Api(create_delegation_token, NO_CLUSTER_RIGHT, True),
    ApiKey.RENEW_DELEGATION_TOKEN: Api(renew_delegation_token, NO_CLUSTER_RIGHT, True),
    ApiKey.EXPIRE_DELEGATION_TOKEN: Api(expire_delegation_token, NO_CLUSTER_RIGHT, True),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: Api(_unsupported, NO_CLUSTER_RIGHT, False, _nothing),
    ApiKey.ELECT_LEADERS: Api(elect_leaders, AclOperation.ALTER, True),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Api(incremental_alter_configs, NO_CLUSTER_RIGHT, True),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Api(alter_partition_reassignments, AclOperation.ALTER, True),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Api(list_partition_reassignments, AclOperation.DESCRIBE, True),
    ApiKey.ALTER_CLIENT_QUOTAS: Api(alter_client_quotas, AclOperation.ALTER_CONFIGS, True),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Api(_unsupported, NO_CLUSTER_RIGHT, False, _nothing),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Api(alter_user_scram_credentials, AclOperation.ALTER, True),
    ApiKey.ALTER_PARTITION: Api(alter_partition, AclOperation.CLUSTER_ACTION, True),
    ApiKey.UPDATE_FEATURES: Api(update_features, AclOperation.ALTER, True),
    ApiKey.DESCRIBE_CLUSTER: Api(describe_cluster, AclOperation.ALTER, False, _controllers),
    ApiKey.BROKER_REGISTRATION: Api(register_broker, AclOperation.CLUSTER_ACTION, True),
    ApiKey.BROKER_HEARTBEAT: Api(process_broker_heartbeat, AclOperation.CLUSTER_ACTION, True),
    ApiKey.UNREGISTER_BROKER: Api(unregister_broker, AclOperation.ALTER, True),
    ApiKey.ALLOCATE_PRODUCER_IDS: Api(allocate_producer_ids, AclOperation.CLUSTER_ACTION, True),
    ApiKey.CONTROLLER_REGISTRATION: Api(register_controller, AclOperation.CLUSTER_ACTION, True),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: Api(assign_replicas_to_dirs, AclOperation.CLUSTER_ACTION, True),
}

RAFT_CLUSTER_OPERATIONS: Final[dict[int, int]] = {
    ApiKey.FETCH: AclOperation.CLUSTER_ACTION,
    ApiKey.FETCH_SNAPSHOT: AclOperation.CLUSTER_ACTION,
    ApiKey.VOTE: AclOperation.CLUSTER_ACTION,
    ApiKey.BEGIN_QUORUM_EPOCH: AclOperation.CLUSTER_ACTION,
    ApiKey.END_QUORUM_EPOCH: AclOperation.CLUSTER_ACTION,
    ApiKey.UPDATE_RAFT_VOTER: AclOperation.CLUSTER_ACTION,
    ApiKey.ENVELOPE: AclOperation.CLUSTER_ACTION,
    ApiKey.ADD_RAFT_VOTER: AclOperation.ALTER,
    ApiKey.REMOVE_RAFT_VOTER: AclOperation.ALTER,
    ApiKey.DESCRIBE_QUORUM: AclOperation.DESCRIBE,
}
"""The right on the cluster for what the raft layer answers, and for an envelope as such."""
