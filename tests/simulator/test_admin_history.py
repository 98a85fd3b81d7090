"""Every disagreement between answers and the committed metadata is noticed."""

from __future__ import annotations

import pytest

from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from tests.support.image_records import image_of
from tests.support.simulator.brokers.admin_history import ABSENT, PRESENT, AdminHistory, Outcome

TOPIC_ID = bytes(15) + b"\x21"

TOPIC_T: list[Message] = [
    TopicRecord(name="t", topic_id=TOPIC_ID),
    PartitionRecord(partition_id=0, topic_id=TOPIC_ID, replicas=[1], isr=[1], leader=1),
]


def history_of(*operations: tuple[str, object, object, Outcome]) -> AdminHistory:
    history = AdminHistory()
    for kind, subject, value, outcome in operations:
        assert value is None or isinstance(value, int | str)
        history.begin(kind, subject, value, 0).outcome = outcome
    return history


def retention(value: int) -> ConfigRecord:
    return ConfigRecord(resource_type=TOPIC, resource_name="t", name="retention.ms", value=str(value))


def quota(value: int) -> ClientQuotaRecord:
    entity = [EntityData(entity_type="user", entity_name="u")]
    return ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=float(value))


BINDING = (2, "t", 3, "User:alice", "*", 3, 3)
QUOTA = ((("user", "u"),), "producer_byte_rate")
TOKEN = DelegationTokenRecord(token_id="token", owner="User:alice", requester="User:alice")

WIDE: dict[tuple[str, object, object, object], Message] = {
    ("alter_acl", BINDING, PRESENT, ABSENT): AccessControlEntryRecord(
        resource_type=2,
        resource_name="t",
        pattern_type=3,
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    ),
    ("alter_user", (1, "u"), PRESENT, ABSENT): UserScramCredentialRecord(name="u", mechanism=1),
    ("alter_quota", QUOTA, 1, None): quota(1),
    ("alter_resource", (16, "m", "interval.ms"), 100, None): ConfigRecord(
        resource_type=16, resource_name="m", name="interval.ms", value="100"
    ),
}
"""Kind, subject, and the values of what is set and removed, with the record that sets it."""


def _set_and_removed(
    of: tuple[str, object, object, object], record: Message
) -> list[tuple[str, list[tuple[str, object, object, Outcome]], list[Message], str]]:
    kind, subject, value, none = of
    is_set = (kind, subject, value, Outcome.ACKNOWLEDGED)
    removed = (kind, subject, none, Outcome.ACKNOWLEDGED)
    refused = (kind, subject, value, Outcome.REFUSED)
    return [
        ("lost", [is_set], [], "NoCommittedRecordLost"),
        ("removal-lost", [is_set, removed], [record], "NoCommittedRecordLost"),
        ("refused", [refused], [record], "RefusedIsNotDone"),
    ]


CREATED = ("create_topic", "t", TOPIC_ID.hex(), Outcome.ACKNOWLEDGED)
CONFIG = ("t", "retention.ms")


@pytest.mark.parametrize(
    ("operations", "records", "invariant"),
    [
        pytest.param([CREATED], [], "NoCommittedRecordLost", id="topic-lost"),
        pytest.param(
            [CREATED, ("delete_topic", "t", None, Outcome.REFUSED)],
            [],
            "NoCommittedRecordLost",
            id="topic-lost-though-its-deletion-was-refused",
        ),
        pytest.param(
            [CREATED, ("delete_topic", "t", None, Outcome.ACKNOWLEDGED)],
            TOPIC_T,
            "NoCommittedRecordLost",
            id="deletion-lost",
        ),
        pytest.param(
            [("create_topic", "t", "00" * 16, Outcome.ACKNOWLEDGED)],
            TOPIC_T,
            "NoCommittedRecordLost",
            id="another-topic-of-that-name",
        ),
        pytest.param(
            [("create_topic", "t", None, Outcome.REFUSED)], TOPIC_T, "RefusedIsNotDone", id="refused-topic"
        ),
        pytest.param(
            [CREATED, ("create_partitions", "t", 2, Outcome.ACKNOWLEDGED)],
            TOPIC_T,
            "NoCommittedRecordLost",
            id="partition-lost",
        ),
        pytest.param(
            [CREATED, ("alter_configs", CONFIG, 1, Outcome.ACKNOWLEDGED)],
            TOPIC_T,
            "NoCommittedRecordLost",
            id="config-lost",
        ),
        pytest.param(
            [
                ("alter_quotas", "u", 1, Outcome.ACKNOWLEDGED),
                ("alter_quotas", "u", 2, Outcome.ACKNOWLEDGED),
            ],
            [quota(1)],
            "NoCommittedRecordLost",
            id="last-quota-lost",
        ),
        pytest.param(
            [CREATED, ("alter_configs", CONFIG, 1, Outcome.REFUSED)],
            [*TOPIC_T, retention(1)],
            "RefusedIsNotDone",
            id="refused-config",
        ),
        pytest.param(
            [("update_features", "group.version", 1, Outcome.ACKNOWLEDGED)],
            [],
            "NoCommittedRecordLost",
            id="feature-level-lost",
        ),
        pytest.param(
            [("create_acls", "a", None, Outcome.ACKNOWLEDGED)], [], "NoCommittedRecordLost", id="acl-lost"
        ),
        pytest.param(
            [("alter_scram", "u", None, Outcome.ACKNOWLEDGED)], [], "NoCommittedRecordLost", id="user-lost"
        ),
        *[
            pytest.param(operations, records, invariant, id=f"{operations[0][0]}-{name}")
            for subject, record in WIDE.items()
            for name, operations, records, invariant in _set_and_removed(subject, record)
        ],
        pytest.param(
            [("create_token", 1, "token", Outcome.ACKNOWLEDGED)], [], "NoCommittedRecordLost", id="token-lost"
        ),
        pytest.param(
            [
                ("create_token", 1, "token", Outcome.ACKNOWLEDGED),
                ("expire_token", "token", ABSENT, Outcome.ACKNOWLEDGED),
            ],
            [TOKEN],
            "NoCommittedRecordLost",
            id="token-that-was-ended",
        ),
    ],
)
def test_disagreements(
    operations: list[tuple[str, object, object, Outcome]], records: list[Message], invariant: str
) -> None:
    with pytest.raises(AssertionError, match=invariant):
        history_of(*operations).check_final(image_of(*records))


@pytest.mark.parametrize(
    ("operations", "records"),
    [
        pytest.param([CREATED], TOPIC_T, id="created"),
        pytest.param([("create_topic", "t", None, Outcome.UNKNOWN)], TOPIC_T, id="unknown-and-there"),
        pytest.param([("create_topic", "t", None, Outcome.UNKNOWN)], [], id="unknown-and-not-there"),
        pytest.param([CREATED, ("delete_topic", "t", None, Outcome.UNKNOWN)], [], id="deleted-after-all"),
        pytest.param(
            [
                CREATED,
                ("alter_configs", CONFIG, 1, Outcome.UNKNOWN),
                ("alter_configs", CONFIG, 2, Outcome.ACKNOWLEDGED),
            ],
            [*TOPIC_T, retention(2), retention(1)],
            id="carried-out-late",
        ),
        pytest.param(
            [
                ("alter_acl", BINDING, PRESENT, Outcome.REFUSED),
                ("alter_acl", BINDING, ABSENT, Outcome.REFUSED),
            ],
            [],
            id="neither-set-nor-removed",
        ),
        pytest.param([("create_token", 1, None, Outcome.ACKNOWLEDGED)], [], id="token-that-soon-expires"),
    ],
)
def test_agreements(operations: list[tuple[str, object, object, Outcome]], records: list[Message]) -> None:
    history_of(*operations).check_final(image_of(*records))
