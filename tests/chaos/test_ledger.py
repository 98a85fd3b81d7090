"""What was acknowledged and is not there is found; what failed may have either outcome."""

from __future__ import annotations

import pytest

from tests.chaos.ledger import FoundTopic, RecordLedger, TopicLedger


def ledger() -> TopicLedger:
    topics = TopicLedger()
    topics.created("kept", 3, acknowledged=True)
    topics.created("perhaps", 2, acknowledged=False)
    topics.created("gone", 1, acknowledged=True)
    topics.deleted("gone", acknowledged=True)
    return topics


KEPT = FoundTopic(3, {})


def test_what_is_there_is_no_find() -> None:
    assert ledger().problems({"kept": KEPT}) == []
    assert ledger().problems({"kept": KEPT, "perhaps": FoundTopic(2, {})}) == []


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        pytest.param({}, "the topic kept is lost", id="lost"),
        pytest.param(
            {"kept": KEPT, "gone": FoundTopic(1, {})},
            "the topic gone was deleted, and is there",
            id="returned",
        ),
        pytest.param({"kept": FoundTopic(2, {})}, "kept has 2 partitions, not 3 to 3", id="fewer-partitions"),
    ],
)
def test_a_lost_change_of_topics_is_found(found: dict[str, FoundTopic], problem: str) -> None:
    assert ledger().problems(found) == [problem]


def test_a_topic_whose_deletion_failed_may_be_there_or_not() -> None:
    topics = ledger()
    topics.deleted("kept", acknowledged=False)
    assert topics.problems({}) == []
    assert topics.problems({"kept": KEPT}) == []
    assert topics.sure() == []


def test_partitions_are_between_what_was_acknowledged_and_what_was_asked_for() -> None:
    topics = ledger()
    topics.partitions_added("kept", 4, acknowledged=True)
    topics.partitions_added("kept", 5, acknowledged=False)
    assert topics.problems({"kept": FoundTopic(3, {})}) == ["kept has 3 partitions, not 4 to 5"]
    assert topics.problems({"kept": FoundTopic(5, {})}) == []


def test_a_config_has_the_last_acknowledged_value_or_one_of_a_request_that_failed() -> None:
    """The latter may have been made after all that was acknowledged later."""
    topics = ledger()
    topics.config_set("kept", "retention.ms", "1", acknowledged=False)
    assert topics.problems({"kept": KEPT}) == []
    topics.config_set("kept", "retention.ms", "2", acknowledged=True)
    topics.config_set("kept", "retention.ms", "3", acknowledged=True)
    for value in "13":
        assert topics.problems({"kept": FoundTopic(3, {"retention.ms": value})}) == []
    lost = ["kept has retention.ms=None, not one of ['1', '3']"]
    assert topics.problems({"kept": KEPT}) == lost
    old = ["kept has retention.ms=2, not one of ['1', '3']"]
    assert topics.problems({"kept": FoundTopic(3, {"retention.ms": "2"})}) == old


def test_a_lost_record_is_found() -> None:
    records = RecordLedger()
    records.add(("data", 0), 5, b"five")
    records.add(("data", 0), 6, b"six")
    assert records.problems({("data", 0): {5: b"five", 6: b"six", 7: b"never acknowledged"}}) == []
    (lost,) = records.problems({("data", 0): {5: b"five"}})
    assert lost.startswith("1 of 2 acknowledged records of ('data', 0) are lost, first offset 6: None")
    (other,) = records.problems({("data", 0): {5: b"five", 6: b"another"}})
    assert "b'another' instead of b'six'" in other


def test_a_record_whose_offset_is_not_known_has_to_be_somewhere() -> None:
    records = RecordLedger()
    records.add(("data", 0), None, b"five")
    assert records.problems({("data", 0): {3: b"five"}}) == []
    lost = ["1 acknowledged records of ('data', 0) are lost: b'five'"]
    assert records.problems({("data", 0): {3: b"six"}, ("data", 1): {3: b"five"}}) == lost


def test_an_offset_that_was_given_twice_is_found() -> None:
    records = RecordLedger()
    records.add(("data", 0), 5, b"five")
    records.add(("data", 0), 5, b"also five")
    assert any("gave offset 5 to b'five'" in line for line in records.problems({("data", 0): {5: b"five"}}))
