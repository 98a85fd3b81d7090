"""Two short histories of four brokers for the page: one that ends healthy, and one that ends broken."""

from __future__ import annotations

import random
from collections.abc import Iterator

from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from tests.spark.made_history import Steps, until

START_S = 1_795_262_400
"""2026-11-21T12:00:00Z."""

BROKERS = (1, 2, 3, 4)
TOPIC, READ, LITERAL, ALLOW = 2, 3, 3, 3
NAMES = ("orders", "payments.europe.refunds", "audit-trail", "telemetry.devices.raw-measurements", "users")
IDS = {name: bytes([*range(15), place + 1]) for place, name in enumerate(NAMES)}
PARTITIONS = 4

Batches = list[tuple[int, list[Message]]]


def _replicas(topic: int, partition: int) -> list[int]:
    first = (topic + partition) % len(BROKERS)
    return [BROKERS[(first + place) % len(BROKERS)] for place in range(3)]


def _topic(name: str) -> list[Message]:
    place = NAMES.index(name)
    made: list[Message] = [TopicRecord(name, IDS[name])]
    for number in range(PARTITIONS):
        replicas = _replicas(place, number)
        made.append(PartitionRecord(number, IDS[name], replicas, replicas, leader=replicas[0]))
    return made


def _change(name: str, number: int, isr: list[int], leader: int = -2, recovery: int = -1) -> Message:
    return PartitionChangeRecord(number, IDS[name], isr, leader, leader_recovery_state=recovery)


def _without(*gone: int) -> Iterator[Message]:
    """The partitions of all topics but the last, when these brokers are gone, the last one latest."""
    for place, name in enumerate(NAMES[:-1]):
        for number in range(PARTITIONS):
            replicas = _replicas(place, number)
            isr = [one for one in replicas if one not in gone]
            if len(isr) < len(replicas):
                yield _change(name, number, isr or [gone[-1]], isr[0] if isr else -1)


def _whole() -> Iterator[Message]:
    for place, name in enumerate(NAMES[:-1]):
        for number in range(PARTITIONS):
            replicas = _replicas(place, number)
            yield _change(name, number, replicas, replicas[0])


def _state(broker_id: int, fenced: int = 0, leaving: int = 0) -> Message:
    return BrokerRegistrationChangeRecord(
        broker_id, 100 + broker_id, fenced=fenced, in_controlled_shutdown=leaving
    )


def _beginning() -> Batches:
    dice = random.Random(7)
    found: Batches = [(0, [FeatureLevelRecord("metadata.version", 29)])]
    for broker_id in BROKERS:
        registered = RegisterBrokerRecord(broker_id=broker_id, broker_epoch=100 + broker_id, fenced=True)
        found += [(broker_id, [registered]), (broker_id + 5, [_state(broker_id, fenced=-1)])]
    found += [(60 + 7 * place, _topic(name)) for place, name in enumerate(NAMES)]
    found.append((120, [ConfigRecord(TOPIC, "orders", "min.insync.replicas", "2")]))
    acl = AccessControlEntryRecord(IDS["orders"], 2, "orders", LITERAL, "User:alice", "*", READ, ALLOW)
    found.append((130, [acl]))
    found += [
        (140 + 9 * place, [ConfigRecord(TOPIC, name, "retention.ms", str(3_600_000 * place))])
        for place, name in enumerate(dice.choices(NAMES, k=30))
    ]
    return found


def healthy() -> Steps:
    """A broker fails and comes back, another is stopped in order and comes back; a topic is deleted."""
    found = _beginning()
    found.append((900, [ConfigRecord(TOPIC, "orders", "min.insync.replicas", "3")]))
    found.append((1_000, [_state(2, fenced=1), *_without(2)]))
    found += [(1_200, [_state(2, fenced=-1)]), (1_230, [*_whole()])]
    found += [(2_000, [_state(3, leaving=1), *_without(3)]), (2_010, [_state(3, fenced=1)])]
    again = RegisterBrokerRecord(broker_id=3, broker_epoch=203, fenced=True)
    up = BrokerRegistrationChangeRecord(3, 203, fenced=-1)
    found += [(2_060, [again]), (2_070, [up]), (2_090, [*_whole()])]
    found.append((2_500, [RemoveTopicRecord(IDS["users"])]))
    return _shifted(found, 3_600)


def broken() -> Steps:
    """Broker 2 fails, 3 is stopped in order, 1 fails: orders-0 has no other. Broker 5 does not catch up."""
    found = _beginning()
    found.append((1_000, [_state(2, fenced=1), *_without(2)]))
    found.append((2_000, [_state(3, leaving=1), *_without(2, 3)]))
    found.append((2_010, [_state(3, fenced=1)]))
    found.append((2_300, [_change("users", 0, [1, 2], 1)]))
    found.append((2_350, [_change("orders", 2, [4], 4, 1)]))
    found.append((2_400, [_state(1, fenced=1), *_without(2, 3, 1)]))
    found.append((2_600, [RegisterBrokerRecord(broker_id=5, broker_epoch=205, fenced=True)]))
    return _shifted(found, 3_600)


def _shifted(found: Batches, end_s: int) -> Steps:
    steps: Steps = [*found, until(end_s)]
    return [(START_S + time_s, batch) for time_s, batch in steps]
