"""The section about the types of records in the log."""

from __future__ import annotations

from collections import Counter

import plotly.graph_objects as go

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import OTHERS, Contents
from kraftctl_spark.report.section import (
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    YELLOW,
    Plot,
    Section,
    Table,
    bucket_bars,
    count_axis,
    label,
    time_figure,
)

COLORS = (BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE, YELLOW)
IDLE = "NoOpRecord"
"""An idle controller writes two of them per second: they would hide everything else."""


def record_types(contents: Contents) -> Section:
    section = Section(
        "record-types",
        "Records by type",
        "All that the metadata log received. An idle controller writes a NoOpRecord every 500 ms by "
        "default; these are hidden until you click on them in the legend.",
    )
    if not contents.record_types:
        return section
    totals: Counter[str] = Counter()
    for row in contents.record_types:
        totals[row.type] += row.records
    ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    busiest = ", ".join(f"{name} {count:,}" for name, count in ordered[:3])
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counted(totals.total(), 'record')} of {counted(len(totals), 'type')}. Most frequent: {busiest}.",
        (
            Plot(
                "Records by type over time, each bar a sum",
                _over_time(contents, [name for name, _ in ordered]),
            ),
        ),
        (
            Table(
                "Records by type", ("type", "records"), tuple((name, f"{count:,}") for name, count in ordered)
            ),
        ),
        _others_note([name for name, _ in ordered if name != IDLE]),
    )


def _others_note(names: list[str]) -> tuple[str, ...]:
    left = len(names) - len(COLORS)
    return (
        (f"In the plot, others is the sum of the {counted(left, 'rarest type')}; the table has all.",)
        if left > 0
        else ()
    )


def _over_time(contents: Contents, ordered: list[str]) -> go.Figure:
    busiest = [name for name in ordered if name != IDLE][: len(COLORS)]
    shown = [*zip(busiest, COLORS, strict=False), (OTHERS, GREY), (IDLE, LIGHT_GREY)]
    counts: dict[str, Counter[int]] = {name: Counter() for name, _ in shown}
    for row in contents.record_types:
        counts[row.type if row.type in counts else OTHERS][row.bucket_ms] += row.records
    traces = [
        bucket_bars(
            contents.period,
            counts[name],
            label(name),
            color,
            "records",
            visible="legendonly" if name == IDLE and busiest else True,
            showlegend=True,
        )
        for name, color in shown
        if counts[name]
    ]
    in_all: Counter[int] = Counter()
    for each in counts.values():
        in_all.update(each)
    axis = count_axis("records", max(in_all.values()))
    return time_figure(contents, traces, 380, barmode="stack", yaxis=axis)
