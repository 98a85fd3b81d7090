"""A history never says that something is still so behind a record that was not understood.

Once a release that understands it has decoded the bytes again, it is what that release makes of the log.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.record_types import RECORD_TYPES
from kraftctl_protocol.uuids import ONE_UUID, uuid_from_string
from kraftctl_spark import cli
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.questions.questions import parameters_of, sources
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.versions.kinds import KINDS
from kraftctl_spark.report.header import page_header
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.commit import Commit
from kraftctl_spark.tables.commit_log import COMMITS
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.not_understood import not_understood
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.earlier_release import forget
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.history.asked import in_duckdb
from tests.spark.history.test_versions import export
from tests.spark.metadata_histories import History, generate
from tests.spark.typed_export import exporting

UNKNOWN_TYPE = bytes([1, 120, 3, 0])
DAMAGED = b"\x07nonsense"
OTHER = uuid_from_string("AAAAAAAAAAAAAAAAAAAAAg")
KNOWN: list[Message] = [
    TopicRecord("t", ONE_UUID),
    PartitionRecord(0, ONE_UUID, [1, 2], [1, 2], leader=1),
    RegisterBrokerRecord(1),
]
LATER: list[Message] = [PartitionChangeRecord(0, ONE_UUID, isr=[1], leader=1)]
"""It has an effect that no answer may show behind a record that was not understood."""
END_OF_TRANSACTION = encode_metadata_record(EndTransactionRecord(), 0)


def frames(records: list[Message]) -> list[bytes]:
    return [encode_metadata_record(record, type(record).LOWEST_VERSION) for record in records]


def history_of(directory: Path, parts: list[list[bytes]]) -> Path:
    """Exports each part in a batch of its own, and continues the history after it."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    raw, output = directory / "raw", directory / "history"
    try:
        with exporting(raw, controller.endpoint) as exporter:
            for part in parts:
                quorum.append(encode_batch(quorum.end_offset, 1, 1000 + quorum.end_offset, part))
                exporter.export_to(quorum.end_offset, 1)
                HistoryTables(raw, output).catch_up()
    finally:
        controller.close()
    return output


def continued_to(raw: Path, output: Path, ends: Iterable[int]) -> None:
    """Continues a history after each of some batches, as if there were no others yet."""
    commits = {path: path.read_bytes() for path in sorted((raw / COMMITS).glob("*.json"))}
    for end in ends:
        for path, data in commits.items():
            path.write_bytes(data)
            if any(one.end > end for one in Commit.from_bytes(data).batches):
                path.unlink()
        HistoryTables(raw, output).catch_up()


def ranges(output: Path) -> list[tuple[int, int]]:
    rows = read_versions(output, "known_ranges").to_pylist()
    return [(row["start_offset"], row["end_offset"]) for row in rows]


def not_known(output: Path) -> list[tuple[Any, ...]]:
    rows = read_versions(output, "not_known").to_pylist()
    return [(row["start_offset"], row["end_offset"], row["reason"], row["subject"]) for row in rows]


def later_version(type_id: int) -> bytes:
    return bytes([1, type_id, 99, 0])


BEHIND_TOTALS = [
    pytest.param(UNKNOWN_TYPE, "unknown type", "record type 120 version 3", id="unknown-type"),
    pytest.param(DAMAGED, "undecodable", "undecodable record", id="undecodable"),
    *(
        pytest.param(later_version(key), "unknown version", f"{name}Record version 99", id=name)
        for name, key in (("EndTransaction", 24), ("AbortTransaction", 25))
    ),
]


@pytest.mark.parametrize(("value", "reason", "subject"), BEHIND_TOTALS)
def test_nothing_is_known_behind_a_record_that_may_change_anything(
    tmp_path: Path, value: bytes, reason: str, subject: str, caplog: pytest.LogCaptureFixture
) -> None:
    output = history_of(tmp_path, [frames(KNOWN), [value], frames(LATER)])
    at = len(KNOWN)
    assert ranges(output) == [(0, at)]
    assert not_known(output) == [(at, None, reason, subject)]
    assert f"the history is not known from offset {at} on: {subject}" in caplog.text
    events = read_versions(output, "events").to_pylist()
    assert [(one["kind"], one["subject"]) for one in events if one["offset"] >= at] == [
        ("not known", subject)
    ]
    for kind in KINDS:
        assert read_versions(output, kind.name).column("valid_to_offset").null_count == 0
    with in_duckdb(output) as asked:
        assert asked.rows("partitions_at", as_of=at - 1)
        assert not asked.rows("partitions_at", as_of=at)
        assert [row["ended_by"] for row in asked.rows("partition_history")] == ["gap"]
        assert all(row["is_lost"] for row in asked.rows("known_tables"))
        for question in sources():
            if not parameters_of(question):
                asked.rows(question)


def test_a_transaction_of_a_later_version_is_not_known_once_it_has_ended(tmp_path: Path) -> None:
    """Until then, it is held back as any other."""
    output = history_of(tmp_path, [frames(KNOWN), [later_version(23)], [*frames(LATER), END_OF_TRANSACTION]])
    assert ranges(output) == [(0, len(KNOWN))]
    assert not_known(output) == [(3, None, "unknown version", "BeginTransactionRecord version 99")]


def test_in_one_batch_or_in_several_it_is_the_same(tmp_path: Path) -> None:
    parts = [frames(KNOWN), [UNKNOWN_TYPE, later_version(2)], frames(LATER)]
    several = history_of(tmp_path / "several", parts)
    one = history_of(tmp_path / "one", [[value for part in parts for value in part]])
    for table in ("partitions", "topics", "known_ranges", "not_known"):
        found, expected = (
            read_versions(output, table).drop_columns(dropped(table)).to_pylist() for output in (several, one)
        )
        assert [without_times(row) for row in found] == [without_times(row) for row in expected]


def dropped(table: str) -> list[str]:
    return ["batch_offset"] if "batch_offset" in SCHEMAS[table].names else []


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not name.endswith("_time")}


def test_new_fields_are_listed_and_everything_else_is_known(tmp_path: Path) -> None:
    topic = TopicRecord("t", ONE_UUID)
    topic.unknown_tagged_fields = [(99, b"new")]
    parts = [frames(KNOWN[:0]) + frames([topic]), frames(KNOWN[1:]), frames(LATER)]
    output = history_of(tmp_path, parts)
    assert ranges(output) == [(0, len(KNOWN) + len(LATER))]
    assert not_known(output) == [(0, None, "new fields", "TopicRecord version 0")]
    assert read_versions(output, "topics").column("valid_to_offset").null_count == 1


def test_new_fields_are_decoded_once(tmp_path: Path) -> None:
    """Manifests list them, also merged ones: nothing that reads the tables decodes the records for it."""
    first, second = TopicRecord("t", ONE_UUID), TopicRecord("u", OTHER)
    first.unknown_tagged_fields = second.unknown_tagged_fields = [(99, b"new")]
    output = history_of(tmp_path, [frames([first, *KNOWN[1:]]), frames([second]), frames(LATER)])
    raw, topics = tmp_path / "raw", "TopicRecord version 0"
    expected = [(0, None, "new fields", topics)]
    assert not_known(output) == expected
    decoded = [one for manifest in Output(raw).manifests() for one in not_understood(raw, manifest)]
    with Output(raw).compacting(wait=True):
        compact(Output(raw), grace_ms=0)
    (merged,) = Output(raw).manifests()
    assert sum(one.records for one in decoded) == merged.counts["newer_fields"] == 2
    listed = replace(merged, files=())
    assert [(one.place, one.subject, one.records) for one in not_understood(raw, listed)] == [(0, topics, 2)]
    for start, found in ((0, 2), (1, 1), (4, 0)):
        unlisted = replace(merged, new_fields=())
        assert not_understood(raw, merged, start) == not_understood(raw, unlisted, start)
        assert sum(one.records for one in not_understood(raw, merged, start)) == found


def test_a_new_field_of_a_struct_in_a_record_is_listed(tmp_path: Path) -> None:
    endpoint = BrokerEndpoint(name="A", host="h", port=1, security_protocol=0)
    endpoint.unknown_tagged_fields = [(9, b"new")]
    output = history_of(tmp_path, [frames([RegisterBrokerRecord(1, end_points=[endpoint])])])
    assert ranges(output) == [(0, 1)]
    assert not_known(output) == [(0, None, "new fields", "RegisterBrokerRecord version 0")]


@pytest.fixture(scope="module")
def history() -> History:
    return generate(20261129, 160, snapshots=(90,))


@pytest.fixture(scope="module")
def exported(history: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables and the history of a release that understands everything, with a gap."""
    directory = tmp_path_factory.mktemp("exported")
    export(history, directory / "raw", [60, 120, history.end], sorted(history.snapshots))
    HistoryTables(directory / "raw", directory / "history").catch_up()
    return directory


def typed_rows(raw: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for table in table_schemas():
        yield table, read_table(raw, table).to_pylist()


ALWAYS = ("TopicRecord", "ConfigRecord")
"""The types that each run of the tests takes; a long one takes all."""


def types_with_a_table() -> list[Any]:
    return [
        pytest.param(
            row.message,
            marks=[] if row.message.NAME in ALWAYS else [pytest.mark.long],
            id=row.message.NAME,
        )
        for row in RECORD_TYPES
        if row.table
    ]


def upgraded() -> list[Any]:
    found = []
    for row in RECORD_TYPES:
        marks = [] if row.message.NAME in ALWAYS else [pytest.mark.long]
        if row.message.FIELDS and row.table:
            found += [
                pytest.param(
                    row.message, reason, id=f"{row.message.NAME}-{reason.replace(' ', '-')}", marks=marks
                )
                for reason in ("unknown type", "unknown version", "undecodable", "new fields")
            ]
    return found


@pytest.mark.parametrize(("message", "reason"), upgraded())
def test_after_an_upgrade_all_of_it_is_right_by_itself(
    exported: Path, tmp_path: Path, message: type[Message], reason: str
) -> None:
    raw, output = tmp_path / "raw", tmp_path / "history"
    shutil.copytree(exported / "raw", raw)
    forget(raw, message, reason)
    HistoryTables(raw, output).catch_up()
    with Output(raw).compacting(wait=True):
        compact(Output(raw), grace_ms=0)
    HistoryTables(raw, output).catch_up()
    assert dict(typed_rows(raw)) == dict(typed_rows(exported / "raw"))
    for table in SCHEMAS:
        assert rows_of(output, table) == rows_of(exported / "history", table), table
    assert cli.main(["history", "--tables", str(raw), "--output", str(output)]) == 0


def rows_of(output: Path, table: str) -> list[str]:
    return sorted(map(str, read_versions(output, table).to_pylist()))


def test_what_was_redacted_is_not_decoded_again(tmp_path: Path) -> None:
    """Its bytes may be a secret, and are gone: the history does not become wrong."""
    config = ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="1")
    values = [*frames(KNOWN), bytes([1, config.API_KEY, 99, 0]), *frames(LATER)]
    output = history_of(tmp_path, [values])
    raw = tmp_path / "raw"
    before = not_known(output)
    forget(raw, TopicRecord, "unknown type")
    with Output(raw).compacting(wait=True):
        compact(Output(raw), grace_ms=0)
    HistoryTables(raw, output).catch_up()
    assert not_known(output) == before == [(3, None, "unknown version", "ConfigRecord version 99")]
    assert ranges(output) == [(0, len(values))]


def test_status_and_page_say_what_is_not_known_since_when(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = history_of(tmp_path, [frames(KNOWN), [UNKNOWN_TYPE], frames(LATER)])
    at = len(KNOWN)
    assert cli.main(["status", "--output", str(tmp_path / "raw")]) == 0
    text = f"record type 120 version 3 since offset {at} (unknown type, 1 records)"
    assert f"not understood   {text}" in capsys.readouterr().out
    contents = fetch(tmp_path / "raw", output, None, None)
    page = page_header(contents, "now")
    assert text in page
    assert (contents.header.partitions, contents.header.brokers) == (None, None)
    assert [(gap.first_offset, gap.last_offset) for gap in contents.gaps] == [(at, at + 1)]
    assert contents.features.at_end is None


def test_a_log_that_begins_with_what_is_not_understood(tmp_path: Path) -> None:
    output = history_of(tmp_path, [[UNKNOWN_TYPE], frames(KNOWN)])
    assert ranges(output) == [(0, 0)]
    contents = fetch(tmp_path / "raw", output, None, None)
    assert contents.header.partitions is None
    assert contents.not_known.total == 1
