"""Events in words, those of many partitions as one, and what they do not show."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.console.event_stream import NAMES_MAX, TOGETHER_MS, EventStream
from kraftctl.console.event_words import EventWords, event_words
from kraftctl.console.observed_log import ObservedLog
from kraftctl.console.picture import event_json
from kraftctl.explain.mark import Mark
from kraftctl_protocol.config_resource import BROKER, TOPIC
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from tests.support import explained_situations as situations
from tests.support.explained_log import ExplainedLog, change, directory, partition
from tests.support.planted_secrets import PlantedSecrets


class EventLog(ExplainedLog):
    """Replays into a log that has events."""

    def __init__(self) -> None:
        super().__init__()
        self.observed = ObservedLog()
        self.log = self.observed

    def texts(self, count: int) -> list[str]:
        """The newest events, the last one first."""
        return [each.text for each in self.observed.events.newest(count)]


def one_leader_moves(log: ExplainedLog) -> None:
    situations.healthy(log)
    log.write(change("orders", 0, leader=2))


def a_leader_returns(log: ExplainedLog) -> None:
    situations.electable(log)
    log.write(change("orders", 0, leader=2))


def unclean(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], isr=[1], leader=-1))
    log.write(change("orders", 0, leader=2, isr=[2], leader_recovery_state=1))


def topic_deleted(log: ExplainedLog) -> None:
    situations.healthy(log)
    log.write(RemoveTopicRecord(topic_id=b"orders".ljust(16, b".")))


def reassignment_ends(log: ExplainedLog) -> None:
    situations.reassigning(log)
    ended = {"adding_replicas": [], "removing_replicas": [], "directories": [directory(2)]}
    log.write(change("orders", 0, replicas=[2], isr=[2], leader=2, **ended))


CASES = [
    pytest.param(situations.session_expired, [
        "Broker 1 leaves the ISR of: orders-0",
        "Broker 2 leads instead of broker 1: orders-0",
        "Broker 1 is fenced",
    ], id="fenced"),
    pytest.param(one_leader_moves, ["Broker 2 leads instead of broker 1: orders-0"], id="moved"),
    pytest.param(a_leader_returns, ["Broker 2 leads what had no leader: orders-0"], id="leads-again"),
    pytest.param(unclean, [
        "Broker 2 joins the ISR of: orders-0",
        "Broker 1 leaves the ISR of: orders-0",
        "Unclean election, records may be lost: orders-0",
    ], id="unclean"),
    pytest.param(
        situations.leaving_with_leaderships, ["Broker 1 begins its controlled shutdown"], id="leaves"
    ),
    pytest.param(situations.one_directory_failed, ["Broker 1 loses 1 log directory"], id="directory"),
    pytest.param(situations.broker_unregistered, ["Broker 1 is unregistered"], id="unregistered"),
    pytest.param(topic_deleted, ["Topic is deleted: orders"], id="deleted"),
    pytest.param(situations.reassigning, ["Reassignment begins: orders-0"], id="reassignment"),
    pytest.param(situations.level_30, ["Feature metadata.version is set to 30 (4.3-IV0)"], id="feature"),
    pytest.param(situations.at_the_top, ["Controller 1 registers"], id="controller"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), CASES)
def test_what_happened_is_in_words(make: Callable[[ExplainedLog], None], expected: list[str]) -> None:
    log = EventLog()
    make(log)
    assert log.texts(len(expected)) == expected


def test_a_reassignment_ends() -> None:
    log = EventLog()
    reassignment_ends(log)
    assert "Reassignment ends: orders-0" in log.texts(4)


def test_the_changes_of_many_partitions_are_one_event() -> None:
    log = EventLog()
    log.brokers(1, 2)
    log.topic("orders", *[partition([1, 2]) for _ in range(50)])
    log.fence(1, *[change("orders", index, leader=2, isr=[2]) for index in range(50)])
    assert log.texts(3) == [
        "Broker 1 leaves the ISR of: orders-0, orders-1, orders-2 and 47 more",
        "Broker 2 leads instead of broker 1: orders-0, orders-1, orders-2 and 47 more",
        "Broker 1 is fenced",
    ]


def test_later_changes_are_another_event() -> None:
    stream, words = EventStream(), EventWords("Broker 1 leaves the ISR of:", "orders-0")
    stream.add(words, Mark(1, 0))
    stream.add(words, Mark(2, TOGETHER_MS))
    stream.add(words, Mark(3, 2 * TOGETHER_MS + 1))
    assert [each.count for each in stream.newest(9)] == [1, 2]
    assert all(len(each.names) <= NAMES_MAX for each in stream.newest(9))


def test_a_snapshot_has_no_events() -> None:
    log = EventLog()
    log.in_snapshot = True
    situations.healthy(log)
    assert log.texts(9) == []


def test_a_config_and_a_quota_have_their_values() -> None:
    log = EventLog()
    log.config("min.insync.replicas", "2", topic="orders")
    log.write(
        ConfigRecord(resource_type=TOPIC, resource_name="orders", name="min.insync.replicas", value=None)
    )
    entity = [EntityData(entity_type="user", entity_name="ann")]
    log.write(ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=1024.0))
    assert log.texts(3) == [
        "Quota producer_byte_rate of user ann is 1024",
        "Config min.insync.replicas of topic orders is removed",
        "Config min.insync.replicas of topic orders is set to 2",
    ]


def test_a_long_value_is_shortened() -> None:
    log = EventLog()
    log.config("min.insync.replicas", "2" * 100_000, topic="orders")
    (event,) = log.observed.events.newest(1)
    assert len(event_json(event, 0)["text"]) < 400


def test_no_event_has_a_secret() -> None:
    log, secrets = EventLog(), PlantedSecrets()
    log.write(
        ConfigRecord(
            resource_type=BROKER,
            resource_name="1",
            name="listener.name.ssl.key.password",
            value=secrets.text("password"),
        )
    )
    log.write(
        ConfigRecord(resource_type=TOPIC, resource_name="t", name="plugin.key", value=secrets.text("plugin"))
    )
    log.write(
        UserScramCredentialRecord(
            name="ann",
            mechanism=1,
            salt=secrets.data("salt"),
            stored_key=secrets.data("stored"),
            server_key=secrets.data("server"),
            iterations=4096,
        )
    )
    texts = log.texts(9)
    assert "SCRAM credential is set for: ann" in texts
    assert "Config plugin.key of topic t is set to (redacted)" in texts
    assert secrets.in_("events", repr(list(log.observed.events.events))) == []


def test_an_acl_names_its_principal() -> None:
    log = EventLog()
    record = AccessControlEntryRecord(
        id=bytes(16), resource_type=2, resource_name="t", pattern_type=3, principal="User:<b>ann",
        host="*", operation=3, permission_type=3,
    )  # fmt: skip
    (words,) = event_words(log.log.image, record)
    assert words == EventWords("ACL is created for:", "User:<b>ann")
