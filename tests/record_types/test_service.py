"""Every metadata record type in every part of the service: replay, undo, snapshots, checks, logs, dump.

A new type is tried by itself: a part that does not know it fails, with the name of the type. Handle the type
there, or say in its row why that part leaves it out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from pathlib import Path

import pytest

from kraftctl.apis.api_table import API_TABLE, AUDITED_API_KEYS
from kraftctl.cli import dump
from kraftctl.controller.audit.described_change import DESCRIBING
from kraftctl.controller.results.record_checks import ALLOWED_SINCE
from kraftctl.controller.results.record_notices import record_notices
from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.record_types import (
    LOG_LINE,
    NOTHING,
    RECORD_TYPES,
    RECORD_TYPES_BY_NAME,
    REQUEST,
    SETS,
    SNAPSHOT,
    WRITER,
    RecordType,
)
from kraftctl_protocol.secrets import TYPES_WITH_SECRETS, redact
from tests.record_types.examples import ALL_TYPES, BY_NAME, example, records_before, with_another
from tests.record_types.image_state import state_of, state_without_offsets
from tests.support.image_records import image_records, next_records
from tests.support.record_sequences import RecordSequence

EVERY_TYPE = pytest.mark.parametrize("message", ALL_TYPES, ids=[message.NAME for message in ALL_TYPES])


def row_of(message: type[Message]) -> RecordType:
    """KeyError for a type that has no row."""
    return RECORD_TYPES_BY_NAME[message.NAME]


def prepared(message: type[Message]) -> tuple[MetadataImage, int]:
    """What the example needs, committed; and the offset of the example."""
    image = MetadataImage()
    records = records_before(message)
    for offset, record in enumerate(records):
        replay(image, record, offset)
    image.journal.commit_to(len(records))
    return image, len(records)


@EVERY_TYPE
def test_replay_knows_it_and_it_changes_the_image(message: type[Message]) -> None:
    image, offset = prepared(message)
    before = state_of(image)
    replay(image, example(message), offset)
    assert (state_of(image) == before) == (row_of(message).effect == NOTHING)


@EVERY_TYPE
def test_a_rollback_takes_it_back(message: type[Message]) -> None:
    image, offset = prepared(message)
    before = state_of(image)
    replay(image, example(message), offset)
    image.journal.rollback_to(offset)
    assert state_of(image) == before


@EVERY_TYPE
def test_a_snapshot_has_what_it_did(message: type[Message]) -> None:
    image, offset = prepared(message)
    replay(image, example(message), offset)
    read = MetadataImage()
    for entry in image_records(image):
        replay(read, entry.record, offset)
    assert state_without_offsets(read) == state_without_offsets(image)


@EVERY_TYPE
def test_a_snapshot_of_before_does_not_have_it(message: type[Message]) -> None:
    image, offset = prepared(message)
    before = image_records(image)
    writer = ImageWriter(image, offset)
    replay(image, example(message), offset)
    assert next_records(writer, 1_000) == before
    writer.close()


@EVERY_TYPE
def test_a_snapshot_repeats_every_field_that_it_sets(message: type[Message]) -> None:
    image, offset = prepared(message)
    record = example(message)
    replay(image, record, offset)
    written = [entry.record for entry in image_records(image) if type(entry.record) is message]
    if row_of(message).effect != SETS:
        assert written == []
        return
    lost = {
        field.name
        for field in message.FIELDS
        if getattr(record, field.name) not in [getattr(one, field.name) for one in written]
    }
    assert lost == row_of(message).fields_left_out(SNAPSHOT)


def test_a_snapshot_has_kafkas_order() -> None:
    """Features first, because they say how to read the rest; then brokers, topics and so on."""
    image = MetadataImage()
    records = records_before(BY_NAME["TopicRecord"])
    records += [example(row.message) for row in RECORD_TYPES if row.effect == SETS]
    for offset, record in enumerate(sorted(records, key=lambda one: one.NAME, reverse=True)):
        replay(image, record, offset)
    found = dict.fromkeys(entry.record.NAME for entry in image_records(image))
    assert [name for name in found if name in KAFKAS_ORDER] == KAFKAS_ORDER
    assert set(found) == {row.message.NAME for row in RECORD_TYPES if row.effect == SETS}


KAFKAS_ORDER = [
    "FeatureLevelRecord",
    "RegisterBrokerRecord",
    "RegisterControllerRecord",
    "TopicRecord",
    "PartitionRecord",
    "ConfigRecord",
    "ClientQuotaRecord",
    "ProducerIdsRecord",
    "AccessControlEntryRecord",
    "UserScramCredentialRecord",
    "DelegationTokenRecord",
]
"""Of the classes that Kafka's MetadataImage.write goes through."""


@EVERY_TYPE
def test_every_field_matters_to_the_image(message: type[Message]) -> None:
    image, offset = prepared(message)
    replay(image, example(message), offset)
    expected, row = state_of(image), row_of(message)
    for field in message.FIELDS:
        image, _ = prepared(message)
        with contextlib.suppress(AssertionError, KeyError):  # what it refers to is not there
            replay(image, with_another(message, field), offset)
        ignored = row.effect == NOTHING or field.name in row.fields_left_out(SNAPSHOT)
        assert (state_of(image) == expected) == ignored, field.name


@EVERY_TYPE
def test_the_metadata_version_that_allows_each_version_is_known(message: type[Message]) -> None:
    since = ALLOWED_SINCE.get(message.NAME)
    if WRITER in row_of(message).left_out:
        assert since is None
        return
    assert since is not None
    assert len(since) == message.HIGHEST_VERSION + 1
    assert list(since) == sorted(since)
    assert set(since) <= set(features.METADATA_VERSION_NAMES)


@EVERY_TYPE
def test_a_log_line_says_it(message: type[Message]) -> None:
    image, _ = prepared(message)
    entry = RecordAndVersion(example(message), message.HIGHEST_VERSION)
    assert (record_notices(image, [entry]) == []) == row_of(message).leaves_out(LOG_LINE)


@EVERY_TYPE
def test_the_audit_log_has_the_requests_that_ask_for_it(message: type[Message]) -> None:
    asked_by = row_of(message).asked_by
    assert (asked_by == ()) == row_of(message).leaves_out(REQUEST)
    for name in asked_by:
        api_key = ApiKey[name]
        assert api_key in API_TABLE, name
        assert api_key in DESCRIBING, name
        routine = name in ("ALTER_PARTITION", "ASSIGN_REPLICAS_TO_DIRS", "ALLOCATE_PRODUCER_IDS")
        assert (api_key in AUDITED_API_KEYS) != routine, name


@EVERY_TYPE
def test_its_secrets_are_known_and_removed(message: type[Message]) -> None:
    secret = row_of(message).secret
    record, clear = example(message), example(message)
    if "value" in secret:
        record.name = "ssl.keystore.password"  # type: ignore[attr-defined]
    assert (message.API_KEY in TYPES_WITH_SECRETS) == bool(secret)
    assert redact(record) == bool(secret)
    names = [field.name for field in message.FIELDS if field.name != "name"]
    changed = {name for name in names if getattr(record, name) != getattr(clear, name)}
    assert changed == set(secret)


@EVERY_TYPE
def test_dump_prints_every_field(
    message: type[Message], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message.NAME in RECORD_TYPES_BY_NAME, "dump would print its secrets"
    value = encode_metadata_record(example(message), message.HIGHEST_VERSION)
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(encode_batch(0, 1, 0, [value]))
    parser = argparse.ArgumentParser()
    dump.add_arguments(parser)
    assert dump.run(parser.parse_args(["log", str(path)])) == 0
    line = json.loads(capsys.readouterr().out.splitlines()[1])
    assert line["type"] == message.NAME
    lower_camel = {name[0].lower() + name[1:] for name in (field.wire_name for field in message.FIELDS)}
    assert set(line["data"]) == lower_camel


@EVERY_TYPE
def test_random_sequences_draw_it(message: type[Message], drawn: set[str]) -> None:
    never = {
        "ZkMigrationStateRecord": "it has no effect",
        "FenceBrokerRecord": "tests/spark/metadata_histories.py draws it",
        "UnfenceBrokerRecord": "tests/spark/metadata_histories.py draws it",
    }
    assert (message.NAME not in drawn) == (message.NAME in never)


@pytest.fixture(scope="module")
def drawn() -> set[str]:
    """The types in some long random sequences."""
    found: set[str] = set()
    for seed in range(4):
        image = MetadataImage()
        sequence = RecordSequence(seed, image)
        for offset in range(300):
            record = sequence.next()
            replay(image, record, offset)
            found.add(record.NAME)
    return found


def test_rows_are_in_the_order_of_their_numbers_and_agree_with_themselves() -> None:
    numbers = [row.message.API_KEY for row in RECORD_TYPES]
    assert numbers == sorted(set(numbers))
    for row in RECORD_TYPES:
        names = {field.name for field in row.message.FIELDS}
        assert names.issuperset((*row.fields, *row.secret)), row
        assert names.issuperset(name for one in row.left_out for name in one.partition(": ")[2].split()), row
        assert (row.effect == NOTHING) == (row.part == "") == (row.table == ""), row
        assert all(row.left_out.values()), row


def test_the_features_follow_from_the_rows() -> None:
    """Those by hand are on hot paths."""
    for level in range(32):
        for name, found in (
            ("PartitionRecord", features.partition_record_version(level)),
            ("PartitionChangeRecord", features.partition_change_record_version(level)),
        ):
            assert found == RECORD_TYPES_BY_NAME[name].version_at(level)
