"""What of a section is not known: without it, nothing that is known looks like nothing that happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kraftctl_spark.report.contents import Contents, Gap
from kraftctl_spark.report.period import shown_time
from kraftctl_spark.report.section import NOTHING, Section

GAPS_NAMED_MAX = 3

NOTHING_KNOWN = "None in what is known of this period."

TABLES: Mapping[str, tuple[str, ...]] = {
    "timeline": (
        *("partitions", "topics", "brokers", "controllers", "configs", "acls", "quotas"),
        *("scram_credentials", "delegation_tokens", "features", "quorum"),
    ),
    "fencing": ("brokers",),
    "elections": ("partitions",),
    "availability": ("partitions",),
    "churn": ("partitions",),
    "reassignments": ("partitions",),
    "topics": ("topics",),
    "config-changes": ("configs",),
    "acls": ("acls",),
    "quotas": ("quotas",),
    "scram": ("scram_credentials", "delegation_tokens"),
    "features": ("features",),
    "quorum": ("quorum",),
    "growth": ("topics", "partitions", "brokers"),
}
"""The tables that a section is made of; the others say themselves what is not known."""


def with_unknown(section: Section, contents: Contents) -> Section:
    """Returns the section; its summary also has from when to when its tables are not known."""
    tables: dict[tuple[Gap, ...], list[str]] = {}
    for table in TABLES.get(section.name, ()):
        if gaps := contents.gaps_of(table):
            tables.setdefault(gaps, []).append(table.replace("_", " "))
    if not tables:
        return section
    summary = NOTHING_KNOWN if section.summary == NOTHING else section.summary
    unknown = "; ".join(f"{', '.join(names)} {_times(gaps)}" for gaps, names in tables.items())
    return replace(section, summary=f"{summary} Not known: {unknown}.")


def _times(gaps: tuple[Gap, ...]) -> str:
    named = [
        f"from {shown_time(gap.start_ms)} to {shown_time(gap.end_ms)} UTC" for gap in gaps[:GAPS_NAMED_MAX]
    ]
    more = [f"and in {len(gaps) - GAPS_NAMED_MAX:,} more gaps"] if len(gaps) > GAPS_NAMED_MAX else []
    return ", ".join([*named, *more])
