"""The contents of a report, as plain values: aggregates computed in SQL, or lists cut to a stated length."""

from __future__ import annotations

from collections.abc import Mapping
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
    brokers: int | None
    """The number at the end of the period, as for the two that follow; None where the log is not known."""
    topics: int | None
    partitions: int | None
    raw_start: int = 0
    """Records before this offset have expired."""


@dataclass(frozen=True)
class Gap:
    """Records that are not in the tables, both offsets inclusive, and from when to when nothing is known."""

    first_offset: int
    last_offset: int
    start_ms: int
    end_ms: int


@dataclass(frozen=True)
class Unknown:
    """Something that is not known although the log has it; `end_offset` is None while it is not."""

    start_offset: int
    start_ms: int | None
    end_offset: int | None
    reason: str
    subject: str
    records: int
    tables: str | None = None
    """The tables that are not known behind it, `everything`, or None."""


@dataclass(frozen=True)
class KindCount:
    """The number of events of a kind in the period."""

    kind: str
    count: int


@dataclass(frozen=True)
class Happened:
    """An event, as the page lists it."""

    time_ms: int
    offset: int
    kind: str
    subject: str
    before: str | None
    after: str | None
    who: str | None
    """The principal and address that asked for it, as the audit log has them."""


@dataclass(frozen=True)
class AuditCoverage:
    """What the audit log has; `changes` are those of the period that somebody can ask for."""

    lines: int
    unreadable: int
    """The lines that are no JSON of an audit log, such as one that is still being written."""
    changes: int
    named: int
    """How many of the changes have somebody who asked for them."""


@dataclass(frozen=True)
class TimelineMark:
    """The events of a row of the timeline: a single one, or all those of a bucket."""

    row: str
    start_ms: int
    end_ms: int
    """The end, which is the start for a single one."""
    events: int
    texts: tuple[str, ...]
    """The texts of the first ones."""


@dataclass(frozen=True)
class Acl:
    """An access control entry that is in effect."""

    principal: str
    permission: str
    operation: str
    resource: str
    host: str


@dataclass(frozen=True)
class Quota:
    """A quota that is in effect."""

    entity: str
    key: str
    value: float


@dataclass(frozen=True)
class ScramCredential:
    """A user who can authenticate by a mechanism. There is no secret in a history."""

    user: str
    mechanism: str
    iterations: int
    since_ms: int | None


@dataclass(frozen=True)
class Feature:
    """The level of a feature."""

    name: str
    level: int
    since_ms: int | None


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
    """How often and how long a broker was fenced, and how long it was stopped: that is no fencing.

    Its registration at startup does not count in `fenced`, but in `fenced_ms`.
    """

    broker_id: int
    fenced: int
    fenced_ms: int
    stopped_ms: int
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
    who: str | None


@dataclass(frozen=True)
class ConfigChangeCount:
    """Changes of configurations in a bucket."""

    bucket_ms: int
    cause: str
    changes: int


@dataclass(frozen=True)
class Availability:
    """How long one partition was leaderless and under-replicated."""

    partition: str
    leaderless_ms: int
    under_replicated_ms: int


@dataclass(frozen=True)
class AvailabilityInBucket:
    """The same, summed over all partitions, in a bucket."""

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
class ImpairedPartition:
    """A partition that is leaderless, under its min.insync.replicas, or under-replicated at the log's end."""

    partition: str
    since_ms: int
    leader: int
    """The leader is -1 where there is none."""
    isr: str
    missing: tuple[int, ...]
    """The replicas that should be in the ISR and are not."""
    minimum: int
    """The min.insync.replicas that counts for it."""
    reason: str
    """What the history has about the beginning, a name of `sections.now.REASONS`."""
    decided: tuple[str, ...]
    """What happened to missing brokers in the same decision: `broker 2: broker fenced`."""


@dataclass(frozen=True)
class BrokerAtEnd:
    """A broker that is not unfenced at the log's end, or is missing in an ISR."""

    broker_id: int
    state: str
    """As in `BrokerState`, or `not registered`."""
    since_ms: int | None
    """None where the log does not have it."""
    started_by: str
    missing_in: int
    """The number of partitions that lack it in their ISR."""


@dataclass(frozen=True)
class LostAtEnd:
    """A table, or `everything`, that is not known at the log's end, and the record behind which it is not."""

    table: str
    subject: str
    offset: int


@dataclass(frozen=True)
class Present:
    """What is wrong at the end of the log, whatever the period is."""

    time_ms: int
    offset: int
    known: bool
    """Whether the state is known there; if not, all that follows but the reason is empty."""
    lost: tuple[LostAtEnd, ...] = ()
    """What is not known there: of these tables, all that follows is empty."""
    brokers: int = 0
    partitions: int = 0
    whole: int = 0
    """The number of partitions that are in none of the lists."""
    states: tuple[KindCount, ...] = ()
    """The number of `broken_brokers` in each state, also of those that are not listed."""
    broken_brokers: Listed[BrokerAtEnd] = field(default_factory=Listed)
    leaderless: Listed[ImpairedPartition] = field(default_factory=Listed)
    under_minimum: Listed[ImpairedPartition] = field(default_factory=Listed)
    under_replicated: Listed[ImpairedPartition] = field(default_factory=Listed)


@dataclass(frozen=True)
class Standing(Generic[Row]):
    """What is in effect at the end of the period, and what changed in it. `at_end` is None if not known."""

    at_end: Listed[Row] | None = None
    changes: Listed[Happened] = field(default_factory=Listed)
    kinds: tuple[KindCount, ...] = ()
    """The kinds of all changes, also those that are not listed."""


@dataclass(frozen=True)
class Contents:
    """Everything on the page."""

    header: Header
    present: Present
    period: Period
    made_ms: int | None = None
    """The time of the page, which the end of the export is compared with; None for no comparison."""
    audited: AuditCoverage | None = None
    """None where no audit log is given."""
    gaps: tuple[Gap, ...] = ()
    not_known: Listed[Unknown] = field(default_factory=Listed)
    lost: Mapping[str, tuple[Gap, ...]] = field(default_factory=dict)
    """The gaps of each table that has others than the log."""

    def gaps_of(self, table: str) -> tuple[Gap, ...]:
        return self.lost.get(table, self.gaps)

    timeline: tuple[TimelineMark, ...] = ()
    fencing: Listed[BrokerState] = field(default_factory=Listed)
    fenced_brokers: Listed[FencedBroker] = field(default_factory=Listed)
    fenced_times: int = 0
    """The time of all brokers, also those that are not listed; so are `fenced_in_all` and `shutdowns`."""
    fenced_in_all: int = 0
    """The number of brokers that were fenced."""
    shutdowns: int = 0
    elections: tuple[ElectionCount, ...] = ()
    broker_elections: tuple[BrokerElections, ...] = ()
    unclean_elections: Listed[UncleanElection] = field(default_factory=Listed)
    churn: tuple[Churn, ...] = ()
    churned: tuple[int, str] = (0, "partitions")
    """The number of partitions or topics with changes, including those in the row of others."""
    growth: tuple[Size, ...] = ()
    config_changes: Listed[ConfigChange] = field(default_factory=Listed)
    config_over_time: tuple[ConfigChangeCount, ...] = ()
    config_causes: tuple[KindCount, ...] = ()
    availability: Listed[Availability] = field(default_factory=Listed)
    availability_deleted: int = 0
    """How many partitions in `availability` were deleted later."""
    availability_over_time: tuple[AvailabilityInBucket, ...] = ()
    quorum_leaders: Listed[QuorumLeader] = field(default_factory=Listed)
    voter_changes: Listed[VoterChange] = field(default_factory=Listed)
    record_types: tuple[RecordCount, ...] = ()
    reassignments: Listed[Reassignment] = field(default_factory=Listed)
    reassignment_outcomes: tuple[KindCount, ...] = ()
    topic_changes: Listed[Happened] = field(default_factory=Listed)
    topic_kinds: tuple[KindCount, ...] = ()
    acls: Standing[Acl] = field(default_factory=Standing)
    quotas: Standing[Quota] = field(default_factory=Standing)
    scram: Standing[ScramCredential] = field(default_factory=Standing)
    features: Standing[Feature] = field(default_factory=Standing)
