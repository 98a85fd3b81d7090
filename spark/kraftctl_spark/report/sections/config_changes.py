"""The section about changed configurations: when, from which value to which."""

from __future__ import annotations

from collections import Counter

import plotly.graph_objects as go

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import OTHERS, ConfigChange, Contents
from kraftctl_spark.report.period import plot_time, shown_time
from kraftctl_spark.report.section import (
    BLUE,
    GREY,
    PURPLE,
    VERMILLION,
    Plot,
    Section,
    Table,
    bucket_bars,
    by_kind,
    count_axis,
    cut,
    row_axis,
    rows_height,
    shortened,
    time_figure,
    who_column,
)

RESOURCES_MAX = 20
TABLE_ROWS_MAX = 100

CAUSES = {
    "set": (BLUE, "circle"),
    "removed": (VERMILLION, "x"),
    "topic deleted": (GREY, "square"),
    "gap": (PURPLE, "diamond-open"),
}
"""The color and symbol of each cause. A gap: found in a snapshot after an unknown part of the log."""


def config_changes(contents: Contents) -> Section:
    listed = contents.config_changes
    section = Section(
        "config-changes",
        "Changes of configurations",
        "A resource of no other kind is a topic. Point at a mark to see the value before and after. Values "
        "that the export redacted are shown as (redacted), before and after: whether they differ is not "
        "known, unless they have different digests.",
    )
    if not listed.rows:
        return section
    latest = sorted(listed.rows, key=lambda row: row.offset, reverse=True)[:TABLE_ROWS_MAX]
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counted(listed.total, 'change')}: {by_kind(contents.config_causes)}.",
        (
            *([Plot("All changes of configurations over time", _over_time(contents))] if listed.cut else []),
            Plot(
                "Changes of configurations by resource, over time",
                _timeline(contents),
                cut(listed, "latest", "changes in the plot", "config_audit"),
            ),
        ),
        (
            Table(
                "Latest first",
                (
                    "time (UTC)",
                    "offset",
                    "resource",
                    "configuration",
                    "before",
                    "after",
                    "cause",
                    *who_column(listed),
                ),
                tuple((*_table_row(row), *([row.who or ""] if who_column(listed) else [])) for row in latest),
                cut(listed, "latest", "changes", "config_audit", len(latest)),
            ),
        ),
        _others_note(contents),
    )


def _others_note(contents: Contents) -> tuple[str, ...]:
    resources = len({row.resource for row in contents.config_changes.rows})
    if resources <= RESOURCES_MAX:
        return ()
    listed = RESOURCES_MAX - 1
    return (f"The row of others has the {resources - listed:,} resources with the fewest changes.",)


def _over_time(contents: Contents) -> go.Figure:
    """Draws sums, where there are more changes than marks."""
    in_all: Counter[int] = Counter()
    traces = []
    for cause, (color, _) in CAUSES.items():
        rows = [row for row in contents.config_over_time if row.cause == cause]
        counts = {row.bucket_ms: row.changes for row in rows}
        in_all.update(counts)
        if rows:
            traces.append(bucket_bars(contents.period, counts, cause, color, "changes", showlegend=True))
    axis = count_axis("changes", max(in_all.values(), default=0))
    return time_figure(contents, traces, 260, "configs", barmode="stack", yaxis=axis)


def _timeline(contents: Contents) -> go.Figure:
    rows = contents.config_changes.rows
    changes = Counter(row.resource for row in rows)
    names = [name for name, _ in sorted(changes.items(), key=lambda item: (-item[1], item[0]))]
    if len(names) > RESOURCES_MAX:
        names = [*names[: RESOURCES_MAX - 1], OTHERS]
    places = {name: place for place, name in enumerate(names)}
    traces = []
    for cause, (color, symbol) in CAUSES.items():
        mine = [row for row in rows if row.cause == cause]
        if mine:
            traces.append(
                go.Scatter(
                    mode="markers",
                    x=[plot_time(row.time_ms) for row in mine],
                    y=[places.get(row.resource, len(names) - 1) for row in mine],
                    name=cause,
                    showlegend=True,
                    marker={"color": color, "symbol": symbol, "size": 11, "opacity": 0.75},
                    customdata=[_text(row) for row in mine],
                    hovertemplate="%{customdata}<extra></extra>",
                )
            )
    return time_figure(contents, traces, rows_height(len(names)), "configs", yaxis=row_axis(names))


def _text(row: ConfigChange) -> str:
    return (
        f"<b>{shortened(row.name)}</b> of {shortened(row.resource)}<br>{_time(row)}, offset {row.offset}<br>"
        f"{_value(row.old_value)} → {_value(row.new_value)}"
        f"{f'<br>asked by {shortened(row.who)}' if row.who else ''}"
    )


def _time(row: ConfigChange) -> str:
    return shown_time(row.time_ms) if row.exact else f"before {shown_time(row.time_ms)}"


def _value(value: str | None) -> str:
    return "<i>not set</i>" if value is None else shortened(value)


def _table_row(row: ConfigChange) -> tuple[str, ...]:
    values = ["(not set)" if value is None else value for value in (row.old_value, row.new_value)]
    return (_time(row), str(row.offset), row.resource, row.name, *values, row.cause)
