"""Two leaders of one epoch, and numbers that go back, are found, in whatever order they are seen."""

from __future__ import annotations

import pytest

from tests.chaos.finding import FindError
from tests.chaos.histories import QuorumHistory, RisingNumbers


def test_a_sound_history_is_no_find() -> None:
    history = QuorumHistory()
    for leader_id, epoch, high_watermark in ((1, 1, 10), (2, 3, -1), (1, 1, 12), (2, 3, 12), (2, 3, 15)):
        history.note(leader_id, epoch, high_watermark)
    assert sorted(history.epochs) == [1, 3]


def test_two_leaders_of_one_epoch_are_found() -> None:
    history = QuorumHistory()
    history.note(1, 4, 10)
    with pytest.raises(FindError, match="NeverTwoLeadersInSameEpoch: 1 and 2 lead in epoch 4"):
        history.note(2, 4, -1)


def test_a_later_leader_with_a_lower_high_watermark_is_found() -> None:
    history = QuorumHistory()
    history.note(1, 4, 10)
    with pytest.raises(FindError, match="MonotonicHighWatermark: 9 in epoch 5"):
        history.note(2, 5, 9)


def test_an_earlier_leader_that_commits_more_than_a_later_one_has_is_found() -> None:
    history = QuorumHistory()
    history.note(1, 4, 10)
    history.note(2, 5, 11)
    with pytest.raises(FindError, match="MonotonicHighWatermark: 12 in epoch 4"):
        history.note(1, 4, 12)


def test_a_number_that_falls_is_found_unless_its_observer_has_started_anew() -> None:
    numbers = RisingNumbers("MonotonicLeaderEpoch", "metadata of broker-1")
    numbers.note("topic-0", 3)
    numbers.note("topic-1", 0)
    with pytest.raises(FindError, match="MonotonicLeaderEpoch: metadata of broker-1, topic-0: 3, then 2"):
        numbers.note("topic-0", 2)
    numbers.forget()
    numbers.note("topic-0", 2)
