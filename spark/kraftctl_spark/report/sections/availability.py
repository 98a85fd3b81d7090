"""The section about partitions without leader, or with too few replicas in sync."""

from __future__ import annotations

from collections.abc import Iterable

import plotly.graph_objects as go

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import Contents, Gap
from kraftctl_spark.report.period import plot_time, shown_duration, shown_time
from kraftctl_spark.report.section import (
    ORANGE,
    SURFACE,
    VERMILLION,
    Plot,
    Section,
    cut,
    figure,
    label,
    row_axis,
    rows_height,
    time_figure,
)

MEASURES = (("under-replicated", "under_replicated_ms", ORANGE), ("leaderless", "leaderless_ms", VERMILLION))

SECONDS_BELOW_MS = 3 * 60_000
"""Shorter times are shown in seconds."""


def availability(contents: Contents) -> Section:
    section = Section(
        "availability",
        "Leaderless and under-replicated partitions",
        "A leaderless partition serves no client. An under-replicated one has fewer replicas in sync than it "
        "should have; what a reassignment is still adding does not count.",
    )
    listed = contents.availability
    if not listed.rows:
        return section
    worst = listed.rows[0]
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counted(listed.total, 'partition')}{_deleted(contents)}. First on the list is {worst.partition}: "
        f"leaderless for {shown_duration(worst.leaderless_ms)}, under-replicated for "
        f"{shown_duration(worst.under_replicated_ms)}.",
        (
            Plot("Leaderless and under-replicated partitions over time", _over_time(contents)),
            Plot(
                "Time without a leader or under-replicated, by partition",
                _by_partition(contents),
                cut(listed, "first", "partitions; each has its own times", "partition_availability"),
            ),
        ),
        notes=(
            "Over time, the mean number of all such partitions in the known part of each bucket is shown.",
        ),
    )


def _deleted(contents: Contents) -> str:
    """Explains why there can be more than the cluster has."""
    count = contents.availability_deleted
    return f", {count:,} of them deleted since" if count else ""


def _over_time(contents: Contents) -> go.Figure:
    period = contents.period
    traces = []
    for name, field, color in MEASURES:
        rows = [row for row in contents.availability_over_time if getattr(row, field)]
        parts = [period.part_of(row.bucket_ms) for row in rows]
        traces.append(
            go.Bar(
                x=[plot_time((start_ms + end_ms) // 2) for start_ms, end_ms in parts],
                y=[
                    getattr(row, field) / known_ms(contents.gaps_of("partitions"), *part)
                    for row, part in zip(rows, parts, strict=True)
                ],
                customdata=[[shown_time(start_ms), shown_time(end_ms)] for start_ms, end_ms in parts],
                width=[end_ms - start_ms for start_ms, end_ms in parts],
                name=name,
                showlegend=True,
                marker={"color": color, "line": {"color": SURFACE, "width": 0.5}},
                hovertemplate="%{customdata[0]} to %{customdata[1]}<br>"
                f"{name}: %{{y:,.3~f}} partitions at a time<extra></extra>",
            )
        )
    axis = {"title": {"text": "partitions, mean"}, "rangemode": "tozero"}
    return time_figure(contents, traces, 280, "partitions", barmode="overlay", yaxis=axis)


def known_ms(gaps: Iterable[Gap], start_ms: int, end_ms: int) -> int:
    """Returns how much of a time is in no gap; at least 1 ms, where something was found."""
    unknown_ms = sum(max(0, min(gap.end_ms, end_ms) - max(gap.start_ms, start_ms)) for gap in gaps)
    return max(1, end_ms - start_ms - unknown_ms)


def _by_partition(contents: Contents) -> go.Figure:
    """Draws each partition, without a sum of the others: their bar would look like a time."""
    rows = contents.availability.rows
    names = [row.partition for row in rows]
    longest_ms = max(max(row.leaderless_ms, row.under_replicated_ms) for row in rows)
    unit, unit_ms = ("seconds", 1000) if longest_ms < SECONDS_BELOW_MS else ("minutes", 60_000)
    traces = [
        go.Bar(
            orientation="h",
            y=list(range(len(rows))),
            x=[getattr(row, field) / unit_ms for row in rows],
            name=name,
            customdata=[[label(row.partition), shown_duration(getattr(row, field))] for row in rows],
            marker={"color": color},
            hovertemplate=f"%{{customdata[0]}}<br>{name} for %{{customdata[1]}}<extra></extra>",
        )
        for name, field, color in MEASURES
    ]
    axis = {"title": {"text": unit}, "rangemode": "tozero"}
    return figure(traces, rows_height(len(rows)), barmode="group", xaxis=axis, yaxis=row_axis(names))
