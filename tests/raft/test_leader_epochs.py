"""KIP-595: where a replica's log diverges from ours, against a log kept as a plain list of epochs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl.raft.leader_epochs import LeaderEpochs
from kraftctl.raft.log_state import DIVERGING, SNAPSHOT, VALID, LogState, SnapshotInfo
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


def epochs_of(records: list[int]) -> list[tuple[int, int]]:
    """(epoch, start offset) of a log given as one epoch per record."""
    return [(epoch, at) for at, epoch in enumerate(records) if at == 0 or records[at - 1] != epoch]


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [
        pytest.param(0, OffsetAndEpoch(0, 0), id="older-than-everything"),
        pytest.param(1, OffsetAndEpoch(10, 1), id="known"),
        pytest.param(2, OffsetAndEpoch(10, 1), id="between"),
        pytest.param(3, OffsetAndEpoch(20, 3), id="last"),
        pytest.param(4, None, id="newer-than-everything"),
    ],
)
def test_end_offset_for(epoch: int, expected: OffsetAndEpoch | None) -> None:
    assert LeaderEpochs([(1, 0), (3, 10)]).end_offset_for(epoch, 20) == expected


def test_an_epoch_without_records_leaves_no_trace() -> None:
    epochs = LeaderEpochs([(1, 0), (2, 10)])
    epochs.assign(3, 10)
    assert epochs.entries() == [(1, 0), (3, 10)]


def test_truncation_forgets_epochs_that_lost_all_records() -> None:
    epochs = LeaderEpochs([(1, 0), (2, 10), (3, 20)])
    epochs.truncate_to(20)
    assert epochs.entries() == [(1, 0), (2, 10)]
    epochs.truncate_to(11)
    assert epochs.entries() == [(1, 0), (2, 10)]
    epochs.truncate_to(0)
    assert epochs.entries() == []


def test_retention_moves_the_start_of_the_epoch_it_falls_into() -> None:
    epochs = LeaderEpochs([(1, 0), (2, 10), (3, 20)])
    epochs.start_at(15)
    assert epochs.entries() == [(2, 15), (3, 20)]
    epochs.start_at(20)
    assert epochs.entries() == [(3, 20)]


LOGS = st.lists(st.integers(min_value=1, max_value=6), max_size=12).map(sorted)


@given(LOGS, LOGS)
def test_following_the_answers_ends_in_a_common_prefix(ours: list[int], theirs: list[int]) -> None:
    """A follower that truncates as the leader says has a prefix of its log, with all that both share."""
    state = LogState(end_offset=len(ours), epochs=epochs_of(ours))
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    # An epoch has one leader, so two logs that hold records of one epoch agree on all before them.
    if any(epoch in ours[common:] for epoch in theirs[common:]):
        return
    for _ in range(20):
        kind, place = state.validate(len(theirs), theirs[-1] if theirs else 0)
        if kind == VALID:
            break
        assert kind == DIVERGING
        their_end = sum(epoch <= place.epoch for epoch in theirs)
        assert min(their_end, place.offset) < len(theirs)
        theirs = theirs[: min(their_end, place.offset)]
    assert theirs == ours[: len(theirs)]
    assert len(theirs) >= common


def log_with_snapshots() -> LogState:
    return LogState(
        start_offset=10,
        end_offset=30,
        epochs=[(2, 10), (4, 20)],
        snapshots=[SnapshotInfo(OffsetAndEpoch(10, 1), 5), SnapshotInfo(OffsetAndEpoch(20, 2), 5)],
    )


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        pytest.param(0, 0, (SNAPSHOT, OffsetAndEpoch(20, 2)), id="empty"),
        pytest.param(9, 1, (SNAPSHOT, OffsetAndEpoch(20, 2)), id="below-the-start"),
        pytest.param(10, 1, (VALID, OffsetAndEpoch(10, 1)), id="at-the-start"),
        pytest.param(10, 2, (SNAPSHOT, OffsetAndEpoch(20, 2)), id="at-the-start-with-another-epoch"),
        pytest.param(15, 0, (SNAPSHOT, OffsetAndEpoch(20, 2)), id="epoch-before-the-oldest-snapshot"),
        pytest.param(15, 1, (DIVERGING, OffsetAndEpoch(10, 1)), id="epoch-of-the-oldest-snapshot"),
        pytest.param(15, 2, (VALID, OffsetAndEpoch(15, 2)), id="in-order"),
        pytest.param(25, 3, (DIVERGING, OffsetAndEpoch(20, 2)), id="unknown-epoch"),
        pytest.param(31, 4, (DIVERGING, OffsetAndEpoch(30, 4)), id="beyond-the-end"),
        pytest.param(25, 9, (DIVERGING, OffsetAndEpoch(30, 4)), id="newer-epoch"),
    ],
)
def test_validate_with_snapshots(offset: int, epoch: int, expected: tuple[int, OffsetAndEpoch]) -> None:
    assert log_with_snapshots().validate(offset, epoch) == expected


@pytest.mark.prevents("snapshot-before-flush")
def test_what_a_snapshot_replaces_counts_as_flushed() -> None:
    """Or a candidate would claim an end of its log whose epoch it no longer knows."""
    log = LogState(end_offset=10, epochs=[(1, 0), (3, 5)])
    log.append(5)
    log.add_snapshot(SnapshotInfo(OffsetAndEpoch(12, 3), 100))
    log.start_at(12)
    assert log.flushed_end() == OffsetAndEpoch(12, 3)


@pytest.mark.prevents("KAFKA-14240")
def test_a_log_without_its_past_is_refused() -> None:
    """KAFKA-14240."""
    with pytest.raises(AssertionError, match="no snapshot"):
        LogState(start_offset=10, end_offset=20, epochs=[(1, 10)])


def test_a_flush_from_before_a_truncation_counts_for_nothing() -> None:
    log = LogState(end_offset=10, epochs=[(1, 0)])
    log.append(5)
    assert log.wants_flush()
    log.begin_flush()
    log.truncate_to(10)
    log.append(5)
    assert not log.wants_flush()
    log.flushed(15)
    assert log.flushed_offset == 10
    assert log.wants_flush()
