"""The top of the page: what is known, of which period, and a few numbers."""

from __future__ import annotations

from kraftctl_spark.report.contents import AuditCoverage, Contents, Gap, Listed, Unknown
from kraftctl_spark.report.period import shown_duration, shown_time
from kraftctl_spark.report.section import cut, escaped

GAPS_LISTED_MAX = 5

WHO = (
    "Kafka's log says what was changed and when, not who asked for it: no principal, client or address is in "
    "it. The audit logs of kraftctl's controllers have that: kraftctl-export report --audit-log adds it here."
)
ASK = "Where a list is cut, the page names the view or macro of kraftctl-export macros that has everything."


def page_title(contents: Contents) -> str:
    """Returns the HTML above the navigation."""
    cluster_id = escaped(contents.header.cluster_id)
    return f'<header>\n<h1>Kafka cluster <span class="id">{cluster_id}</span></h1>\n</header>\n'


def page_header(contents: Contents, made: str) -> str:
    """Returns the HTML of what is known, of which period; `made` says when and by which program."""
    cards = "".join(f"<li><b>{value}</b> {escaped(name)}</li>" for value, name in _numbers(contents))
    facts = (*_known(contents), ("Who", _who(contents.audited)), ("Report", f"{made}. {ASK}"))
    listed = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in facts)
    return (
        '<div class="period">\n<h2>What happened</h2>\n'
        f'<ul class="numbers">{cards}</ul>\n<dl>{listed}</dl>\n'
        "<noscript><p>The plots need JavaScript, which is in this file. "
        "The words and tables do not.</p></noscript>\n"
        "</div>\n"
    )


def _who(audited: AuditCoverage | None) -> str:
    if audited is None:
        return WHO
    unreadable = f" {audited.unreadable:,} of its lines are not whole." if audited.unreadable else ""
    return (
        f"The audit log has {audited.lines:,} lines. {audited.named:,} of {audited.changes:,} changes of the "
        "period have the request that asked for them. For the others, the log of the controller that led "
        f"then is missing, or no client asked.{unreadable}"
    )


def _numbers(contents: Contents) -> list[tuple[str, str]]:
    """Returns the numbers: three at the end of the period, then sums over it."""
    header = contents.header
    sizes = [
        ("not known" if count is None else f"{count:,}", name)
        for count, name in (
            (header.brokers, "brokers"),
            (header.topics, "topics"),
            (header.partitions, "partitions"),
        )
    ]
    unclean = sum(row.elections for row in contents.elections if row.kind == "unclean")
    sums = (
        (contents.fenced_times, "times fenced", "brokers"),
        (sum(row.elections for row in contents.elections), "elections", "partitions"),
        (unclean, "of them unclean", "partitions"),
        (contents.config_changes.total, "config changes", "configs"),
    )
    return sizes + [_sum(contents, *one) for one in sums]


def _sum(contents: Contents, count: int, name: str, table: str) -> tuple[str, str]:
    """Returns a number that is a sum over the period, as far as its table is known in it."""
    period, gaps = contents.period, contents.gaps_of(table)
    if not count and any(gap.start_ms <= period.start_ms and gap.end_ms >= period.end_ms - 1 for gap in gaps):
        return "not known", name
    return f"{count:,}", f"{name} where known" if gaps else name


def _known(contents: Contents) -> list[tuple[str, str]]:
    header, period = contents.header, contents.period
    begins = ""
    if header.start_offset:
        begins = f"a snapshot of everything before offset {header.start_offset:,}, then "
    span = shown_duration(period.end_ms - period.start_ms)
    gone = f"; those before offset {header.raw_start:,} have expired, and no plot of records has them"
    contained = (
        f"{begins}offsets {header.start_offset:,} to {header.end_offset - 1:,}, "
        f"{shown_time(header.start_ms)} to {shown_time(header.end_ms)} UTC, {header.records:,} records"
        f"{gone if header.raw_start else ''}"
    )
    left_out = (
        f"{header.unknown:,} records of unknown types, {header.undecodable:,} undecodable, "
        f"{header.aborted:,} of aborted transactions; {header.redacted:,} have values that were redacted"
    )
    return [
        ("Period", f"{shown_time(period.start_ms)} to {shown_time(period.end_ms)} UTC ({span})"),
        ("In the tables", contained),
        ("Not shown", left_out),
        ("Gaps of the log", _gaps(contents.gaps)),
        ("Not understood", _not_known(contents.not_known)),
    ]


def _not_known(found: Listed[Unknown]) -> str:
    if not found.rows:
        return "nothing in this period"
    listed = [
        f"{one.subject} since offset {one.start_offset:,} ({one.reason}, {one.records:,} records"
        + (")" if one.end_offset is None else f", until {one.end_offset:,})")
        + (f": {one.tables}" if one.tables else "")
        for one in found.rows
    ]
    return f"{'; '.join(listed)}. {cut(found, 'first', 'of them', 'log_stretches')}"


def _gaps(gaps: tuple[Gap, ...]) -> str:
    if not gaps:
        return "none in this period"
    listed = [
        f"offsets {gap.first_offset:,} to {gap.last_offset:,} "
        f"({shown_time(gap.start_ms)} to {shown_time(gap.end_ms)} UTC)"
        for gap in gaps[:GAPS_LISTED_MAX]
    ]
    whole = Listed(gaps[:GAPS_LISTED_MAX], len(gaps))
    more = cut(whole, "first", "gaps", "log_stretches")
    return f"{'; '.join(listed)}. What changed there is not known. {more}"
