"""The first section: what is wrong at the end of the log, with names, since when, and why."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import BrokerAtEnd, Contents, ImpairedPartition, Listed, Present
from kraftctl_spark.report.period import shown_duration, shown_time
from kraftctl_spark.report.section import Point, Section, Table, cut

NAMED_MAX = 3
"""A line names this many partitions or brokers; the table below it has more."""

FRESH_MS = 5 * 60_000
"""The controllers write records each half second: a running export is a few batches behind at most."""

DATE = "2026-11-21 "

REASONS = {
    "snapshot": "so since before the exported log",
    "partition created": "it was created so",
    "replicas changed": "its replicas were changed",
    "ISR shrank": "a replica left the ISR",
    "ISR shrank and grew": "a replica left the ISR",
    "none": "the history has no reason",
}
DECISIONS = {
    "broker fenced": "was fenced",
    "broker shuts down": "began its controlled shutdown",
    "broker unregistered": "was unregistered",
}
KINDS = {
    "leaderless": ("has no leader", "have no leader", "bad", "outages"),
    "under_minimum": ("is under its minimum ISR", "are under their minimum ISR", "bad", "under_min_isr"),
    "under_replicated": ("is under-replicated", "are under-replicated", "warn", "outages"),
}
"""What a partition is, what several are, how urgent it is, and where all of them are."""

NOT_UNFENCED = ("fenced", "controlled shutdown", "stopped")
STATES = {
    "fenced": ("is fenced", "are fenced", "bad"),
    "not registered": ("is not registered", "are not registered", "bad"),
    "controlled shutdown": ("is shutting down", "are shutting down", "warn"),
    "stopped": ("ended in its controlled shutdown", "ended in their controlled shutdown", "warn"),
    "unfenced": ("is unfenced but not in every ISR", "are unfenced but not in every ISR", "warn"),
}
"""The same of brokers, in the order of the lines."""


def now(contents: Contents) -> Section:
    present, old = contents.present, _older_than_now(contents)
    section = Section(
        "now",
        "When the export ended" if old else "Now",
        f"The state at {shown_time(present.time_ms)} UTC, offset {present.offset:,}: there the export ends.",
        f"The state is not known: {_not_understood(present)}.",
    )
    if not present.known:
        return section
    points = sorted((*_partitions(present), *_brokers(present)), key=lambda point: point.urgency)
    return Section(
        section.name,
        section.title,
        section.explanation,
        _summary(present, was="was" if old else "is"),
        tables=(*(_table(present, kind) for kind in KINDS), _broker_table(present)),
        points=(*old, *_lost(present), *points),
    )


def _older_than_now(contents: Contents) -> tuple[Point, ...]:
    """Returns the first line where the page is made long after what it knows; otherwise nothing."""
    age_ms = 0 if contents.made_ms is None else contents.made_ms - contents.present.time_ms
    if age_ms <= FRESH_MS:
        return ()
    head = f"The export ended {shown_duration(age_ms)} before this page was made"
    return (
        Point(
            "bad", head, "What is so now is not known. See whether kraftctl-export run and the quorum work."
        ),
    )


def _not_understood(present: Present) -> str:
    if not present.lost:
        return "the end of the log is not in the tables"
    (first, *_) = present.lost
    return f"this release does not understand {first.subject} at offset {first.offset:,}"


def _lost(present: Present) -> Iterator[Point]:
    """Yields a line for each record behind which something is not known."""
    tables: dict[tuple[str, int], list[str]] = {}
    for one in present.lost:
        tables.setdefault((one.subject, one.offset), []).append(one.table)
    for (subject, offset), lost in tables.items():
        what = ", ".join(lost)
        yield Point(
            "warn", f"Not known: {what}", f"this release does not understand {subject} at offset {offset:,}."
        )


def _summary(present: Present, *, was: str) -> str:
    lost = {one.table for one in present.lost}
    unfenced = present.brokers - sum(one.count for one in present.states if one.kind in NOT_UNFENCED)
    fine = present.whole == present.partitions and not present.states and not lost
    brokers = "not known" if "brokers" in lost else f"{unfenced:,} of {present.brokers:,}"
    whole = "not known" if "partitions" in lost else f"{present.whole:,} of {present.partitions:,}"
    return (
        f"{f'Nothing {was} wrong. ' if fine else ''}Unfenced brokers: {brokers}. "
        f"Partitions with a leader and all replicas in sync: {whole}."
    )


def _partitions(present: Present) -> Iterator[Point]:
    for kind, (one, several, urgency, _) in KINDS.items():
        listed: Listed[ImpairedPartition] = getattr(present, kind)
        if listed.total:
            head = f"{counted(listed.total, 'partition')} {one if listed.total == 1 else several}"
            yield Point(urgency, head, _by_beginning(present, listed))


def _by_beginning(present: Present, listed: Listed[ImpairedPartition]) -> str:
    """Names the first partitions of each beginning and cause, which are often those of one broker."""
    groups: dict[tuple[int, str], list[str]] = {}
    for row in listed.rows:
        groups.setdefault((row.since_ms, _why(row)), []).append(row.partition)
    shown = list(groups.items())[:NAMED_MAX]
    parts = [
        ", ".join(names[:NAMED_MAX])
        + (", …" if len(names) > NAMED_MAX else "")
        + f" since {_since(present, since_ms)}: {why}"
        for (since_ms, why), names in shown
    ]
    more = ["and others"] if listed.cut or len(groups) > len(shown) else []
    return "; ".join((*parts, *more)) + "."


def _brokers(present: Present) -> Iterator[Point]:
    counts = {one.kind: one.count for one in present.states}
    for state, (one, several, urgency) in STATES.items():
        if total := counts.get(state):
            rows = [row for row in present.broken_brokers.rows if row.state == state]
            named = [_named(present, row) for row in rows[:NAMED_MAX]]
            yield Point(
                urgency, f"{counted(total, 'broker')} {one if total == 1 else several}", _joined(named, total)
            )


def _joined(named: list[str], total: int) -> str:
    more = [f"and {total - len(named):,} more"] if total > len(named) else []
    return "; ".join((*named, *more)) + "."


def _since(present: Present, time_ms: int) -> str:
    """Returns a time, without the date where that is the one of the end, and how long it is since then."""
    time, end = shown_time(time_ms), shown_time(present.time_ms)
    same_day = time[: len(DATE)] == end[: len(DATE)]
    duration = shown_duration(max(0, present.time_ms - time_ms))
    return f"{time[len(DATE) :] if same_day else time} ({duration})"


def _named(present: Present, row: BrokerAtEnd) -> str:
    has_begun = row.since_ms is not None and row.state != "unfenced"
    since = f" since {_since(present, row.since_ms or 0)}" if has_begun else ""
    why = _broker_why(row)
    lacks = "lacks" if row.missing_in == 1 else "lack"
    missed = f", {counted(row.missing_in, 'partition')} {lacks} it" if row.missing_in else ""
    return f"broker {row.broker_id}{since}{f', {why}' if why else ''}{missed}"


def _broker_why(row: BrokerAtEnd) -> str:
    if row.started_by == "snapshot" and row.state != "unfenced":
        return REASONS["snapshot"]
    if row.state == "fenced":
        registered = row.started_by == "registered"
        return (
            "registered, and not caught up yet"
            if registered
            else "its session ended, or it was stopped while it led nothing"
        )
    return ""


def _why(row: ImpairedPartition) -> str:
    if row.reason == "minimum":
        return f"min.insync.replicas became {row.minimum}"
    found = [
        f"{broker} {DECISIONS[what]}" for broker, _, what in (one.partition(": ") for one in row.decided)
    ]
    return " and ".join(found) or REASONS[row.reason]


def _table(present: Present, kind: str) -> Table:
    listed: Listed[ImpairedPartition] = getattr(present, kind)
    _, several, _, rest = KINDS[kind]
    states = {row.broker_id: row.state for row in present.broken_brokers.rows}
    return Table(
        f"Partitions that {several}",
        ("partition", "since (UTC)", "for", "leader", "in sync", "missing", "why"),
        tuple(
            (
                row.partition,
                shown_time(row.since_ms),
                shown_duration(max(0, present.time_ms - row.since_ms)),
                "none" if row.leader == -1 else str(row.leader),
                row.isr + (f" (minimum {row.minimum})" if kind == "under_minimum" else ""),
                ", ".join(f"{one} ({states[one]})" if one in states else str(one) for one in row.missing),
                _why(row),
            )
            for row in listed.rows
        ),
        cut(listed, "longest", "partitions", rest),
    )


def _broker_table(present: Present) -> Table:
    listed = present.broken_brokers
    return Table(
        "Brokers that are not unfenced, or not in every ISR",
        ("broker", "state", "since (UTC)", "why", "partitions that lack it"),
        tuple(
            (
                str(row.broker_id),
                row.state,
                "" if row.since_ms is None else shown_time(row.since_ms),
                _broker_why(row) or ("controlled shutdown" if row.state == "stopped" else ""),
                f"{row.missing_in:,}",
            )
            for row in listed.rows
        ),
        cut(listed, "first", "brokers", "fencing_timeline"),
    )
