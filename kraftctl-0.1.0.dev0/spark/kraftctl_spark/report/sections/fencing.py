"""The section about how often and how long brokers were fenced."""

from __future__ import annotations

from kraftctl_protocol.counted_text import counted, one_or_many
from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.period import shown_duration
from kraftctl_spark.report.section import Section, Table, cut


def fencing(contents: Contents) -> Section:
    fenced = contents.fenced_brokers
    section = Section(
        "fencing",
        "Fencing of brokers",
        "A fenced broker leads no partition, and is in an ISR only as its last member. A broker is fenced "
        "from its registration until it has caught up, when it sent no heartbeat for "
        "broker.session.timeout.ms, or when it was stopped while it led nothing. One that was in its "
        "controlled shutdown counts as stopped, until it registers again. "
        "Times fenced do not count registrations. The timeline shows when.",
    )
    if not fenced.rows:
        return section
    return Section(
        section.name,
        section.title,
        section.explanation,
        _summary(contents),
        tables=(
            Table(
                "Brokers, those that were fenced longest first",
                ("broker", "times fenced", "time fenced", "controlled shutdowns", "time stopped"),
                tuple(
                    (
                        str(row.broker_id),
                        f"{row.fenced:,}",
                        shown_duration(row.fenced_ms),
                        f"{row.shutdowns:,}",
                        shown_duration(row.stopped_ms),
                    )
                    for row in fenced.rows
                ),
                cut(fenced, "first", "brokers", "fencing_timeline"),
            ),
        ),
    )


def _summary(contents: Contents) -> str:
    stops = f"{counted(contents.shutdowns, 'controlled shutdown')}."
    if not contents.fenced_times:
        return f"No broker was fenced in this period, except when it registered; {stops}"
    worst = contents.fenced_brokers.rows[0]
    were = one_or_many(contents.fenced_in_all, "was", "were")
    brokers = f"{counted(contents.fenced_in_all, 'broker')} {were}"
    return (
        f"{brokers} fenced, {counted(contents.fenced_times, 'time')} in all; "
        f"{stops} Longest fenced was broker {worst.broker_id} "
        f"({shown_duration(worst.fenced_ms)})."
    )
