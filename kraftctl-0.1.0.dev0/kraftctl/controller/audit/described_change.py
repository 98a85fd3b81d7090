"""What a request asks for, and what it replaces, for the audit log: `describe` has a function per API.

Secrets are left out: salts and salted passwords, HMACs of tokens, and values of configurations that
`kraftctl_protocol.secrets` does not show. The functions read the image before the request changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.controller.audit.change_list import MEMBERS_MAX, Change, ChangeList
from kraftctl.controller.audit.described_registrations import (
    describe_add_voter,
    describe_broker_registration,
    describe_controller_registration,
    describe_remove_voter,
    describe_unregister_broker,
    describe_unregister_controller,
    describe_update_voter,
)
from kraftctl.controller.audit.described_security import (
    describe_acl_creations,
    describe_acl_deletions,
    describe_scram_credentials,
    describe_token_creation,
    describe_token_expiry,
    describe_token_renewal,
)
from kraftctl.controller.audit.described_settings import (
    describe_configs,
    describe_features,
    describe_incremental_configs,
    describe_quotas,
)
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.create_partitions_request import CreatePartitionsRequest
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.secrets import shown_value
from kraftctl_protocol.uuids import Uuid, uuid_to_string

ELECTION_TYPES: Final = {0: "PREFERRED", 1: "UNCLEAN"}


def describe(api_key: int, request: Message, image: MetadataImage) -> ChangeList:
    """What `request` asks for; empty for an API without a description. `image` is as it was before."""
    found = ChangeList()
    describing = DESCRIBING.get(api_key)
    if describing is not None:
        describing(request, image, found)
    return found


def is_validation(request: Message) -> bool:
    """Whether the request only asks what would happen."""
    return bool(getattr(request, "validate_only", False))


def _create_topics(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, CreateTopicsRequest)
    for topic in request.topics:
        if found.has_room():
            found.add(
                {
                    "topic": found.text(topic.name),
                    "partitions": len(topic.assignments) or topic.num_partitions,
                    "replication_factor": topic.replication_factor,
                    "configs": _configs_of(topic, found),
                }
            )


def _configs_of(topic: CreatableTopic, found: ChangeList) -> dict[str, object]:
    configs: dict[str, object] = {}
    for config in topic.configs[:MEMBERS_MAX]:
        value = None if config.value is None else shown_value(TOPIC, config.name, config.value)
        configs[found.text(config.name) or ""] = found.text(value)
    if len(topic.configs) > MEMBERS_MAX:
        configs["..."] = f"{len(topic.configs)} in all"
    return configs


def _delete_topics(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, DeleteTopicsRequest)
    for name in request.topic_names:
        if found.has_room():
            known = image.topics.topic_by_name(name)
            found.add(_topic(found, name, None if known is None else known.topic_id))
    for topic in request.topics:
        if found.has_room():
            if topic.name is not None:
                known = image.topics.topic_by_name(topic.name)
                found.add(_topic(found, topic.name, None if known is None else known.topic_id))
            else:
                known = image.topics.topic(topic.topic_id)
                found.add(_topic(found, None if known is None else known.name, topic.topic_id))


def _topic(found: ChangeList, name: str | None, topic_id: Uuid | None) -> Change:
    return {"topic": found.text(name), "topic_id": None if topic_id is None else uuid_to_string(topic_id)}


def _create_partitions(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, CreatePartitionsRequest)
    for topic in request.topics:
        if found.has_room():
            known = image.topics.topic_by_name(topic.name)
            old = None if known is None else len(known.partitions)
            found.add({"topic": found.text(topic.name), "old": old, "new": topic.count})


def _elect_leaders(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, ElectLeadersRequest)
    kind = ELECTION_TYPES.get(request.election_type, str(request.election_type))
    if request.topic_partitions is None:
        found.add({"election_type": kind, "topic": None, "partitions": "all"})
        return
    for topic in request.topic_partitions:
        if found.has_room():
            name, partitions = found.text(topic.topic), found.members(topic.partitions)
            found.add({"election_type": kind, "topic": name, "partitions": partitions})


def _reassignments(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    for topic in request.topics:
        known = image.topics.topic_by_name(topic.name)
        for wanted in topic.partitions:
            if found.has_room():
                old = (
                    None if known is None else image.topics.partition(known.topic_id, wanted.partition_index)
                )
                found.add(
                    {
                        "topic": found.text(topic.name),
                        "partition": wanted.partition_index,
                        "old": None if old is None else found.members(list(old.replicas)),
                        "new": None if wanted.replicas is None else found.members(wanted.replicas),
                    }
                )


def _alter_partition(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, AlterPartitionRequest)
    for topic in request.topics:
        known = image.topics.topic(topic.topic_id) or image.topics.topic_by_name(topic.topic_name)
        for wanted in topic.partitions:
            if found.has_room():
                old = (
                    None if known is None else image.topics.partition(known.topic_id, wanted.partition_index)
                )
                isr = wanted.new_isr or [broker.broker_id for broker in wanted.new_isr_with_epochs]
                found.add(
                    {
                        "broker_id": request.broker_id,
                        "topic": None if known is None else found.text(known.name),
                        "partition": wanted.partition_index,
                        "old": None if old is None else found.members(list(old.isr)),
                        "new": found.members(isr),
                    }
                )


def _assign_replicas_to_dirs(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, AssignReplicasToDirsRequest)
    for directory in request.directories:
        for topic in directory.topics:
            if found.has_room():
                known = image.topics.topic(topic.topic_id)
                found.add(
                    {
                        "broker_id": request.broker_id,
                        "directory_id": uuid_to_string(directory.id),
                        "topic": None if known is None else found.text(known.name),
                        "partitions": found.members([each.partition_index for each in topic.partitions]),
                    }
                )


def _allocate_producer_ids(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, AllocateProducerIdsRequest)
    found.add({"broker_id": request.broker_id})


Describing = Callable[[Message, MetadataImage, ChangeList], None]

DESCRIBING: Final[dict[int, Describing]] = {
    ApiKey.CREATE_TOPICS: _create_topics,
    ApiKey.DELETE_TOPICS: _delete_topics,
    ApiKey.CREATE_ACLS: describe_acl_creations,
    ApiKey.DELETE_ACLS: describe_acl_deletions,
    ApiKey.ALTER_CONFIGS: describe_configs,
    ApiKey.CREATE_PARTITIONS: _create_partitions,
    ApiKey.CREATE_DELEGATION_TOKEN: describe_token_creation,
    ApiKey.RENEW_DELEGATION_TOKEN: describe_token_renewal,
    ApiKey.EXPIRE_DELEGATION_TOKEN: describe_token_expiry,
    ApiKey.ELECT_LEADERS: _elect_leaders,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: describe_incremental_configs,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _reassignments,
    ApiKey.ALTER_CLIENT_QUOTAS: describe_quotas,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: describe_scram_credentials,
    ApiKey.ALTER_PARTITION: _alter_partition,
    ApiKey.UPDATE_FEATURES: describe_features,
    ApiKey.BROKER_REGISTRATION: describe_broker_registration,
    ApiKey.UNREGISTER_BROKER: describe_unregister_broker,
    ApiKey.UNREGISTER_CONTROLLER: describe_unregister_controller,
    ApiKey.ALLOCATE_PRODUCER_IDS: _allocate_producer_ids,
    ApiKey.CONTROLLER_REGISTRATION: describe_controller_registration,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: _assign_replicas_to_dirs,
    ApiKey.ADD_RAFT_VOTER: describe_add_voter,
    ApiKey.REMOVE_RAFT_VOTER: describe_remove_voter,
    ApiKey.UPDATE_RAFT_VOTER: describe_update_voter,
}
"""One per audited API; an envelope that is refused unopened has no description."""
