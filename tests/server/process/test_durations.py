"""Durations in buckets."""

from __future__ import annotations

from kraftctl.server.process.durations import BOUNDS_NS, Durations


def test_a_bound_is_in_its_bucket_and_the_last_has_the_rest() -> None:
    durations = Durations()
    for bound_ns in BOUNDS_NS:
        durations.note(bound_ns)
        durations.note(bound_ns + 1)
    assert durations.counts == [1, *[2] * (len(BOUNDS_NS) - 1), 1]
    assert durations.count == 2 * len(BOUNDS_NS)
    assert durations.total_ns == 2 * sum(BOUNDS_NS) + len(BOUNDS_NS)
