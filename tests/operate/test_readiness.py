"""Each reason why a controller is not ready, from facts, and which of them an election is no reason for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kraftctl.operate.readiness import Facts, Readiness, disk_full, joined, reasons, why_not_ended, why_stuck

READY = Facts(
    no_progress=None,
    no_vote=None,
    is_loaded=True,
    is_registered=True,
    is_leader=False,
    applied_offset=100,
    high_watermark=100,
    end_offset=100,
    unapplied_seconds=0.0,
    uncommitted_seconds=0.0,
    stored_effect="",
    stored_seconds=0.0,
    log_dir="/data",
)
GRACE = 5.0


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, []),
        ({"no_progress": "No leader"}, ["no progress"]),
        ({"no_progress": "No leader", "is_loaded": False}, ["no progress"]),
        ({"no_progress": "No leader", "is_registered": False}, ["no progress"]),
        ({"no_vote": "an observer"}, ["no vote"]),
        ({"is_loaded": False, "applied_offset": 7}, ["loading"]),
        ({"is_loaded": False, "high_watermark": -1}, ["loading"]),
        ({"is_registered": False}, ["registration"]),
        ({"unapplied_seconds": 5.1, "applied_offset": 7}, ["applying"]),
        ({"unapplied_seconds": 4.9}, []),
        ({"uncommitted_seconds": 5.1, "is_leader": True, "end_offset": 107}, ["commits"]),
        ({"uncommitted_seconds": 4.9, "is_leader": True}, []),
        ({"stored_effect": "FlushLog", "stored_seconds": 5.1}, ["disk"]),
        ({"stored_effect": "FlushLog", "stored_seconds": 4.9}, []),
        ({"listener": "A", "certificate_expires_at_ms": 10, "wall_ms": 10}, ["certificate"]),
        ({"listener": "A", "certificate_expires_at_ms": 10, "wall_ms": 9}, []),
        ({"follows_nothing_seconds": 5.1}, ["follows nothing"]),
        ({"follows_nothing_seconds": 4.9}, []),
        ({"follows_nothing_seconds": 5.1, "idle_interval_seconds": 5.0}, []),
        ({"follows_nothing_seconds": 9.0, "no_progress": "No leader"}, ["no progress"]),
        ({"stored_seconds": 6.0, "no_progress": "x", "no_vote": "y"}, ["disk", "no progress", "no vote"]),
    ],
)
def test_reasons(changes: dict[str, Any], kinds: list[str]) -> None:
    assert [each.kind for each in reasons(replace(READY, **changes), GRACE)] == kinds


def test_texts_have_what_is_needed() -> None:
    (loading,) = reasons(replace(READY, is_loaded=False, applied_offset=7), GRACE)
    assert loading.text == "The metadata is being loaded: up to offset 7 of 100"
    (disk,) = reasons(replace(READY, stored_effect="FlushLog", stored_seconds=6.0), GRACE)
    assert disk.text.startswith("FlushLog has waited for the disk of /data for 6.0 s. Next step: ")


def test_the_only_voter_is_not_advised_to_look_for_others() -> None:
    stalled = replace(READY, uncommitted_seconds=6.0, is_leader=True, end_offset=107)
    (alone,) = reasons(replace(stalled, voters_count=1), GRACE)
    (of_three,) = reasons(replace(stalled, voters_count=3), GRACE)
    assert "voters that lag" not in alone.text
    assert "iostat -x for the disk of /data" in alone.text
    assert of_three.text.endswith("names the voters that lag")


def test_reasons_are_sentences_of_one_line() -> None:
    assert joined(()) == ""
    assert joined(("One",)) == "One"
    assert joined(("See df for its room", "Two.", "Three")) == "See df for its room. Two. Three"


def test_at_the_start_everything_is_needed_and_later_what_lasts() -> None:
    readiness = Readiness()
    loading = reasons(replace(READY, is_loaded=False), GRACE)
    assert readiness.decide(loading, 0.0, GRACE), "it has not been ready before"
    assert readiness.decide([], 1.0, GRACE) == []
    assert readiness.decide(loading, 2.0, GRACE) == []
    assert readiness.decide(loading, 6.9, GRACE) == []
    assert readiness.decide(loading, 7.0, GRACE) == [loading[0].text]
    assert readiness.decide([], 8.0, GRACE) == []
    assert readiness.decide(loading, 9.0, GRACE) == [], "it begins anew"


def test_what_raft_and_the_disk_say_counts_immediately() -> None:
    readiness = Readiness()
    assert readiness.decide([], 0.0, GRACE) == []
    for changes in ({"no_progress": "x"}, {"stored_seconds": 6.0}):
        assert readiness.decide(reasons(replace(READY, **changes), GRACE), 1.0, GRACE)


def test_a_disk_without_room_and_a_stuck_loop() -> None:
    assert disk_full("/data", None) is None
    assert disk_full("/data", 1 << 20) is None
    assert disk_full("/data", (1 << 20) - 1) is not None
    assert why_stuck(5.0) is None
    assert "7.0 s" in str(why_stuck(7.0))


def test_a_failed_controller_that_does_not_end_is_not_live() -> None:
    assert why_not_ended(30.0) is None
    assert "has not ended within 31 s" in str(why_not_ended(31.0))
