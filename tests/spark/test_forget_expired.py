"""A name is replaced in a history whose records have expired: the same rows as if the log had the pseudonym.

What is expected is computed from such a log before its records expire.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kraftctl_protocol.generated.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_spark.cli import main
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.verification import verify
from tests.spark.expired_tables import expire, time_behind, versions
from tests.spark.forgotten_names import PRINCIPAL, TOPIC, USER, made_output
from tests.spark.page_bytes import places_of
from tests.spark.test_forget import forget, pseudonym_in, rows

IDS = [bytes([number]) * 16 for number in range(1, 5)]
BATCHES, EXPIRED = 6, 4


def quota(user: str, value: float, *, remove: bool = False) -> ClientQuotaRecord:
    entity = [EntityData(entity_type="user", entity_name=user), EntityData("client-id", "app")]
    return ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=value, remove=remove)


def acl(number: int, principal: str, resource_name: str, pattern_type: int = 3) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=IDS[number],
        resource_type=2,
        resource_name=resource_name,
        pattern_type=pattern_type,
        principal=principal,
        host="*",
        operation=3,
        permission_type=3,
    )


def never_set(user: str, topic: str) -> list[Message]:
    """Returns records about what has the names and was never set."""
    return [ClearElrRecord(topic), RemoveUserScramCredentialRecord(user, 2), quota(user, 0.0, remove=True)]


def certain(user: str, topic: str) -> list[Message]:
    """Returns records in which the names are certain: all that begins there changes, and then ends."""
    principal = f"User:{user}"
    token: dict[str, Any] = {"owner": principal, "requester": principal, "renewers": ["User:bob", principal]}
    return [
        *never_set(user, topic),
        TopicRecord("orders", IDS[1]),
        PartitionRecord(0, IDS[1], replicas=[1, 2], isr=[1, 2], leader=1),
        TopicRecord(topic, IDS[0]),
        PartitionRecord(0, IDS[0], replicas=[1, 2], isr=[1, 2], leader=1),
        PartitionRecord(1, IDS[0], replicas=[1, 2], isr=[1, 2], leader=2),
        ConfigRecord(2, topic, "retention.ms", "1000"),
        ConfigRecord(2, "orders", "retention.ms", "1000"),
        ConfigRecord(2, topic, "follower.replication.throttled.replicas", "*"),
        ConfigRecord(4, "", "super.users", f"User:bob;{principal}"),
        ConfigRecord(4, "", "ssl.truststore.password", "secret"),
        acl(0, principal, "orders"),
        acl(1, "User:bob", topic),
        UserScramCredentialRecord(name=user, mechanism=1, salt=b"s", stored_key=b"k", server_key=b"s"),
        quota(user, 1.0),
        DelegationTokenRecord(token_id="t", **token),
        # From here on, everything ends or becomes something else.
        ConfigRecord(2, topic, "retention.ms", "2000"),
        ConfigRecord(4, "", "super.users", "User:bob"),
        PartitionChangeRecord(0, IDS[0], leader=2, isr=[2]),
        ClearElrRecord(topic),
        UserScramCredentialRecord(
            name=user, mechanism=1, salt=b"t", stored_key=b"k", server_key=b"s", iterations=8192
        ),
        quota(user, 2.0),
        DelegationTokenRecord(token_id="t", **{**token, "renewers": [principal]}),
        RemoveAccessControlEntryRecord(IDS[0]),
        RemoveAccessControlEntryRecord(IDS[1]),
        RemoveUserScramCredentialRecord(user, 1),
        quota(user, 2.0, remove=True),
        RemoveDelegationTokenRecord("t"),
        RemoveTopicRecord(IDS[0]),
        *(NoOpRecord() for _ in range(20)),
    ]


def anywhere(word: str) -> list[Message]:
    """Returns records that have a word where it may be something else."""
    return [
        RegisterBrokerRecord(
            broker_id=1,
            incarnation_id=IDS[0],
            rack=word,
            end_points=[BrokerEndpoint(word, word, 9092, 0)],
            features=[BrokerFeature(word, 0, 1)],
        ),
        RegisterBrokerRecord(
            broker_id=1,
            broker_epoch=5,
            incarnation_id=IDS[0],
            rack="other",
            end_points=[BrokerEndpoint("PLAINTEXT", f"{word}:1, {word}", 9092, 0)],
            features=[BrokerFeature("a", 0, 1), BrokerFeature(word, 0, 2)],
        ),
        BrokerRegistrationChangeRecord(1, 5, fenced=1),
        RegisterControllerRecord(
            controller_id=3,
            incarnation_id=IDS[0],
            end_points=[ControllerEndpoint(word, word, 9093, 0)],
            features=[ControllerFeature(word, 0, 1)],
        ),
        FeatureLevelRecord(word, 1),
        FeatureLevelRecord(word, 0),
        TopicRecord(word, IDS[2]),
        PartitionRecord(0, IDS[2], replicas=[1], isr=[1], leader=1),
        ConfigRecord(4, "", "log.message.format", f"x,{word},y"),
        ConfigRecord(2, word, "cleanup.policy", f"not {word}."),
        acl(3, f"User:CN={word},O=x", word, pattern_type=4),
        DelegationTokenRecord(token_id=word, owner="User:bob"),
        quota(word, 3.0),
        ClientQuotaRecord([EntityData("client-id", word)], "x", remove=True),
        RemoveDelegationTokenRecord(f"{word} {word}"),
        *(NoOpRecord() for _ in range(10)),
    ]


ONE_OF = [
    pytest.param(["--principal", PRINCIPAL], USER, id="principal"),
    pytest.param(["--topic", TOPIC], TOPIC, id="topic"),
]


def longer(word: str) -> list[Message]:
    """Returns records of other names that begin with these."""
    return [
        TopicRecord(f"{TOPIC}-eu", IDS[3]),
        PartitionRecord(0, IDS[3], replicas=[1], isr=[1], leader=1),
        acl(2, f"{PRINCIPAL}2", f"{TOPIC}-eu"),
        RemoveUserScramCredentialRecord(f"{USER}2", 1),
    ]


MORE: dict[str, Callable[[str], list[Message]]] = {
    "certain": lambda word: [],
    "longer": longer,
    "everywhere": anywhere,
}


def named(word: str, now: str, more: str = "certain") -> list[Message]:
    """Returns the log with another word in place of one of the names."""
    user, topic = (now if word == one else one for one in (USER, TOPIC))
    return [*MORE[more](now), *certain(user, topic)]


def expired_output(directory: Path, made: list[Message], batches: int = EXPIRED) -> Path:
    output = made_output(directory, made, BATCHES)
    assert expire(output, time_behind(output, batches), "--execute") == 0
    return output


def in_any_order(output: Path) -> dict[str, list[str]]:
    return {name: sorted(map(repr, table.to_pylist())) for name, table in rows(output).items()}


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize(("flags", "word"), ONE_OF)
def test_it_is_as_if_the_log_had_had_the_pseudonym(
    tmp_path: Path, flags: list[str], word: str, more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [*flags, "--everywhere"] if more == "everywhere" else flags
    output = expired_output(tmp_path / "tables", named(word, word, more))
    assert len([one for one in places_of(word.encode(), output) if one.startswith("history/")]) > 10
    before = in_any_order(output)
    assert forget(output, flags) == 0
    assert "rows of the history" in capsys.readouterr().out
    assert in_any_order(output) == before
    assert forget(output, [*flags, "--execute"]) == 0, capsys.readouterr().out
    assert "the name was found nowhere" in capsys.readouterr().out
    assert more == "longer" or places_of(word.encode(), output) == []
    assert verify(output).problems == []
    now = named(word, pseudonym_in(output), more)
    assert in_any_order(output) == in_any_order(expired_output(tmp_path / "expected", now))
