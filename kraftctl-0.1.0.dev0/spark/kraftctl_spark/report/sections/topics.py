"""The section about topics that were created and deleted."""

from __future__ import annotations

from kraftctl_spark.report.contents import Contents, Happened
from kraftctl_spark.report.period import shown_time
from kraftctl_spark.report.section import Section, Table, cut, who_column


def topics(contents: Contents) -> Section:
    listed = contents.topic_changes
    section = Section("topics", "Topics", "Which topics were created and deleted.")
    if not listed.rows:
        return section
    counts = ", ".join(f"{one.count:,} {_what(one.kind)}" for one in contents.topic_kinds)
    who = who_column(listed)

    def cells(row: Happened) -> tuple[str, ...]:
        named = (row.who or "",) if who else ()
        return (shown_time(row.time_ms), str(row.offset), _what(row.kind), row.subject, *named)

    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counts}.",
        tables=(
            Table(
                "Latest first",
                ("time (UTC)", "offset", "what", "topic", *who),
                tuple(map(cells, listed.rows)),
                cut(listed, "latest", "topics that were created or deleted", "topic_history"),
            ),
        ),
    )


def _what(kind: str) -> str:
    return kind.removeprefix("topic ")
