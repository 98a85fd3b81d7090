"""The handler of each API of the controller; `kraftctl/apis` has everything else about an API.

A handler reads the shared state and returns records and a response; nothing changes until the records are
replayed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.controller.cluster_control.api_versions import api_versions
from kraftctl.controller.cluster_control.describe_cluster import describe_cluster
from kraftctl.controller.cluster_control.process_broker_heartbeat import process_broker_heartbeat
from kraftctl.controller.cluster_control.producer_id_control import allocate_producer_ids
from kraftctl.controller.cluster_control.register_broker import register_broker
from kraftctl.controller.cluster_control.register_controller import register_controller
from kraftctl.controller.cluster_control.unregister_broker import unregister_broker
from kraftctl.controller.cluster_control.unregister_controller import unregister_controller
from kraftctl.controller.configuration_control.alter_configs import alter_configs
from kraftctl.controller.configuration_control.client_quota_control import alter_client_quotas
from kraftctl.controller.configuration_control.describe_configs import describe_configs
from kraftctl.controller.configuration_control.incremental_alter_configs import incremental_alter_configs
from kraftctl.controller.features.feature_control import update_features
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
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.security.acl_control import create_acls, delete_acls, describe_acls
from kraftctl.controller.security.delegation_token_control import (
    create_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
)
from kraftctl.controller.security.scram_control import alter_user_scram_credentials
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.undo_journal import EVERY_KEY
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.message import Message

Handler = Callable[[ControllerState, RequestContext, Message, Moment], ControllerResult]
"""Calls `handler(state, context, request, moment)`, which reads all four and changes none; see
ControllerResult."""

Reads = Callable[[MetadataImage, Message], tuple[list[object], object]]
"""Image containers and key that a response reads; used to find the last uncommitted change."""


def _acls(image: MetadataImage, request: Message) -> tuple[list[object], object]:
    return [image.acls], EVERY_KEY


def _own_registration(image: MetadataImage, request: Message) -> tuple[list[object], object]:
    assert isinstance(request, BrokerHeartbeatRequest)
    return [image.cluster.brokers], request.broker_id


def _controllers(image: MetadataImage, request: Message) -> tuple[list[object], object]:
    return [image.cluster.controllers, image.features, image.acls], EVERY_KEY


def _configs(image: MetadataImage, request: Message) -> tuple[list[object], object]:
    return [image.configurations, image.topics.ids_by_name, image.acls], EVERY_KEY


HANDLERS: Final[dict[int, Handler]] = {
    ApiKey.API_VERSIONS: api_versions,
    ApiKey.CREATE_TOPICS: create_topics,
    ApiKey.DELETE_TOPICS: delete_topics,
    ApiKey.DESCRIBE_ACLS: describe_acls,
    ApiKey.CREATE_ACLS: create_acls,
    ApiKey.DELETE_ACLS: delete_acls,
    ApiKey.DESCRIBE_CONFIGS: describe_configs,
    ApiKey.ALTER_CONFIGS: alter_configs,
    ApiKey.CREATE_PARTITIONS: create_partitions,
    ApiKey.CREATE_DELEGATION_TOKEN: create_delegation_token,
    ApiKey.RENEW_DELEGATION_TOKEN: renew_delegation_token,
    ApiKey.EXPIRE_DELEGATION_TOKEN: expire_delegation_token,
    ApiKey.ELECT_LEADERS: elect_leaders,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: alter_partition_reassignments,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: list_partition_reassignments,
    ApiKey.ALTER_CLIENT_QUOTAS: alter_client_quotas,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: alter_user_scram_credentials,
    ApiKey.ALTER_PARTITION: alter_partition,
    ApiKey.UPDATE_FEATURES: update_features,
    ApiKey.DESCRIBE_CLUSTER: describe_cluster,
    ApiKey.BROKER_REGISTRATION: register_broker,
    ApiKey.BROKER_HEARTBEAT: process_broker_heartbeat,
    ApiKey.UNREGISTER_BROKER: unregister_broker,
    ApiKey.ALLOCATE_PRODUCER_IDS: allocate_producer_ids,
    ApiKey.CONTROLLER_REGISTRATION: register_controller,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: assign_replicas_to_dirs,
    ApiKey.UNREGISTER_CONTROLLER: unregister_controller,
}
"""The handlers, one per row with owner ACTIVE or EVERY."""

READS: Final[dict[int, Reads]] = {
    ApiKey.BROKER_HEARTBEAT: _own_registration,
    ApiKey.DESCRIBE_ACLS: _acls,
    ApiKey.DESCRIBE_CONFIGS: _configs,
    ApiKey.DESCRIBE_CLUSTER: _controllers,
}
"""The reads, one per row whose response waits for what it reads (`WaitsFor.READS`)."""
