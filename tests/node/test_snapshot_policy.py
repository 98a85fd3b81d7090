"""When a snapshot is due: by what was written since the last one began, however long that one takes."""

from __future__ import annotations

from kraftctl.node.snapshot_generation import SnapshotPolicy


def test_what_is_written_while_one_is_in_progress_counts_for_the_next() -> None:
    policy = SnapshotPolicy(100, 0)
    policy.note(100)
    assert policy.is_due(0)
    policy.began(0)
    assert not policy.is_due(0)
    policy.note(60)
    policy.note(40)
    policy.succeeded()
    assert policy.is_due(60_000)
    policy.began(60_000)
    assert not policy.is_due(60_000)


def test_time_counts_from_the_beginning_of_the_last_one() -> None:
    policy = SnapshotPolicy(100, 1_000)
    policy.note(1)
    policy.began(5_000)
    policy.note(1)
    assert not policy.is_due(5_999)
    assert policy.is_due(6_000)


def test_what_was_written_before_a_failure_is_not_forgotten() -> None:
    """The retry does not wait for as much again."""
    policy = SnapshotPolicy(100, 0)
    policy.note(100)
    policy.began(0)
    retry_ms = policy.failed(10)
    assert not policy.is_due(retry_ms - 1)
    assert policy.is_due(retry_ms)


def test_a_retry_that_succeeds_is_the_last_one() -> None:
    policy = SnapshotPolicy(100, 0)
    policy.note(100)
    assert policy.is_due(0)
    policy.began(0)
    retry_ms = policy.failed(0)
    assert policy.is_due(retry_ms)
    policy.began(retry_ms)
    policy.succeeded()
    assert not policy.is_due(retry_ms + 1)
