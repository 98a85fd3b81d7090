"""Contents of a report for tests of the page: busy, quiet, hostile, and much too large."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

from kraftctl_spark.report.contents import (
    OTHERS,
    Acl,
    Availability,
    AvailabilityInBucket,
    BrokerAtEnd,
    BrokerElections,
    BrokerState,
    Churn,
    ConfigChange,
    ConfigChangeCount,
    Contents,
    ElectionCount,
    Feature,
    FencedBroker,
    Gap,
    Happened,
    Header,
    ImpairedPartition,
    KindCount,
    Listed,
    Present,
    QuorumLeader,
    Quota,
    Reassignment,
    RecordCount,
    ScramCredential,
    Size,
    Standing,
    TimelineMark,
    UncleanElection,
    VoterChange,
)
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries.timeline import ROWS

Row = TypeVar("Row")

START_MS = 1_795_262_400_000
"""2026-11-21T12:00:00Z."""

HOSTILE = "<script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&%{x}"
"""A value that must be shown, and must not be executed."""

HEADER = Header(
    "4L6g3nShT-eMCtK--X86sw", 0, 12_346, START_MS, START_MS + 7_200_000, 12_346, 1, 0, 2, 3, 3, 12, 96
)

PRESENT = Present(START_MS + 7_200_000, 12_345, True, brokers=3, partitions=96, whole=96)


def quiet(span_ms: int = 7_200_000) -> Contents:
    """A period in which nothing happened at all."""
    return Contents(HEADER, PRESENT, Period(START_MS, START_MS + span_ms))


def busy(span_ms: int = 7_200_000, brokers: int = 3, rows: int = 8, seed: int = 1) -> Contents:
    """Something in every section; the same for the same arguments."""
    dice = random.Random(seed)
    period = Period(START_MS, START_MS + span_ms)
    buckets = period.buckets()
    names = [f"orders-{number}" for number in range(rows)]
    times = sorted(dice.randrange(START_MS, START_MS + span_ms) for _ in range(40))
    fencing = [state for broker in range(1, brokers + 1) for state in _states(dice, broker, period)]
    churn = [
        Churn(name, bucket, dice.randrange(4), dice.randrange(1, 4))
        for name in [*names, OTHERS]
        for bucket in dice.sample(buckets, len(buckets) // 3)
    ]
    return Contents(
        header=HEADER,
        present=_broken(names),
        period=period,
        fencing=Listed(tuple(fencing), len(fencing)),
        gaps=(Gap(500, 580, START_MS + span_ms // 2, START_MS + span_ms // 2 + span_ms // 40),),
        timeline=tuple(_timeline(dice, period, times)),
        fenced_times=3 * brokers,
        fenced_in_all=brokers,
        shutdowns=brokers,
        fenced_brokers=Listed(
            tuple(FencedBroker(broker, 3, 61_500, 5_000, 1) for broker in range(1, brokers + 1)), brokers
        ),
        elections=_elections(dice, buckets),
        broker_elections=_broker_elections(dice, brokers),
        unclean_elections=Listed((UncleanElection(times[3], 77, "orders-3", -1, 2),), 1),
        churn=tuple(churn),
        churned=(rows + 70, "partitions"),
        growth=tuple(
            Size(bucket, 3 + place // 9, 40 + place, brokers) for place, bucket in enumerate(buckets)
        ),
        availability=Listed(
            tuple(
                Availability(name, 2_000 * place, 9_000 * place)
                for place, name in reversed(list(enumerate(names, 1)))
            ),
            rows,
        ),
        availability_over_time=tuple(
            AvailabilityInBucket(bucket, dice.randrange(9_000), 9_000 + dice.randrange(99_000))
            for bucket in dice.sample(buckets, len(buckets) // 3)
        ),
        quorum_leaders=Listed(
            (
                QuorumLeader(3000, 1, START_MS, START_MS + span_ms // 3),
                QuorumLeader(3001, 2, START_MS + span_ms // 3, START_MS + span_ms),
            ),
            2,
        ),
        voter_changes=Listed((VoterChange(START_MS, 0, "voters", "3000, 3001, 3002"),), 1),
        record_types=_record_types(dice, buckets),
        reassignments=Listed(_reassignments(names, times), rows),
        reassignment_outcomes=(KindCount("cancelled", 3), KindCount("completed", 5)),
        **_in_effect(times),
        **_configs(times, buckets),
    )


def _configs(times: list[int], buckets: list[int]) -> dict[str, Any]:
    return {
        "config_changes": Listed(tuple(_config_changes(times)), len(times)),
        "config_over_time": (
            ConfigChangeCount(buckets[0], "set", 30),
            ConfigChangeCount(buckets[0], "removed", 1),
            ConfigChangeCount(buckets[-1], "gap", 10),
        ),
        "config_causes": tuple(KindCount(cause, 10) for cause in ("gap", "removed", "set", "topic deleted")),
    }


def _broken(names: list[str]) -> Present:
    partitions = tuple(
        ImpairedPartition(
            *(name, START_MS + 60_000 * place, -1, "3", (1, 2), 2, "broker", ("broker 2: broker fenced",))
        )
        for place, name in enumerate([*names, HOSTILE])
    )
    listed = Listed(partitions, len(partitions))
    brokers = (
        BrokerAtEnd(2, "fenced", START_MS, "changed", 9),
        BrokerAtEnd(1, "stopped", START_MS + 9_000, "changed", 8),
    )
    return replace(
        PRESENT,
        whole=2,
        states=(KindCount("fenced", 1), KindCount("stopped", 1)),
        broken_brokers=Listed(brokers, 2),
        leaderless=listed,
        under_minimum=listed,
        under_replicated=listed,
    )


def _in_effect(times: list[int]) -> dict[str, Any]:
    created = Happened(times[0], 3, "topic created", "orders", None, "orders", "User:alice from 10.0.0.7")
    return {
        "topic_changes": Listed((created,), 1),
        "topic_kinds": (KindCount("topic created", 1),),
        "acls": _standing(Acl("User:alice", "ALLOW", "READ", f"TOPIC {HOSTILE}", "*"), "ACL added", times),
        "quotas": _standing(Quota("user alice", "producer_byte_rate", 1_048_576.0), "quota set", times),
        "scram": _standing(
            ScramCredential("alice", "SCRAM-SHA-256", 4096, times[0]), "SCRAM credential added", times
        ),
        "features": _standing(Feature("metadata.version", 25, None), "feature changed", times),
    }


def _standing(row: Row, kind: str, times: list[int]) -> Standing[Row]:
    changes = tuple(
        Happened(time_ms, place, kind, HOSTILE if place == 3 else "it", None, str(place), None)
        for place, time_ms in enumerate(times[:9])
    )
    return Standing(Listed((row,), 1), Listed(changes, len(changes)), (KindCount(kind, len(changes)),))


def _timeline(dice: random.Random, period: Period, times: list[int]) -> Iterator[TimelineMark]:
    """One row of sums, the others of moments."""
    width_ms = period.fine_bucket_ms
    for row in ROWS:
        if row == "ISR shrinks":
            starts = range(period.start_ms - period.start_ms % width_ms, period.end_ms, width_ms)
            for start_ms in sorted(dice.sample(starts, len(starts) // 2)):
                yield TimelineMark(
                    row, start_ms, start_ms + width_ms, dice.randrange(1, 900), ("ISR shrank t-0",)
                )
        else:
            for time_ms in times[:: dice.randrange(3, 9)]:
                yield TimelineMark(row, time_ms, time_ms, 1, (f"of {row}: {HOSTILE}",))


def _elections(dice: random.Random, buckets: list[int]) -> tuple[ElectionCount, ...]:
    return tuple(
        ElectionCount(bucket, kind, "failover", dice.randrange(1, 9))
        for bucket in dice.sample(buckets, len(buckets) // 4)
        for kind in ("clean", "elr", "unclean")
    )


def _broker_elections(dice: random.Random, brokers: int) -> tuple[BrokerElections, ...]:
    return tuple(
        BrokerElections(f"broker {broker}", kind, dice.randrange(1, 30))
        for broker in range(1, brokers + 1)
        for kind in ("clean", "elr", "unclean")
    )


def _record_types(dice: random.Random, buckets: list[int]) -> tuple[RecordCount, ...]:
    return tuple(
        RecordCount(bucket, name, dice.randrange(1, 50))
        for bucket in buckets
        for name in ("NoOpRecord", "PartitionChangeRecord", "ConfigRecord", "TopicRecord", "PartitionRecord")
    )


def _reassignments(names: list[str], times: list[int]) -> tuple[Reassignment, ...]:
    outcomes = ("completed", "cancelled", "running")
    return tuple(
        Reassignment(name, time_ms, 900 * place, outcomes[place % 3], "1, 2, 3", "2, 3, 4")
        for place, (name, time_ms) in enumerate(zip(names, times, strict=False))
    )


def _states(dice: random.Random, broker_id: int, period: Period) -> list[BrokerState]:
    ends = sorted(dice.randrange(period.start_ms, period.end_ms) for _ in range(6))
    edges = [period.start_ms, *ends, period.end_ms]
    names = ("fenced", "unfenced", "controlled shutdown")
    return [
        BrokerState(
            broker_id, names[place % 3], start, end, "changed", "end" if end == period.end_ms else "changed"
        )
        for place, (start, end) in enumerate(pairwise(edges))
    ]


def _config_changes(times: list[int]) -> list[ConfigChange]:
    causes = ("set", "removed", "topic deleted", "gap")
    return [
        ConfigChange(
            time_ms,
            100 + place,
            f"orders-{place % 5}",
            "retention.ms",
            None if place % 7 == 0 else str(place * 1000),
            HOSTILE if place % 11 == 0 else None if causes[place % 4] == "removed" else str(place * 1001),
            causes[place % 4],
            place % 4 != 3,
            f"User:{HOSTILE} from 10.0.0.7" if place % 2 else None,
        )
        for place, time_ms in enumerate(times)
    ]
