"""At which offsets and times a log says how it was."""

from __future__ import annotations

import contextlib
from itertools import takewhile

import pytest

from kraftctl.explain.as_of import AsOf, NotKnownError, as_of_text, check_known, parse_as_of
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.explain.test_replayed_log import batch, control, topic

END = 53


def read(as_of: AsOf) -> ReplayedLog:
    """Reads a snapshot up to offset 49, of time 5000, a record of time 6000 behind it, and a batch of two, of
    time 8000.
    """
    log = ReplayedLog()
    front = control(0, 9, SnapshotHeaderRecord(last_contained_log_timestamp=5_000))
    log.replay_snapshot([*front, *batch(1, 9, topic("a"))], OffsetAndEpoch(50, 3))
    batches = [*batch(50, 6_000, topic("b")), *batch(51, 8_000, topic("c"), topic("d"))]
    log.replay_batches(takewhile(as_of.includes, batches), END)
    return log


@pytest.mark.parametrize(
    ("as_of", "topics"),
    [
        pytest.param(AsOf(offset=48), None, id="offset-within-the-snapshot"),
        pytest.param(AsOf(offset=49), "a", id="offset-at-its-end"),
        pytest.param(AsOf(offset=50), "ab", id="offset-behind-it"),
        pytest.param(AsOf(offset=51), "abcd", id="within-a-batch"),
        pytest.param(AsOf(offset=52), "abcd", id="last-offset"),
        pytest.param(AsOf(offset=53), None, id="offset-behind-the-end"),
        pytest.param(AsOf(time_ms=4_999), None, id="time-before-the-snapshot"),
        pytest.param(AsOf(time_ms=5_000), "a", id="time-of-the-snapshot"),
        pytest.param(AsOf(time_ms=7_999), "ab", id="time-between-two-records"),
        pytest.param(AsOf(time_ms=8_000), "abcd", id="time-of-the-last-record"),
        pytest.param(AsOf(time_ms=8_001), None, id="time-after-it"),
        pytest.param(AsOf(time_ms=4_000, span_ms=999), None, id="second-before-the-snapshot"),
        pytest.param(AsOf(time_ms=4_500, span_ms=999), "a", id="within-the-second"),
        pytest.param(AsOf(time_ms=7_500, span_ms=999), "abcd", id="last-record-within-the-second"),
    ],
)
def test_a_log_is_known_from_its_snapshot_to_its_last_record(as_of: AsOf, topics: str | None) -> None:
    log = read(as_of)
    refused = pytest.raises(NotKnownError, match="the log is known from offset 49 to 52")
    with refused if topics is None else contextlib.nullcontext():
        check_known(log, as_of, END)
    if topics is not None:
        assert "".join(log.image.topics.ids_by_name) == topics


def test_ages_count_up_to_the_time_that_is_asked_about() -> None:
    assert AsOf(time_ms=7_500).now_ms(read(AsOf(time_ms=7_500))) == 7_500
    assert AsOf(offset=50).now_ms(read(AsOf(offset=50))) == 6_000
    assert AsOf().now_ms(read(AsOf())) == 8_000


def test_a_time_that_is_printed_can_be_asked_about() -> None:
    """The newest record is 123 ms into its second, which is not printed."""
    log = ReplayedLog()
    log.replay_batches(batch(0, 6_123, topic("a")), 1)
    printed = as_of_text(log).removeprefix("As of ").partition(" UTC")[0]
    as_of = parse_as_of(f"{printed}Z")
    again = ReplayedLog()
    again.replay_batches(takewhile(as_of.includes, batch(0, 6_123, topic("a"))), 1)
    check_known(again, as_of, 1)
    assert "a" in again.image.topics.ids_by_name


def test_a_log_of_which_nothing_is_committed_has_a_next_step() -> None:
    with pytest.raises(NotKnownError, match="known to be committed: add --assume-committed"):
        check_known(ReplayedLog(), AsOf(offset=5), 0)


def test_before_its_first_record_nothing_is_known() -> None:
    log = ReplayedLog()
    as_of = AsOf(time_ms=5_000)
    log.replay_batches(takewhile(as_of.includes, batch(0, 6_000, topic("a"))), 1)
    with pytest.raises(NotKnownError):
        check_known(log, as_of, 1)


def test_a_place_is_an_offset_or_a_time_with_a_zone() -> None:
    assert parse_as_of("12") == AsOf(offset=12)
    assert parse_as_of("1970-01-01T02:00:05+02:00") == AsOf(time_ms=5_000, span_ms=999)
    assert parse_as_of("1970-01-01T00:00:05.001Z") == AsOf(time_ms=5_001)
    with pytest.raises(ValueError, match="has no zone"):
        parse_as_of("1970-01-01T02:00:05")
