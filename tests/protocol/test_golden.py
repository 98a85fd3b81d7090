"""Every message in every version has the bytes that Kafka's classes write."""

from __future__ import annotations

import pytest

from kraftctl_protocol.generated.index import all_messages
from kraftctl_protocol.json_converter import from_json, to_json
from kraftctl_protocol.message import Message
from tests.protocol.golden_cases import build
from tests.protocol.golden_files import ask_kafka, digest_of, question_for, read_golden, wanted_cases

MESSAGES = [pytest.param(cls, id=cls.NAME) for cls in all_messages()]


@pytest.mark.parametrize("cls", MESSAGES)
def test_we_write_what_kafka_writes(cls: type[Message]) -> None:
    for golden in read_golden(cls):
        message = build(cls, golden.version, golden.case)
        assert message.encode(golden.version) == golden.data, (golden.version, golden.case)


@pytest.mark.parametrize("cls", MESSAGES)
def test_we_read_what_kafka_wrote(cls: type[Message]) -> None:
    for golden in read_golden(cls):
        expected = build(cls, golden.version, golden.case)
        assert cls.decode(golden.data, golden.version) == expected, (golden.version, golden.case)


@pytest.mark.parametrize("cls", MESSAGES)
def test_our_json_is_kafkas_json(cls: type[Message]) -> None:
    for golden in read_golden(cls):
        message = cls.decode(golden.data, golden.version)
        json = to_json(message, golden.version, serialize_records=False)
        assert digest_of(json) == golden.json_digest, (golden.version, golden.case, json)


@pytest.mark.parametrize("cls", MESSAGES)
def test_json_loses_nothing(cls: type[Message]) -> None:
    for golden in read_golden(cls):
        if golden.case != "unknown":
            message = cls.decode(golden.data, golden.version)
            assert from_json(cls, to_json(message, golden.version), golden.version) == message


def test_no_version_and_no_case_is_left_out() -> None:
    there = {(cls, golden.version, golden.case) for cls in all_messages() for golden in read_golden(cls)}
    assert there == set(wanted_cases())


@pytest.mark.java
def test_kafka_still_says_the_same() -> None:
    """Against the real classes, not the files: the newest Kafka that knows each message and version."""
    cases = wanted_cases()
    answers = ask_kafka([question_for(*case) for case in cases])
    for (cls, version, case), answer in zip(cases, answers, strict=True):
        assert answer["hex"] == build(cls, version, case).encode(version).hex(), (cls.NAME, version, case)
