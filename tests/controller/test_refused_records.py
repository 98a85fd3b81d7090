"""A record that replay refuses fails its own request: it is replayed before it is appended.

The table has a case for each reason that replay has, by record type; of the other types replay takes every
record. After a refusal, the image is what it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.primitives import EncodeError
from kraftctl_protocol.record_types import RECORD_TYPES
from tests.record_types.image_state import state_of
from tests.support.active_controller import ActiveController
from tests.support.effort import seeds
from tests.support.record_sequences import RecordSequence

UNKNOWN = b"unknown........."
BROKER = 1
NEW_TOPIC = b"new............."

Refused = Callable[[ActiveController], list[Message]]


def topic_id(active: ActiveController) -> bytes:
    return active.controller.image.topics.ids_by_name["orders"]


def epoch(active: ActiveController) -> int:
    return active.controller.image.cluster.brokers[BROKER].epoch


def change(**fields: Any) -> Refused:
    return lambda active: [PartitionChangeRecord(topic_id=topic_id(active), partition_id=0, **fields)]


def registration_change(**fields: Any) -> Refused:
    return lambda active: [
        BrokerRegistrationChangeRecord(**{"broker_id": BROKER, "broker_epoch": epoch(active)} | fields)
    ]


def always(*records: Message) -> Refused:
    return lambda active: list(records)


NEW_PARTITION = PartitionRecord(topic_id=NEW_TOPIC, replicas=[1], isr=[1], leader=1, directories=[UNKNOWN])

REFUSED: dict[str, dict[str, Refused]] = {
    "TopicRecord": {
        "name-taken": always(TopicRecord(name="orders", topic_id=NEW_TOPIC)),
        "id-taken": lambda active: [TopicRecord(name="new", topic_id=topic_id(active))],
        "twice": always(
            TopicRecord(name="new", topic_id=NEW_TOPIC), TopicRecord(name="new", topic_id=UNKNOWN)
        ),
    },
    "PartitionRecord": {
        "no-topic": always(PartitionRecord(topic_id=UNKNOWN, replicas=[1], directories=[UNKNOWN])),
        "directories": lambda active: [
            PartitionRecord(topic_id=topic_id(active), replicas=[1, 2], directories=[UNKNOWN])
        ],
        "recovery-state": lambda active: [
            PartitionRecord(topic_id=topic_id(active), partition_id=7, leader_recovery_state=9)
        ],
        "topic-removed": always(
            TopicRecord(name="new", topic_id=NEW_TOPIC), RemoveTopicRecord(topic_id=NEW_TOPIC), NEW_PARTITION
        ),
    },
    "PartitionChangeRecord": {
        "no-topic": always(PartitionChangeRecord(topic_id=UNKNOWN, partition_id=0, leader=1)),
        "no-partition": lambda active: [
            PartitionChangeRecord(topic_id=topic_id(active), partition_id=99, leader=1)
        ],
        "recovery-state": change(leader_recovery_state=7),
        "directories": change(directories=[UNKNOWN] * 3),
        "replicas-without-directories": change(replicas=[1, 2, 3]),
    },
    "RemoveTopicRecord": {
        "no-topic": always(RemoveTopicRecord(topic_id=UNKNOWN)),
        "twice": lambda active: [RemoveTopicRecord(topic_id=topic_id(active))] * 2,
    },
    "ClearElrRecord": {"no-topic": always(ClearElrRecord(topic_name="unknown"))},
    "BrokerRegistrationChangeRecord": {
        "no-broker": registration_change(broker_id=9),
        "epoch": registration_change(broker_epoch=0),
        "fencing": registration_change(fenced=7),
        "shutdown": registration_change(in_controlled_shutdown=5),
        "unregistered": lambda active: [
            UnregisterBrokerRecord(broker_id=BROKER, broker_epoch=epoch(active)),
            *registration_change(fenced=1)(active),
        ],
    },
    "UnregisterBrokerRecord": {
        "no-broker": always(UnregisterBrokerRecord(broker_id=9, broker_epoch=1)),
        "epoch": always(UnregisterBrokerRecord(broker_id=BROKER, broker_epoch=0)),
    },
    "UnregisterControllerRecord": {
        "no-controller": always(UnregisterControllerRecord(controller_id=9)),
        "twice": always(
            RegisterControllerRecord(controller_id=9, incarnation_id=UNKNOWN),
            UnregisterControllerRecord(controller_id=9),
            UnregisterControllerRecord(controller_id=9),
        ),
    },
    "FenceBrokerRecord": {
        "no-broker": always(FenceBrokerRecord(id=9, epoch=1)),
        "epoch": always(FenceBrokerRecord(id=BROKER, epoch=0)),
    },
    "UnfenceBrokerRecord": {
        "no-broker": always(UnfenceBrokerRecord(id=9, epoch=1)),
        "epoch": always(UnfenceBrokerRecord(id=BROKER, epoch=0)),
    },
    "FeatureLevelRecord": {
        "unknown": always(FeatureLevelRecord(name="no.such.feature", feature_level=1)),
        "too-high": always(FeatureLevelRecord(name=features.GROUP_VERSION, feature_level=99)),
        "metadata-version-too-high": always(
            FeatureLevelRecord(name=features.METADATA_VERSION, feature_level=999)
        ),
        "metadata-version-too-low": always(
            FeatureLevelRecord(name=features.METADATA_VERSION, feature_level=1)
        ),
    },
    "RemoveAccessControlEntryRecord": {
        "no-entry": always(RemoveAccessControlEntryRecord(id=UNKNOWN)),
        "twice": always(
            AccessControlEntryRecord(id=NEW_TOPIC, resource_name="orders", principal="User:a", host="*"),
            RemoveAccessControlEntryRecord(id=NEW_TOPIC),
            RemoveAccessControlEntryRecord(id=NEW_TOPIC),
        ),
    },
    "BeginTransactionRecord": {"nested": always(BeginTransactionRecord(), BeginTransactionRecord())},
    "EndTransactionRecord": {"none-open": always(EndTransactionRecord())},
    "AbortTransactionRecord": {
        "none-open": always(AbortTransactionRecord()),
        "twice": lambda active: [
            BeginTransactionRecord(),
            RemoveTopicRecord(topic_id=topic_id(active)),
            AbortTransactionRecord(),
            AbortTransactionRecord(),
        ],
    },
}

NEVER_REFUSED = {
    "RegisterBrokerRecord",
    "RegisterControllerRecord",
    "ConfigRecord",
    "DelegationTokenRecord",
    "RemoveDelegationTokenRecord",
    "UserScramCredentialRecord",
    "RemoveUserScramCredentialRecord",
    "ClientQuotaRecord",
    "ProducerIdsRecord",
    "AccessControlEntryRecord",
    "NoOpRecord",
    "ZkMigrationStateRecord",
}

BEFORE: list[Message] = [
    ConfigRecord(resource_type=2, resource_name="orders", name="k", value=""),
    ConfigRecord(resource_type=4, resource_name=str(BROKER), name="k", value="v"),
    TopicRecord(name="or.ders", topic_id=b"collides........"),
    ProducerIdsRecord(broker_id=BROKER, broker_epoch=1, next_producer_id=5000),
    AccessControlEntryRecord(id=b"kept............", resource_name="orders", principal="User:a", host="*"),
    DelegationTokenRecord(owner="User:a", requester="User:a", token_id="kept"),
    UserScramCredentialRecord(name="u", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"s"),
    ClientQuotaRecord(entity=[EntityData(entity_type="user", entity_name=None)], key="k", value=0.0),
]
"""Records that fit, before the one that does not: all of them have to be taken back."""


@pytest.fixture
def active() -> ActiveController:
    active = ActiveController()
    active.start_brokers(BROKER, 2)
    active.create_topic("orders")
    return active


@pytest.fixture
def plant() -> Iterator[Callable[[list[Message]], None]]:
    """What the handler of AllocateProducerIds writes in addition."""
    handler = HANDLERS[ApiKey.ALLOCATE_PRODUCER_IDS]

    def change_handler(records: list[Message]) -> None:
        def spoilt(state: Any, context: Any, request: Any, moment: Any) -> ControllerResult:
            response = handler(state, context, request, moment).response
            return ControllerResult.of([RecordAndVersion(each, _version(each)) for each in records], response)

        HANDLERS[ApiKey.ALLOCATE_PRODUCER_IDS] = spoilt

    yield change_handler
    HANDLERS[ApiKey.ALLOCATE_PRODUCER_IDS] = handler


def _version(record: Message) -> int:
    """The newest one that the latest level allows."""
    row = next(row for row in RECORD_TYPES if row.message.NAME == record.NAME)
    return sum(1 for since in row.since if since <= features.LATEST_PRODUCTION) - 1


def allocate(active: ActiveController) -> AllocateProducerIdsRequest:
    return AllocateProducerIdsRequest(broker_id=BROKER, broker_epoch=epoch(active))


def test_every_record_type_is_in_one_of_the_tables() -> None:
    assert {row.message.NAME for row in RECORD_TYPES} == REFUSED.keys() | NEVER_REFUSED
    assert not REFUSED.keys() & NEVER_REFUSED


CASES = [
    pytest.param(records, id=f"{name}-{case}")
    for name, cases in REFUSED.items()
    for case, records in cases.items()
]


@pytest.mark.prevents("record-that-replay-refuses")
@pytest.mark.parametrize("records", CASES)
def test_it_fails_its_request_and_leaves_the_image_as_it_was(
    active: ActiveController, plant: Callable[[list[Message]], None], records: Refused
) -> None:
    request, before, end_offset = allocate(active), state_of(active.controller.image), active.end_offset
    handler = HANDLERS[ApiKey.ALLOCATE_PRODUCER_IDS]
    for prefix in ([], BEFORE):
        plant([*prefix, *records(active)])
        with pytest.raises((AssertionError, LookupError, ValueError)):
            active.controller.prepare_request(active.pending(request), active.moment)
        assert state_of(active.controller.image) == before
        assert active.controller.image.journal.entry_count == 0
        assert active.controller.undo_failure is None
    HANDLERS[ApiKey.ALLOCATE_PRODUCER_IDS] = handler
    active.request(allocate(active))
    assert active.end_offset == end_offset + 1, "the next request is written"


@pytest.mark.parametrize("name", sorted(NEVER_REFUSED))
def test_replay_takes_any_record_of_the_other_types(active: ActiveController, name: str) -> None:
    """Also one with nothing in it, twice, and what it leaves can be undone."""
    image = active.controller.image
    before = state_of(image)
    (message,) = [row.message for row in RECORD_TYPES if name == row.message.NAME]
    for offset in range(active.end_offset, active.end_offset + 2):
        replay(image, message(), offset)
    image.journal.rollback_to(active.end_offset)
    assert state_of(image) == before


def test_it_is_the_last_thing_that_can_fail(
    active: ActiveController, plant: Callable[[list[Message]], None]
) -> None:
    """Nothing that was replayed is left behind by a response that cannot be encoded."""
    plant([ProducerIdsRecord(broker_id=BROKER, broker_epoch=1, next_producer_id=7)])
    handler = HANDLERS[ApiKey.ALLOCATE_PRODUCER_IDS]

    def unanswerable(state: Any, context: Any, request: Any, moment: Any) -> ControllerResult:
        result = handler(state, context, request, moment)
        response: Any = result.response
        response.producer_id_len = 1 << 40
        return result

    HANDLERS[ApiKey.ALLOCATE_PRODUCER_IDS] = unanswerable
    before = state_of(active.controller.image)
    with pytest.raises(EncodeError):
        active.controller.prepare_request(active.pending(allocate(active)), active.moment)
    assert state_of(active.controller.image) == before


@pytest.mark.parametrize("seed", seeds(6))
def test_a_snapshot_in_progress_does_not_see_what_is_taken_back(seed: int) -> None:
    """Its view notes old values of what is replayed; after an undo they are the present ones."""
    image = MetadataImage()
    sequence = RecordSequence(seed, image)
    for offset in range(150):
        replay(image, sequence.next(), offset)
    image.journal.rollback_to(image.journal.transaction_start or 150)
    image.journal.commit_to(150)
    view = image.journal.open_view(150)
    expected = [
        value
        for part in image.parts.values()
        for value in part.values(view, features.LATEST_PRODUCTION, True)
    ]
    offset = 150
    for _ in range(20):
        tried = random.Random(seed).randint(1, 6)
        for step in range(tried):
            replay(image, sequence.next(), offset + step)
        image.journal.rollback_to(offset)
        replay(image, sequence.next(), offset)
        offset += 1
    found = [
        value
        for part in image.parts.values()
        for value in part.values(view, features.LATEST_PRODUCTION, True)
    ]
    assert sorted(found) == sorted(expected)


def test_a_registration_that_a_later_record_of_the_batch_removes_is_followed(
    active: ActiveController, plant: Callable[[list[Message]], None]
) -> None:
    """Sessions follow each record in its turn, though the image has the last one already."""
    plant(
        [
            *registration_change(fenced=1)(active),
            UnregisterBrokerRecord(broker_id=BROKER, broker_epoch=epoch(active)),
            RegisterBrokerRecord(broker_id=7, broker_epoch=active.end_offset, fenced=True),
        ]
    )
    active.request(allocate(active))
    heartbeats = active.controller.state.heartbeats
    assert sorted(active.controller.image.cluster.brokers) == [2, 7]
    assert not heartbeats.state(7).has_session
    with pytest.raises(KeyError):
        heartbeats.state(BROKER)
