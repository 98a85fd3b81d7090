"""A name is replaced in all files: everything else is as before, and no byte of it is left."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import re
import shutil
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_types import RECORD_TYPES, TOPIC_NAME, RecordType
from kraftctl_spark.cli import main
from kraftctl_spark.forgetting.record_texts import text_fields
from kraftctl_spark.forgetting.search import Search
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.publish.delta import DeltaTarget
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.verification import verify
from tests.spark.forgotten_names import PRINCIPAL, TOPIC, TOPIC_IDS, USER, made_output, records, removals
from tests.spark.page_bytes import places_of
from tests.spark.publish.published_tables import assert_published
from tests.spark.typed_export import KillAtStep

NAMES = pytest.mark.parametrize(
    ("flags", "word"),
    [
        pytest.param(["--principal", PRINCIPAL], USER, id="principal"),
        pytest.param(["--topic", TOPIC], TOPIC, id="topic"),
    ],
)


def forget(output: Path, flags: list[str]) -> int:
    """Forgets a name that the cluster may have."""
    return main(["forget", "--output", str(output), "--accept-present", *flags])


def test_a_name_that_no_record_has_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped one looks as if it were forgotten otherwise. A plan counts files that are there."""
    output = made_output(tmp_path / "tables", records())
    assert forget(output, ["--topic", "zebrafinch-"]) == 0
    planned = capsys.readouterr().out
    assert "and 0 that were replaced before" in planned
    assert "nothing was done: --execute does it" in planned
    assert forget(output, ["--topic", "zebrafinch-", "--execute"]) == 0
    assert "no record has this topic: nothing was replaced" in capsys.readouterr().out
    assert forget(output, ["--topic", "zebrafinch", "--execute"]) == 1
    assert "nothing was replaced: give the whole name" in capsys.readouterr().out
    assert Output(output).log.state().forgotten == []


def pseudonym_in(output: Path) -> str:
    (one,) = Output(output).log.state().forgotten
    return one.pseudonym


def rows(output: Path) -> dict[str, pa.Table]:
    found = {table: read_table(output, table) for table in table_schemas()}
    history = Output(output).log.state().history
    for table in SCHEMAS if history is not None else ():
        assert history is not None
        paths = sorted(file.path for file in history.files.values() if file.table == table)
        read = [pq.read_table(output / path, partitioning=None) for path in paths]
        found[f"history/{table}"] = pa.concat_tables(read) if read else SCHEMAS[table].empty_table()
    return found


@NAMES
def test_everything_else_is_as_if_the_log_had_the_pseudonym(
    tmp_path: Path, flags: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = made_output(tmp_path / "tables", records())
    assert len(places_of(word.encode(), output)) > 10
    assert forget(output, [*flags, "--execute"]) == 0
    assert "the name was found nowhere" in capsys.readouterr().out
    assert places_of(word.encode(), output) == []
    assert verify(output).problems == []
    pseudonym = pseudonym_in(output)
    assert re.fullmatch("forgotten-[0-9a-f]{16}", pseudonym)
    now = records(user=pseudonym) if word == USER else records(topic=pseudonym)
    expected = made_output(tmp_path / "expected", now)
    HistoryTables(expected, expected / "history").rebuild()
    assert rows(output) == rows(expected)


def test_an_audit_row_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = made_output(tmp_path / "tables", records(), history=False)
    assert forget(output, ["--topic", TOPIC, "--execute"]) == 0
    capsys.readouterr()
    assert main(["status", "--output", str(output), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["forgotten"]
    assert (row["kind"], row["records"], row["number"]) == ("topic", 5, 3)
    assert row["at_ms"] <= row["finished_at_ms"]
    assert main(["status", "--output", str(output)]) == 0
    assert f"forgotten        topic {row['pseudonym']} by commit 3" in capsys.readouterr().out


def test_nothing_happens_without_execute(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = made_output(tmp_path / "tables", records())
    before = verify(output)
    assert forget(output, ["--topic", TOPIC]) == 0
    assert "would replace the name in 5 records" in capsys.readouterr().out
    assert verify(output) == before


def acl(
    principal: str = "User:x", resource_name: str = "t", pattern_type: int = 3
) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=b"b" * 16,
        resource_type=2,
        resource_name=resource_name,
        pattern_type=pattern_type,
        principal=principal,
        host="*",
        operation=3,
        permission_type=3,
    )


def test_a_longer_name_is_another_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    longer: list[Message] = [
        TopicRecord(name=f"{TOPIC}-eu", topic_id=b"t" * 16),
        acl(principal=f"{PRINCIPAL}2", resource_name=f"{TOPIC}-eu"),
    ]
    output = made_output(tmp_path / "tables", [*records(), *longer])
    for flags in (["--principal", PRINCIPAL], ["--topic", TOPIC]):
        assert forget(output, [*flags, "--execute"]) == 0
    out = capsys.readouterr().out
    assert "left" not in out
    assert "found nowhere except within longer words" in out
    assert "within longer words, which stay: topic_record.name: 1 times" in out
    acls = read_table(output, "access_control_entry_record")
    assert acls.column("principal").to_pylist()[1] == f"{PRINCIPAL}2"
    assert f"{TOPIC}-eu" in read_table(output, "topic_record").column("name").to_pylist()


ELSEWHERE = [
    pytest.param(
        ["--topic", TOPIC],
        acl(pattern_type=4, resource_name=TOPIC),
        "access_control_entry_record.resource_name",
        id="prefix",
    ),
    pytest.param(["--topic", TOPIC], acl(principal=f"User:{TOPIC}"), "events.after", id="principal-as-topic"),
    pytest.param(
        ["--principal", PRINCIPAL],
        TopicRecord(name=USER, topic_id=b"t" * 16),
        "topic_record.name",
        id="topic-as-principal",
    ),
    pytest.param(
        ["--principal", PRINCIPAL],
        AbortTransactionRecord(reason=f"asked by {USER}, twice"),
        "abort_transaction_record.reason",
        id="text",
    ),
    pytest.param(
        ["--topic", TOPIC],
        ConfigRecord(resource_type=2, resource_name="orders", name="cleanup.policy", value=TOPIC),
        "config_record.value",
        id="config",
    ),
    pytest.param(
        ["--principal", PRINCIPAL],
        acl(principal=f"User:CN={USER},O=x"),
        "access_control_entry_record.principal",
        id="distinguished-name",
    ),
    *(
        pytest.param(
            ["--topic", TOPIC],
            ConfigRecord(resource_type=2, resource_name="orders", name="cleanup.policy", value=value),
            "config_record.value",
            id=name,
        )
        for name, value in {
            "expression": f"client_id=^{TOPIC}$",
            "expression-of-a-beginning": f"client_id={TOPIC}.*",
            "rule": f"RULE:^CN={TOPIC}$/x/,DEFAULT",
            "end-of-a-sentence": f"cannot create {TOPIC}.",
        }.items()
    ),
]


@pytest.mark.parametrize(("flags", "record", "place"), ELSEWHERE)
def test_where_it_may_be_something_else_is_said(
    tmp_path: Path, flags: list[str], record: Message, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = made_output(tmp_path / "tables", [*records(), record])
    assert forget(output, [*flags, "--execute"]) == 1
    out = capsys.readouterr().out
    assert f"left: {place}" in out
    assert "nowhere" not in out
    continued = ["--as", pseudonym_in(output)]
    assert " ".join(continued) in out
    assert forget(output, [*flags, *continued, "--execute", "--everywhere"]) == 0
    assert all(one.finished_at_ms for one in Output(output).log.state().forgotten)
    word = USER if flags[0] == "--principal" else TOPIC
    assert places_of(word.encode(), output) == []
    assert verify(output).problems == []


def test_another_name_is_not_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = AbortTransactionRecord(reason=f"asked by {TOPIC}, twice")
    output = made_output(tmp_path / "tables", [*records(), left], batches=1, history=False)
    assert forget(output, ["--topic", TOPIC, "--execute"]) == 1
    assert forget(output, ["--topic", "absent", "--execute"]) == 0
    assert f"not finished: {pseudonym_in(output)}" in capsys.readouterr().out
    (one,) = Output(output).log.state().forgotten
    assert not one.finished_at_ms
    assert forget(output, ["--principal", PRINCIPAL, "--as", one.pseudonym]) == 2


def test_a_principal_within_a_value_is_certain(tmp_path: Path) -> None:
    value = f"User:bob;{PRINCIPAL};{PRINCIPAL}2"
    supers = ConfigRecord(resource_type=2, resource_name="", name="cleanup.policy", value=value)
    output = made_output(tmp_path / "tables", [*records(), supers])
    forget(output, ["--principal", PRINCIPAL, "--execute"])
    (found,) = [one for one in read_table(output, "config_record").column("value").to_pylist() if ";" in one]
    assert found == f"User:bob;User:{pseudonym_in(output)};{PRINCIPAL}2"


def test_a_search_finds_what_is_only_in_bytes(tmp_path: Path) -> None:
    output = made_output(tmp_path / "tables", records(), batches=1, history=False)
    for table in ("topic_record", "config_record", "clear_elr_record", "access_control_entry_record"):
        shutil.rmtree(output / table)
    found = Search(WantedName(TOPIC_NAME, TOPIC, "p"))
    found.all_of(LocalStore(output))
    assert dict(found.found) == {"records.payload": 5}


def test_a_short_name_is_no_byte_of_compressed_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is in some of them by accident, and that never ends."""
    more = [TopicRecord(name=f"o{number}", topic_id=number.to_bytes(16)) for number in range(1000, 1500)]
    output = made_output(tmp_path / "tables", [*records(topic="z"), *more])
    assert any(b"z" in path.read_bytes() for path in output.rglob("*.parquet"))
    assert forget(output, ["--topic", "z", "--execute"]) == 0
    assert "found nowhere" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["undecodable", "unknown tag"])
def test_bytes_that_are_not_understood_are_removed_on_demand(
    tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """They may have the name within another one, or by accident."""
    record = TopicRecord(name="orders", topic_id=b"t" * 16)
    sound = encode_metadata_record(record, 0)
    if damage == "unknown tag":
        record.unknown_tagged_fields = [(7, TOPIC.encode())]
    value = encode_metadata_record(record, 0)
    if damage == "undecodable":
        value += TOPIC.encode()
    output = made_output(tmp_path / "tables", [*records(), value])
    assert forget(output, ["--topic", TOPIC, "--execute"]) == 1
    assert read_table(output, "records").column("payload").to_pylist()[-1] == value
    assert forget(output, ["--topic", TOPIC, "--everywhere"]) == 0
    out = capsys.readouterr().out
    assert "left: records.payload: 1 times" in out
    assert "would remove bytes that are not understood, and have the name, from 1 of them" in out
    assert forget(output, ["--topic", TOPIC, "--everywhere", "--execute"]) == 0
    assert places_of(TOPIC.encode(), output) == []
    last = read_table(output, "records").to_pylist()[-1]
    assert last["redacted"]
    assert last["payload"] == (None if damage == "undecodable" else sound)
    (batch,) = [one for one in Output(output).manifests() if one.end == len(records()) + 1]
    assert (batch.counts["redacted"], batch.counts["newer_fields"]) == (1, 0)
    assert batch.counts["undecodable"] == (damage == "undecodable")


@pytest.mark.parametrize("flags", [["--principal", "alicia"], ["--principal", "User:*"], ["--topic", ""]])
def test_what_is_no_name_is_refused(tmp_path: Path, flags: list[str]) -> None:
    output = made_output(tmp_path / "tables", records(), history=False)
    assert forget(output, flags) == 2


@pytest.mark.parametrize("row", RECORD_TYPES, ids=[row.message.NAME for row in RECORD_TYPES])
def test_every_text_of_a_record_has_a_kind(row: RecordType) -> None:
    assert list(row.texts) == [path for path, _ in text_fields(row.message)]


def forget_and_die(output: Path, step: int) -> None:
    """The work of a child process, which dies after that many steps."""
    flags = ["--topic", TOPIC, "--accept-present", "--execute"]
    sys.exit(main(["forget", "--output", str(output), *flags], KillAtStep(step)))


@pytest.mark.parametrize(
    "stride", [pytest.param(61, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]
)
def test_killed_after_any_step_the_same_command_finishes_it(tmp_path: Path, stride: int) -> None:
    whole = made_output(tmp_path / "whole", records())
    Publisher(Output(whole), DeltaTarget()).publish()
    context = multiprocessing.get_context("forkserver")
    unfinished = 0
    for step in itertools.count(3, stride):
        output = tmp_path / f"step-{step}"
        shutil.copytree(whole, output)
        child = context.Process(target=forget_and_die, args=(output, step))
        child.start()
        child.join(120)
        forgotten = Output(output).log.state().forgotten
        if child.exitcode == 0:
            break
        assert child.exitcode == -signal.SIGKILL
        unfinished += bool(forgotten) and not forgotten[0].finished_at_ms
        continued = ["--as", forgotten[0].pseudonym] if forgotten else []
        assert forget(output, ["--topic", TOPIC, *continued, "--execute"]) == 0
        assert places_of(TOPIC.encode(), output) == []
        (one,) = Output(output).log.state().forgotten
        assert one.finished_at_ms
        assert verify(output).problems == []
        HistoryTables(output, output / "history").catch_up()
        expected = made_output(tmp_path / f"expected-{step}", records(topic=one.pseudonym))
        HistoryTables(expected, expected / "history").rebuild()
        assert rows(output) == rows(expected)
        assert_published(tmp_path, "delta", output, 15)
    assert unfinished
    assert step > 2 * stride


def test_the_documented_commands_run(tmp_path: Path) -> None:
    """Each line of OPERATIONS.md, with its names."""
    page = (Path(__file__).parents[2] / "spark" / "OPERATIONS.md").read_text()
    section = page[page.index("## Forget a name") : page.index("## Stopping")]
    made = [*records("alice", "cranes"), *removals("alice"), RemoveTopicRecord(TOPIC_IDS[1])]
    output = made_output(tmp_path / "metadata", made, history=False)
    for line in section.split("```")[1].strip().splitlines():
        program, *arguments = line.replace("/data", str(tmp_path)).split()
        assert program == "kraftctl-export"
        assert main(arguments) == 0
    assert [one.kind for one in Output(output).log.state().forgotten] == ["principal", "topic"]
    assert places_of(b"alice", output) == []
