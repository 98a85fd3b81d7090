"""The section about topics that were created and deleted."""

from __future__ import annotations

from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.section import Section, by_kind, changes_table


def topics(contents: Contents) -> Section:
    listed = contents.topic_changes
    section = Section("topics", "Topics", "Which topics were created and deleted.")
    if not listed.rows:
        return section
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{by_kind(contents.topic_kinds)}.",
        tables=(changes_table(listed, "topic_history"),),
    )
