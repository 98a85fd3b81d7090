"""For each refusal that depends on the state: whether a state justifies it.

An item is what `refusals_of` found, `None` for a whole request. The rules are Kafka's, written anew: nothing
of the handlers is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.alter_user_scram_credentials_request import AlterUserScramCredentialsRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.create_partitions_request import CreatePartitionsRequest
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_configs_request import DescribeConfigsRequest
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.update_features_request import UpdateFeaturesRequest
from tests.support.simulator.checks.window import Window
from tests.support.simulator.reference.rows import (
    METADATA_VERSION,
    State,
    broker_of,
    brokers_of,
    metadata_version_of,
    partition_of,
    rows_of,
)
from tests.support.simulator.reference.snapshot_rules import CONTROLLERS
from tests.support.simulator.reference.values import NO_LEADER, Broker, Partition

Item = Any
Reason = Callable[[Any, Item, Window], bool]

UNKNOWN_EPOCH = -1
UNCLEAN = 1
BROKERS = [("broker",)]
METADATA_VERSION_KEY = ("feature", METADATA_VERSION)

FORGOTTEN = 33
"""From this metadata.version on, 4.4-IV2, registrations of controllers are removed (KIP-1312)."""


def _topic_id(state: State, name: str) -> bytes | None:
    found: bytes | None = state.get(("topic id", name))
    return found


# Topics.


def topic_exists(request: Any, item: Item, window: Window) -> bool:
    return any(("topic id", item.name) in state for state in window.states(("topic id", item.name)))


def topic_is_unknown(request: Any, item: Item, window: Window) -> bool:
    """By the name that an item has, or by its id."""
    topic_id = getattr(item, "topic_id", bytes(16))
    name = getattr(item, "name", None) or getattr(item, "resource_name", None)
    key = ("topic id", name) if name else ("topic", topic_id)
    return any(key not in state for state in window.states(key))


def partition_is_unknown(request: Any, item: Item, window: Window) -> bool:
    topic, index = item
    return any(_named_partition(state, topic, index) is None for state in _of_topic(window, topic))


def _of_topic(window: Window, topic: str | bytes) -> Any:
    """The states of a topic, given by name or id, and of all brokers."""
    if isinstance(topic, bytes):
        return window.states(("topic", topic), tables=[("partition", topic), *BROKERS])
    ids = {state["topic id", topic] for state in window.states(("topic id", topic)) if state}
    tables = [("partition", topic_id) for topic_id in ids]
    return window.states(("topic id", topic), tables=[*tables, *BROKERS])


def _named_partition(state: State, topic: str | bytes, index: int) -> Partition | None:
    topic_id = topic if isinstance(topic, bytes) else _topic_id(state, topic)
    return None if topic_id is None else partition_of(state, topic_id, index)


def too_few_brokers(request: Any, item: Item, window: Window) -> bool:
    """Those that shut down get no replicas, nor do those whose directories are all cordoned. More partitions
    of a topic have as many replicas as the first one.
    """
    for state in _of_topic(window, item.name):
        factor = getattr(item, "replication_factor", 0)
        first = _named_partition(state, item.name, 0)
        if not factor and first is not None:
            factor = len(first.replicas)
        brokers = brokers_of(state).values()
        usable = [one for one in brokers if not one.in_controlled_shutdown and not _is_cordoned(one)]
        fenced = window.leaving.brokers
        if all(one.fenced or one.id in fenced for one in usable) or factor > len(usable):
            return True
    return False


def _is_cordoned(broker: Broker) -> bool:
    """All its directories are (KIP-1066)."""
    return bool(broker.directories) and set(broker.directories) <= set(broker.cordoned_directories or ())


def assignment_is_invalid(request: Any, item: Item, window: Window) -> bool:
    """It names a broker that is not registered or is cordoned, or none that is active, or lengths differ."""
    lists = [one.broker_ids for one in item.assignments or ()]
    if len({len(one) for one in lists}) > 1 or any(len(set(one)) != len(one) or not one for one in lists):
        return True
    for state in window.states(tables=BROKERS):
        brokers = brokers_of(state)
        for listed in lists:
            known = [brokers[broker_id] for broker_id in listed if broker_id in brokers]
            if len(known) != len(listed) or any(_is_cordoned(one) for one in known):
                return True
            if not any(one.active and one.id not in window.leaving.brokers for one in known):
                return True
    return False


def count_does_not_grow(request: Any, item: Item, window: Window) -> bool:
    return any(
        item.count <= len(list(rows_of(state, "partition", topic_id)))
        for state in _of_topic(window, item.name)
        if (topic_id := _topic_id(state, item.name)) is not None
    )


# Reassignments and elections.


def target_is_invalid(request: Any, item: Item, window: Window) -> bool:
    """A replica is listed twice, or its broker is not registered, or cordoned."""
    targets = [
        partition.replicas or []
        for topic in request.topics
        for partition in topic.partitions
        if (topic.name, partition.partition_index) == item
    ]
    if any(not target or len(set(target)) != len(target) for target in targets):
        return True
    return any(
        broker_id not in brokers or _is_cordoned(brokers[broker_id])
        for brokers in map(brokers_of, window.states(tables=BROKERS))
        for target in targets
        for broker_id in target
    )


def nothing_is_reassigned(request: Any, item: Item, window: Window) -> bool:
    return any(
        partition is not None and not partition.reassigning
        for state in _of_topic(window, item[0])
        for partition in [_named_partition(state, *item)]
    )


def election_is_not_needed(request: Any, item: Item, window: Window) -> bool:
    unclean = request.election_type == UNCLEAN
    return any(
        partition is not None
        and partition.leader != NO_LEADER
        and (unclean or partition.leader == partition.replicas[0])
        for state in _of_topic(window, item[0])
        for partition in [_named_partition(state, *item)]
    )


def preferred_leader_cannot_lead(request: Any, item: Item, window: Window) -> bool:
    for state in _of_topic(window, item[0]):
        partition = _named_partition(state, *item)
        if partition is not None and not _may_lead(
            state, window, partition, partition.replicas[0], partition.isr
        ):
            return True
    return False


def nobody_can_lead(request: Any, item: Item, window: Window) -> bool:
    for state in _of_topic(window, item[0]):
        partition = _named_partition(state, *item)
        if partition is not None and not any(
            _may_lead(state, window, partition, replica, partition.replicas) for replica in partition.replicas
        ):
            return True
    return False


def _may_lead(
    state: State, window: Window, partition: Partition, replica: int, members: tuple[int, ...]
) -> bool:
    registration = broker_of(state, replica)
    directory = partition.directory(replica)
    return (
        replica in members
        and registration is not None
        and registration.active
        and replica not in window.leaving.brokers
        and directory is not None
        and directory not in window.leaving.directories
        and registration.has_online_directory(directory)
    )


# Brokers.


def broker_epoch_is_stale(request: Any, item: Item, window: Window) -> bool:
    broker_id: int = request.broker_id
    epoch: int = request.broker_epoch
    return any(
        registration is None or registration.epoch != epoch
        for state in window.states(("broker", broker_id))
        for registration in [broker_of(state, broker_id)]
    )


def broker_is_unknown(request: Any, item: Item, window: Window) -> bool:
    broker_id: int = request.broker_id
    return any(broker_of(state, broker_id) is None for state in window.states(("broker", broker_id)))


def another_process_is_registered(request: Any, item: Item, window: Window) -> bool:
    """Whether its session is over is nothing that the log says."""
    return any(
        registration is not None and registration.incarnation_id != request.incarnation_id
        for state in window.states(("broker", request.broker_id))
        for registration in [broker_of(state, request.broker_id)]
    )


def a_level_is_not_supported(request: Any, item: Item, window: Window) -> bool:
    """A feature that the broker does not name, it has at level 0 only. The level of kraft.version is in no
    record of the metadata.
    """
    ranges = {one.name: (one.min_supported_version, one.max_supported_version) for one in request.features}
    if ranges.get("kraft.version", (0, 0))[1] < 1:
        return True
    for state in window.states(tables=[("feature",)]):
        for (_, name), level in rows_of(state, "feature"):
            low, high = ranges.get(name, (0, 0))
            if level and not low <= level <= high:
                return True
    return False


# ISRs.


def _isr_states(request: Any, item: Item, window: Window) -> Any:
    topic, index = item
    for state in _of_topic(window, topic):
        partition = _named_partition(state, topic, index)
        if partition is not None:
            yield state, partition


def _change_of(request: Any, item: Item) -> Any:
    for topic in request.topics:
        for data in topic.partitions:
            if data.partition_index == item[1] and item[0] in (topic.topic_id, topic.topic_name):
                return data
    return None


def leader_epoch_is_behind(request: Any, item: Item, window: Window) -> bool:
    data = _change_of(request, item)
    return any(data.leader_epoch < one.leader_epoch for _, one in _isr_states(request, item, window))


def partition_epoch_is_behind(request: Any, item: Item, window: Window) -> bool:
    data = _change_of(request, item)
    return any(data.partition_epoch < one.partition_epoch for _, one in _isr_states(request, item, window))


def epochs_are_ahead(request: Any, item: Item, window: Window) -> bool:
    data = _change_of(request, item)
    return any(
        data.partition_epoch > one.partition_epoch or data.leader_epoch > one.leader_epoch
        for _, one in _isr_states(request, item, window)
    )


def another_leader_is_elected(request: Any, item: Item, window: Window) -> bool:
    """By the change itself: it is carried out."""
    data = _change_of(request, item)
    return any(data.leader_epoch < one.leader_epoch for _, one in _isr_states(request, item, window))


def member_is_not_eligible(request: Any, item: Item, window: Window) -> bool:
    data = _change_of(request, item)
    members = [(one.broker_id, one.broker_epoch) for one in data.new_isr_with_epochs or []]
    members += [(broker_id, UNKNOWN_EPOCH) for broker_id in data.new_isr or []]
    for state in window.states(tables=BROKERS):
        for broker_id, epoch in members:
            registration = broker_of(state, broker_id)
            if registration is None or not registration.active or broker_id in window.leaving.brokers:
                return True
            if epoch not in (UNKNOWN_EPOCH, registration.epoch):
                return True
    return False


def controllers_do_not_register(request: Any, item: Item, window: Window) -> bool:
    """Below 3.7-IV0."""
    return any(metadata_version_of(state) < CONTROLLERS for state in window.states(METADATA_VERSION_KEY))


def controllers_stay_registered(request: Any, item: Item, window: Window) -> bool:
    """Below 4.4-IV2."""
    return any(metadata_version_of(state) < FORGOTTEN for state in window.states(METADATA_VERSION_KEY))


def controller_is_unknown(request: Any, item: Item, window: Window) -> bool:
    key = ("controller", request.controller_id)
    return any(key not in state for state in window.states(key))


def node_is_unknown(request: Any, item: Item, window: Window) -> bool:
    """Neither a broker nor a controller of that id is registered. Whether it votes, no state says."""
    node_id = int(item.resource_name)
    keys = ("broker", node_id), ("controller", node_id)
    return any(not state.keys() & keys for state in window.states(*keys))


# Users.


def credential_is_unknown(request: Any, item: Item, window: Window) -> bool:
    keys = [("scram", one.mechanism, one.name) for one in request.deletions if one.name == item.user]
    return any(key not in state for state in window.states(*keys) for key in keys)


REASONS: dict[tuple[type, int], Reason] = {
    (CreateTopicsRequest, Errors.TOPIC_ALREADY_EXISTS): topic_exists,
    (CreateTopicsRequest, Errors.INVALID_REPLICATION_FACTOR): too_few_brokers,
    (CreateTopicsRequest, Errors.INVALID_REPLICA_ASSIGNMENT): assignment_is_invalid,
    (DeleteTopicsRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): topic_is_unknown,
    (DeleteTopicsRequest, Errors.UNKNOWN_TOPIC_ID): topic_is_unknown,
    (CreatePartitionsRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): topic_is_unknown,
    (CreatePartitionsRequest, Errors.INVALID_PARTITIONS): count_does_not_grow,
    (CreatePartitionsRequest, Errors.INVALID_REPLICATION_FACTOR): too_few_brokers,
    (DescribeConfigsRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): topic_is_unknown,
    (AlterConfigsRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): topic_is_unknown,
    (IncrementalAlterConfigsRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): topic_is_unknown,
    (AlterConfigsRequest, Errors.BROKER_ID_NOT_REGISTERED): node_is_unknown,
    (IncrementalAlterConfigsRequest, Errors.BROKER_ID_NOT_REGISTERED): node_is_unknown,
    (AlterPartitionReassignmentsRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): partition_is_unknown,
    (AlterPartitionReassignmentsRequest, Errors.NO_REASSIGNMENT_IN_PROGRESS): nothing_is_reassigned,
    (AlterPartitionReassignmentsRequest, Errors.INVALID_REPLICA_ASSIGNMENT): target_is_invalid,
    (ElectLeadersRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): partition_is_unknown,
    (ElectLeadersRequest, Errors.ELECTION_NOT_NEEDED): election_is_not_needed,
    (ElectLeadersRequest, Errors.PREFERRED_LEADER_NOT_AVAILABLE): preferred_leader_cannot_lead,
    (ElectLeadersRequest, Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE): nobody_can_lead,
    (AlterPartitionRequest, Errors.STALE_BROKER_EPOCH): broker_epoch_is_stale,
    (AlterPartitionRequest, Errors.UNKNOWN_TOPIC_ID): partition_is_unknown,
    (AlterPartitionRequest, Errors.UNKNOWN_TOPIC_OR_PARTITION): partition_is_unknown,
    (AlterPartitionRequest, Errors.NOT_CONTROLLER): epochs_are_ahead,
    (AlterPartitionRequest, Errors.FENCED_LEADER_EPOCH): leader_epoch_is_behind,
    (AlterPartitionRequest, Errors.INVALID_UPDATE_VERSION): partition_epoch_is_behind,
    (AlterPartitionRequest, Errors.NEW_LEADER_ELECTED): another_leader_is_elected,
    (AlterPartitionRequest, Errors.INELIGIBLE_REPLICA): member_is_not_eligible,
    (AlterPartitionRequest, Errors.OPERATION_NOT_ATTEMPTED): member_is_not_eligible,
    (BrokerRegistrationRequest, Errors.DUPLICATE_BROKER_REGISTRATION): another_process_is_registered,
    (BrokerRegistrationRequest, Errors.UNSUPPORTED_VERSION): a_level_is_not_supported,
    (BrokerHeartbeatRequest, Errors.STALE_BROKER_EPOCH): broker_epoch_is_stale,
    (AllocateProducerIdsRequest, Errors.STALE_BROKER_EPOCH): broker_epoch_is_stale,
    (AssignReplicasToDirsRequest, Errors.STALE_BROKER_EPOCH): broker_epoch_is_stale,
    (UnregisterBrokerRequest, Errors.BROKER_ID_NOT_REGISTERED): broker_is_unknown,
    (UnregisterControllerRequest, Errors.UNSUPPORTED_VERSION): controllers_stay_registered,
    (UnregisterControllerRequest, Errors.CONTROLLER_ID_NOT_REGISTERED): controller_is_unknown,
    (AlterUserScramCredentialsRequest, Errors.RESOURCE_NOT_FOUND): credential_is_unknown,
    (DescribeClusterRequest, Errors.UNSUPPORTED_VERSION): controllers_do_not_register,
    (ControllerRegistrationRequest, Errors.UNSUPPORTED_VERSION): controllers_do_not_register,
}

NOT_OF_THE_STATE: dict[int, str] = {
    Errors.REQUEST_TIMED_OUT: "it is too late, whatever the state is",
    Errors.SECURITY_DISABLED: "no authorizer is configured",
    Errors.INVALID_REQUEST: "the request itself is wrong",
    Errors.INVALID_CONFIG: "no topic or broker could have this value",
    Errors.INVALID_TOPIC_EXCEPTION: "the name is wrong, or collides with another one in metrics",
    Errors.CLUSTER_AUTHORIZATION_FAILED: "of the ACLs; the authorizer is compared with Kafka's",
    Errors.TOPIC_AUTHORIZATION_FAILED: "as above",
    Errors.GROUP_AUTHORIZATION_FAILED: "as above",
    Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED: "as above",
    Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: "of how the client is authenticated",
    Errors.DELEGATION_TOKEN_AUTH_DISABLED: "no key for tokens is configured",
    Errors.DELEGATION_TOKEN_EXPIRED: "of the time",
    Errors.INVALID_PRINCIPAL_TYPE: "the request itself is wrong",
    Errors.ILLEGAL_SASL_STATE: "the listener has no SASL",
    Errors.DUPLICATE_RESOURCE: "the request names one twice",
    Errors.UNACCEPTABLE_CREDENTIAL: "the request itself is wrong",
    Errors.MISMATCHED_ENDPOINT_TYPE: "the request asks a controller for brokers",
    Errors.POLICY_VIOLATION: "the request, or its response, is too large",
}
"""Codes that no state justifies, in responses to any request -> what does."""

FOUND_BY_SECRET = "which token a request means is said by its secret, and the log has no secrets"

NOT_CHECKED: dict[tuple[type, int], str] = {
    (UpdateFeaturesRequest, Errors.INVALID_UPDATE_VERSION): "which levels go together is a table of features",
    (RenewDelegationTokenRequest, Errors.DELEGATION_TOKEN_NOT_FOUND): FOUND_BY_SECRET,
    (RenewDelegationTokenRequest, Errors.DELEGATION_TOKEN_OWNER_MISMATCH): FOUND_BY_SECRET,
    (ExpireDelegationTokenRequest, Errors.DELEGATION_TOKEN_NOT_FOUND): FOUND_BY_SECRET,
    (ExpireDelegationTokenRequest, Errors.DELEGATION_TOKEN_OWNER_MISMATCH): FOUND_BY_SECRET,
}
"""Refusals that depend on the state -> why no rule checks them yet."""
