"""The section about the duration of reassignments of partitions."""

from __future__ import annotations

import plotly.graph_objects as go

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import Contents, Reassignment
from kraftctl_spark.report.period import plot_time, shown_duration, shown_time
from kraftctl_spark.report.section import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    Plot,
    Section,
    Table,
    by_kind,
    cut,
    label,
    time_figure,
)

TABLE_ROWS_MAX = 50
SECONDS_BELOW_MS = 3 * 60_000

OUTCOMES = {
    "completed": (BLUE, "circle"),
    "cancelled": (VERMILLION, "x"),
    "running": (ORANGE, "circle-open"),
    "deleted": (GREY, "square"),
    "unknown": (PURPLE, "diamond-open"),
}


def reassignments(contents: Contents) -> Section:
    listed = contents.reassignments
    section = Section(
        "reassignments",
        "Reassignments",
        "When the replicas of a partition were changed, and how long it took until the new ones were in "
        "sync. For one that still runs, the time so far.",
    )
    if not listed.rows:
        return section
    rows = sorted(listed.rows, key=lambda row: (-(row.duration_ms or 0), row.start_ms, row.partition))
    timed = [row for row in rows if row.duration_ms is not None]
    longest = (
        f" The longest: {timed[0].partition}, {shown_duration(timed[0].duration_ms or 0)}." if timed else ""
    )
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counted(listed.total, 'reassignment')}: {by_kind(contents.reassignment_outcomes)}.{longest}",
        (
            Plot(
                "Duration of reassignments, by their start",
                _durations(contents, timed),
                cut(listed, "longest", "reassignments", "reassignments", len(timed)),
            ),
        )
        if timed
        else (),
        (
            Table(
                "Longest first",
                ("partition", "start (UTC)", "took", "outcome", "replicas before", "replicas after"),
                tuple(_table_row(row) for row in rows[:TABLE_ROWS_MAX]),
                cut(
                    *(listed, "longest", "reassignments", "reassignments"),
                    shown=min(len(rows), TABLE_ROWS_MAX),
                ),
            ),
        ),
    )


def _durations(contents: Contents, rows: list[Reassignment]) -> go.Figure:
    longest_ms = max(row.duration_ms or 0 for row in rows)
    unit, unit_ms = ("seconds", 1000) if longest_ms < SECONDS_BELOW_MS else ("minutes", 60_000)
    traces = []
    for outcome, (color, symbol) in OUTCOMES.items():
        mine = [row for row in rows if row.outcome == outcome]
        if mine:
            traces.append(
                go.Scatter(
                    mode="markers",
                    x=[plot_time(row.start_ms) for row in mine],
                    y=[(row.duration_ms or 0) / unit_ms for row in mine],
                    name=outcome,
                    showlegend=True,
                    marker={"color": color, "symbol": symbol, "size": 11, "opacity": 0.75},
                    customdata=[_text(row) for row in mine],
                    hovertemplate="%{customdata}<extra></extra>",
                )
            )
    axis = {"title": {"text": f"duration ({unit})"}, "rangemode": "tozero"}
    return time_figure(contents, traces, 300, "partitions", yaxis=axis)


def _text(row: Reassignment) -> str:
    return (
        f"<b>{label(row.partition)}</b>: {row.outcome}<br>from {shown_time(row.start_ms)}, "
        f"{shown_duration(row.duration_ms or 0)}<br>{row.old_replicas} → {row.new_replicas}"
    )


def _table_row(row: Reassignment) -> tuple[str, ...]:
    took = "unknown" if row.duration_ms is None else shown_duration(row.duration_ms)
    return (row.partition, shown_time(row.start_ms), took, row.outcome, row.old_replicas, row.new_replicas)
