"""The contents of a report, as plain values: aggregates computed in SQL, or lists cut to a stated length."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kraftctl_spark.report.period import Period

Row = TypeVar("Row")

OTHERS = "others"
"""The row that sums up everything that is not listed by itself."""


@dataclass(frozen=True)
class Listed(Generic[Row]):
    """Rows of a list, possibly cut; `total` is its full length."""

    rows: tuple[Row, ...] = ()
    total: int = 0

    @property
    def cut(self) -> bool:
        return len(self.rows) < self.total


@dataclass(frozen=True)
class Header:
    """What the tables contain; `records` and the following counts are of the whole output, not the period."""

    cluster_id: str
    start_offset: int
    end_offset: int
    start_ms: int
    end_ms: int
    records: int
    unknown: int
    undecodable: int
    redacted: int
    aborted: int
    brokers: int
    topics: int
    partitions: int


@dataclass(frozen=True)
class BrokerState:
    """One state of a broker, with its start and end."""

    broker_id: int
    state: str
    start_ms: int
    end_ms: int
    started_by: str
    ended_by: str


@dataclass(frozen=True)
class FencedBroker:
    """How often and how long a broker was fenced.

    Its registration at startup, and a controlled shutdown, do not count in `fenced`, but in `fenced_ms`.
    """

    broker_id: int
    fenced: int
    fenced_ms: int
    shutdowns: int


@dataclass(frozen=True)
class ElectionCount:
    """Elections in a bucket."""

    bucket_ms: int
    kind: str
    cause: str
    elections: int


@dataclass(frozen=True)
class BrokerElections:
    """How often a broker was elected."""

    broker: str
    kind: str
    elections: int


@dataclass(frozen=True)
class UncleanElection:
    """One unclean election, after which records may be missing."""

    time_ms: int
    offset: int
    partition: str
    old_leader: int
    new_leader: int


@dataclass(frozen=True)
class Churn:
    """Changes of the ISR of a partition, or of a topic's partitions, in a bucket."""

    name: str
    bucket_ms: int
    shrinks: int
    expansions: int


@dataclass(frozen=True)
class Size:
    """Counts at the end of a bucket; None where the log is not known."""

    bucket_ms: int
    topics: int | None
    partitions: int | None
    brokers: int | None


@dataclass(frozen=True)
class ConfigChange:
    """One configuration was set, changed or removed."""

    time_ms: int
    offset: int
    resource: str
    name: str
    old_value: str | None
    new_value: str | None
    cause: str
    exact: bool


@dataclass(frozen=True)
class Availability:
    """How long one partition, or all others together, were leaderless and under-replicated."""

    partition: str
    leaderless_ms: int
    under_replicated_ms: int


@dataclass(frozen=True)
class AvailabilityInBucket:
    """The same for all partitions, in a bucket."""

    bucket_ms: int
    leaderless_ms: int
    under_replicated_ms: int


@dataclass(frozen=True)
class QuorumLeader:
    """One leader of the quorum, with the start and end of its epoch."""

    leader_id: int
    log_epoch: int
    start_ms: int
    end_ms: int


@dataclass(frozen=True)
class VoterChange:
    """A change of the voters or of kraft.version."""

    time_ms: int
    offset: int
    change: str
    value: str


@dataclass(frozen=True)
class RecordCount:
    """Records of a type in a bucket."""

    bucket_ms: int
    type: str
    records: int


@dataclass(frozen=True)
class Reassignment:
    """A change of a partition's replicas. `duration_ms` is the time so far while it runs, None if unknown."""

    partition: str
    start_ms: int
    duration_ms: int | None
    outcome: str
    old_replicas: str
    new_replicas: str


@dataclass(frozen=True)
class Contents:
    """Everything on the page."""

    header: Header
    period: Period
    fencing: Listed[BrokerState] = field(default_factory=Listed)
    fenced_brokers: Listed[FencedBroker] = field(default_factory=Listed)
    elections: tuple[ElectionCount, ...] = ()
    broker_elections: tuple[BrokerElections, ...] = ()
    unclean_elections: Listed[UncleanElection] = field(default_factory=Listed)
    churn: tuple[Churn, ...] = ()
    growth: tuple[Size, ...] = ()
    config_changes: Listed[ConfigChange] = field(default_factory=Listed)
    availability: tuple[Availability, ...] = ()
    availability_over_time: tuple[AvailabilityInBucket, ...] = ()
    quorum_leaders: Listed[QuorumLeader] = field(default_factory=Listed)
    voter_changes: Listed[VoterChange] = field(default_factory=Listed)
    record_types: tuple[RecordCount, ...] = ()
    reassignments: Listed[Reassignment] = field(default_factory=Listed)
