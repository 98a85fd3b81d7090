"""The section about levels of features."""

from __future__ import annotations

from kraftctl_spark.report.contents import Contents, Feature
from kraftctl_spark.report.period import shown_time
from kraftctl_spark.report.section import Section
from kraftctl_spark.report.sections.in_effect import in_effect


def features(contents: Contents) -> Section:
    section = Section(
        "features",
        "Features",
        "The levels that the cluster has finalized. One that is disabled, with level 0, is not "
        "listed. kraft.version is in the section about the quorum.",
        "None at the end of this period, and none changed in it.",
    )
    return in_effect(
        section,
        contents.features,
        "feature",
        ("feature", "level", "since (UTC)"),
        _cells,
        "features_at(offset)",
    )


def _cells(row: Feature) -> tuple[str, ...]:
    since = "before the exported log" if row.since_ms is None else shown_time(row.since_ms)
    return (row.name, str(row.level), since)
