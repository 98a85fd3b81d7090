"""A name is replaced in a history whose records have expired: the same rows as if the log had the pseudonym.

What is expected is computed from such a log before its records expire.
"""

from __future__ import annotations

import itertools
import multiprocessing
import shutil
import signal
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
from kraftctl_protocol.record_types import TOPIC_NAME
from kraftctl_protocol.secrets import REDACTED
from kraftctl_spark.forgetting.event_texts import EventTexts
from kraftctl_spark.forgetting.search import leaves
from kraftctl_spark.forgetting.version_texts import texts_of_kind, version_without
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.questions.dialects import EXAMPLES
from kraftctl_spark.history.questions.questions import parameters_of, sources
from kraftctl_spark.history.versions.kinds import CONFIGS, KINDS
from kraftctl_spark.history.versions.versions import Version
from kraftctl_spark.publish.delta import DeltaTarget
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.verification import verify
from tests.spark.expired_tables import expire, time_behind, versions
from tests.spark.forgotten_names import PRINCIPAL, TOPIC, USER, continued, made_output
from tests.spark.history.asked import in_duckdb
from tests.spark.page_bytes import places_of
from tests.spark.publish.published_tables import assert_published
from tests.spark.test_forget import forget, forget_and_die, pseudonym_in, rows

IDS = [bytes([number]) * 16 for number in range(1, 5)]
BATCHES, EXPIRED = 6, 4


def quota(user: str, value: float, *, remove: bool = False) -> ClientQuotaRecord:
    entity = [EntityData(entity_type="user", entity_name=user), EntityData("client-id", "app")]
    return ClientQuotaRecord(entity=entity, key="producer_byte_rate", value=value, remove=remove)


def acl(
    number: int, principal: str, resource_name: str, pattern_type: int = 3, host: str = "*"
) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=IDS[number],
        resource_type=2,
        resource_name=resource_name,
        pattern_type=pattern_type,
        principal=principal,
        host=host,
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
        ConfigRecord(2, "orders", "cleanup.policy", f"User:bob;{principal}"),
        ConfigRecord(4, "", "ssl.truststore.password", "secret"),
        acl(0, principal, "orders"),
        acl(1, "User:bob", topic),
        UserScramCredentialRecord(name=user, mechanism=1, salt=b"s", stored_key=b"k", server_key=b"s"),
        quota(user, 1.0),
        DelegationTokenRecord(token_id="t", **token),
        # From here on, everything ends or becomes something else.
        ConfigRecord(2, topic, "retention.ms", "2000"),
        ConfigRecord(2, "orders", "cleanup.policy", "User:bob"),
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
        ConfigRecord(4, "", "compression.type", f"x,{word},y"),
        ConfigRecord(4, "", word, "x"),
        ConfigRecord(2, word, "cleanup.policy", f"not {word}."),
        acl(3, f"User:CN={word},O=x", word, pattern_type=4, host=word),
        DelegationTokenRecord(token_id=word, owner="User:bob"),
        quota(word, 3.0),
        ClientQuotaRecord([EntityData("client-id", word)], "x", remove=True),
        ClientQuotaRecord([EntityData("user", "bob")], word, value=1.0),
        RemoveDelegationTokenRecord(f"{word} {word}"),
        *(NoOpRecord() for _ in range(10)),
    ]


NEVER_A_NAME = {"entity_type"}
"""Texts that are words of Kafka alone."""

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


def test_every_text_of_a_version_is_among_them(tmp_path: Path) -> None:
    """Of each kind and column, within lists and structs too."""
    output = made_output(tmp_path / "tables", named(USER, USER, "everywhere"), batches=1)
    for kind in KINDS:
        table = rows(output)[f"history/{kind.name}"]
        for column, inner in texts_of_kind(kind).items():
            found = dict(leaves("", table.column(column).combine_chunks()))
            for field in inner.keys() - NEVER_A_NAME:
                texts = found[f".{field}" if field else ""].drop_null().to_pylist()
                assert any(USER in text for text in texts), (kind.name, column, field)


def test_a_digest_of_a_value_is_one_of_the_name() -> None:
    """And it stays said that the value has changed."""
    before = Version(("TOPIC", TOPIC, "password"), (None, f"{REDACTED} 0123456789abcdef"), 3, 3, False, 3)
    name = WantedName(TOPIC_NAME, TOPIC, "p")
    after = version_without(CONFIGS, before, name)
    assert after == before._replace(key=("TOPIC", "p", "password"), values=(None, REDACTED))
    texts = EventTexts(name)
    texts.add(CONFIGS, before, after)
    event = (f"TOPIC {TOPIC} password", None, before.values[1])
    assert texts.without(CONFIGS.name, 3, event) == ("TOPIC p password", None, REDACTED)
    assert texts.without(CONFIGS.name, 4, event) == event


def test_the_export_and_its_history_continue(tmp_path: Path) -> None:
    """And what cannot be computed again is merged, and expires further."""
    first = certain(USER, TOPIC)
    output = expired_output(tmp_path / "tables", first)
    assert forget(output, ["--topic", TOPIC, "--execute"]) == 0
    pseudonym = pseudonym_in(output)
    whole = expired_output(tmp_path / "expected", certain(USER, pseudonym))
    more = [
        TopicRecord("later", IDS[3]),
        ConfigRecord(2, "later", "retention.ms", "1"),
        ConfigRecord(2, "orders", "retention.ms", "5"),
        RemoveTopicRecord(IDS[1]),
    ]
    for directory, made in ((output, first), (whole, certain(USER, pseudonym))):
        continued(directory, [*made, *more], history=True)
        assert expire(directory, time_behind(directory, 2), "--execute") == 0
        compact(Output(directory), grace_ms=0)
        HistoryTables(directory, directory / "history").merge()
    assert versions(output / "history") == versions(whole / "history")
    assert in_any_order(output) == in_any_order(whole)
    assert verify(output).problems == []


def answers(output: Path, topic: str, shown_as: str) -> dict[str, list[str]]:
    """Returns the answer of each question, with another name for the topic."""
    values = {name: value for name, (_, value) in EXAMPLES.items()}
    values |= {"as_of": 15, "from_offset": 3, "to_offset": 28, "batch_offset": 8}
    values |= {"topic": topic, "of_topic": topic, "of_resource": topic, "of_principal": "User:bob"}
    found = {}
    with in_duckdb(output / "history") as asked:
        for question in sources():
            rows_found = asked.rows(question, **{one: values[one] for one in parameters_of(question)})
            found[question] = sorted(repr(row).replace(topic, shown_as) for row in rows_found)
    return found


def test_all_questions_answer_as_before_apart_from_the_name(tmp_path: Path) -> None:
    output = expired_output(tmp_path / "tables", certain(USER, TOPIC))
    before = answers(output, TOPIC, "it")
    assert sum("it" in str(rows_found) for rows_found in before.values()) > 10
    assert forget(output, ["--topic", TOPIC, "--execute"]) == 0
    assert answers(output, pseudonym_in(output), "it") == before


def after_a_kill(output: Path, number: int) -> None:
    """Lets more expire, or continues the history, or nothing, before the command is repeated."""
    if number % 3 == 0:
        assert expire(output, time_behind(output, 2), "--execute") == 0
    elif number % 3 == 1:
        HistoryTables(output, output / "history").catch_up()


@pytest.mark.parametrize(
    "stride", [pytest.param(47, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]
)
@pytest.mark.timeout(7200)
def test_killed_after_any_step_the_same_command_finishes_it(tmp_path: Path, stride: int) -> None:
    """Also where more records expire before that."""
    made = certain(USER, TOPIC)
    whole = expired_output(tmp_path / "whole", made, batches=2)
    Publisher(Output(whole), DeltaTarget()).publish()
    context = multiprocessing.get_context("forkserver")
    unfinished = 0
    for number, step in enumerate(itertools.count(3, stride)):
        output = tmp_path / f"step-{step}"
        shutil.copytree(whole, output)
        child = context.Process(target=forget_and_die, args=(output, step))
        child.start()
        child.join(120)
        if child.exitcode == 0:
            break
        assert child.exitcode == -signal.SIGKILL
        forgotten = Output(output).log.state().forgotten
        unfinished += bool(forgotten) and not forgotten[0].finished_at_ms
        after_a_kill(output, number)
        as_before = ["--as", forgotten[0].pseudonym] if forgotten else []
        assert forget(output, ["--topic", TOPIC, *as_before, "--execute"]) == 0
        assert places_of(TOPIC.encode(), output) == []
        (one,) = Output(output).log.state().forgotten
        assert one.finished_at_ms
        assert verify(output).problems == []
        HistoryTables(output, output / "history").catch_up()
        gone = sum(one.batches for one in Output(output).manifests() if one.expired is not None)
        expected = expired_output(tmp_path / f"expected-{step}", certain(USER, one.pseudonym), gone)
        assert in_any_order(output) == in_any_order(expected)
        assert_published(tmp_path, "delta", output, 15)
        shutil.rmtree(output)
    assert unfinished
    assert step > 2 * stride
