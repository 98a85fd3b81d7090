"""Keeps what was counted in the last seconds, as the windows of Kafka's sensors do."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Final

from kraftctl_security.exposition import Buckets, Summary

SECONDS: Final = 30
"""The default of Kafka's metrics.sample.window.ms."""

BUCKET_SECONDS: Final = 60

NOTHING: Final = (0, 0.0, 0.0)


@dataclass(frozen=True)
class Second:
    """What was counted in one second; latencies are count, sum and maximum in ms."""

    seconds: float
    busy_seconds: float
    appended_records: int
    fetched_records: int
    commits: tuple[int, float, float]
    elections: tuple[int, float, float]
    peer_requests: tuple[int, float, float]


class Window:
    """The last SECONDS of these."""

    def __init__(self) -> None:
        self._seconds: deque[Second] = deque(maxlen=SECONDS)

    def add(self, second: Second) -> None:
        self._seconds.append(second)

    def samples(self) -> dict[str, float]:
        """Returns the values of metrics by their keys."""
        seconds = sum(each.seconds for each in self._seconds)
        commits = _merged([each.commits for each in self._seconds])
        elections = _merged([each.elections for each in self._seconds])
        requests = _merged([each.peer_requests for each in self._seconds])
        return {
            "raft.commit_latency_avg": commits[0],
            "raft.commit_latency_max": commits[1],
            "raft.election_latency_avg": elections[0],
            "raft.election_latency_max": elections[1],
            "channel.request_latency_avg": requests[0],
            "channel.request_latency_max": requests[1],
            "raft.append_records_rate": _rate(sum(each.appended_records for each in self._seconds), seconds),
            "raft.fetch_records_rate": _rate(sum(each.fetched_records for each in self._seconds), seconds),
            "raft.poll_idle_ratio_avg": max(
                0.0, 1.0 - _rate(sum(each.busy_seconds for each in self._seconds), seconds)
            ),
        }


class BucketWindow:
    """The difference of counts to those of BUCKET_SECONDS before."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts: deque[tuple[int, ...]] = deque(maxlen=BUCKET_SECONDS)

    def add(self, counts: tuple[int, ...]) -> None:
        """Adds the counts since the start, once a second."""
        self._counts.append(counts)

    def summary(self, counts: tuple[int, ...], total: float) -> Summary:
        """Returns the window; `counts` and the `total` are since the start."""
        before = self._counts[0] if self._counts else (0,) * len(counts)
        grown = tuple(now - then for now, then in zip(counts, before, strict=True))
        return Summary(Buckets(self._bounds, grown, total), sum(counts), total)


def _merged(latencies: list[tuple[int, float, float]]) -> tuple[float, float]:
    count = sum(each[0] for each in latencies)
    if not count:
        return math.nan, math.nan
    return sum(each[1] for each in latencies) / count, float(max(each[2] for each in latencies))


def _rate(count: float, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0
