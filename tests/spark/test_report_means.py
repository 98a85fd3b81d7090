"""The mean numbers of impaired partitions on the page, against a sum over all outages."""

from __future__ import annotations

import random

import pytest

from kraftctl_spark.report.contents import Availability, AvailabilityInBucket, Contents, Gap, Listed
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.sections.availability import availability
from tests.spark.report_contents import quiet


@pytest.mark.parametrize("seed", range(20))
def test_a_mean_is_that_of_the_known_part_of_a_bucket(seed: int) -> None:
    """Also in the first and the last bucket, which the period cuts, and beside a gap."""
    rng = random.Random(seed)
    period = Period(100_137, 100_137 + rng.randrange(5_000, 100_000))
    cut = sorted(rng.randrange(period.start_ms, period.end_ms) for _ in range(2))
    gaps = (Gap(1, 2, *cut),) if seed % 2 else ()
    known = (
        [(period.start_ms, cut[0]), (cut[1], period.end_ms)] if gaps else [(period.start_ms, period.end_ms)]
    )
    outages = []
    for start_ms, end_ms in known:
        outages += [sorted(rng.randrange(start_ms, end_ms + 1) for _ in range(2)) for _ in range(30)]

    def together(ones: list[tuple[int, int]] | list[list[int]], bucket_ms: int) -> int:
        end_ms = bucket_ms + period.bucket_ms
        return sum(max(0, min(one[1], end_ms) - max(one[0], bucket_ms)) for one in ones)

    rows = tuple(AvailabilityInBucket(one, together(outages, one), 0) for one in period.buckets())
    listed = Listed((Availability("t-0", 1, 1),), 1)
    nothing = quiet()
    contents = Contents(
        nothing.header, nothing.present, period, gaps=gaps, availability=listed, availability_over_time=rows
    )
    (bars,) = [one for one in availability(contents).plots[0].figure.data if one.name == "leaderless"]
    expected = [
        together(outages, one) / together(known, one) for one in period.buckets() if together(outages, one)
    ]
    assert list(bars.y) == pytest.approx(expected)
