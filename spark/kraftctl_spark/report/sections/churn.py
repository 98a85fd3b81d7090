"""The section about where and when ISRs shrank and grew."""

from __future__ import annotations

from math import log10

import plotly.graph_objects as go

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import OTHERS, Contents
from kraftctl_spark.report.period import plot_time, shown_time
from kraftctl_spark.report.section import Plot, Section, all_in, label, row_axis, rows_height, time_figure

COLORS = tuple((step / 4, f"var(--heat-{step})") for step in range(5))
"""The hues from that of the page to its contrary differ in brightness, for black and white, too."""


TICKS = tuple(first * 10**power for power in range(10) for first in (1, 3))
"""The counts beside the scale, which has every count: it is logarithmic, as sums of topics are large."""


def churn(contents: Contents) -> Section:
    section = Section(
        "churn",
        "Churn of ISRs",
        "How often the ISR of a partition lost or gained a broker, the busiest on top. Where more partitions "
        "churned than can be shown, each row is the sum of a topic's partitions.",
    )
    if not contents.churn:
        return section
    shrinks = sum(row.shrinks for row in contents.churn)
    expansions = sum(row.expansions for row in contents.churn)
    totals = _totals(contents)
    busiest = next((name for name in totals if name != OTHERS), OTHERS)
    in_all, kind = contents.churned
    listed = len(totals) - (OTHERS in totals)
    heat_map = _heat_map(contents, list(totals))
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counted(shrinks, 'time')} an ISR shrank, {counted(expansions, 'time')} one grew; "
        f"most often that of {busiest} ({totals[busiest]:,}).",
        (Plot(f"Changes of ISRs by {'topic' if kind == 'topics' else 'partition'}, over time", heat_map),),
        notes=(_others_note(listed, in_all, kind),) if OTHERS in totals else (),
    )


def _others_note(listed: int, in_all: int, kind: str) -> str:
    return (
        f"Shown are the busiest {listed:,} of {in_all:,} {kind}; the row of others is the sum of the other "
        f"{in_all - listed:,}. {all_in('isr_churn_per_hour')}"
    )


def _totals(contents: Contents) -> dict[str, int]:
    """Returns the changes of each row, the most first, but others last."""
    totals: dict[str, int] = {}
    for row in contents.churn:
        totals[row.name] = totals.get(row.name, 0) + row.shrinks + row.expansions
    return dict(sorted(totals.items(), key=lambda item: (item[0] == OTHERS, -item[1], item[0])))


def _heat_map(contents: Contents, names: list[str]) -> go.Figure:
    period = contents.period
    buckets = period.buckets()
    found = {(row.name, row.bucket_ms): row for row in contents.churn}
    changes: list[list[int | None]] = []
    texts: list[list[str]] = []
    for name in names:
        rows = [found.get((name, bucket)) for bucket in buckets]
        changes.append([None if row is None else row.shrinks + row.expansions for row in rows])
        texts.append(
            [
                ""
                if row is None
                else f"<b>{label(name)}</b><br>{shown_time(row.bucket_ms)} to "
                f"{shown_time(row.bucket_ms + period.bucket_ms)}<br>"
                f"{row.shrinks:,} shrank, {row.expansions:,} grew"
                for row in rows
            ]
        )
    most = max(count for row in changes for count in row if count is not None)
    ticks = [*(tick for tick in TICKS if tick * 1.5 < most), most]
    heat_map = go.Heatmap(
        x=[plot_time(bucket + period.bucket_ms // 2) for bucket in buckets],
        y=list(range(len(names))),
        z=[[None if count is None else log10(count) for count in row] for row in changes],
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        showscale=most > 1,
        zmin=0,
        zmax=log10(max(most, 2)),
        colorscale=[list(step) for step in COLORS],
        colorbar={
            "title": {"text": "changes", "side": "right"},
            "tickvals": [log10(tick) for tick in ticks],
            "ticktext": [f"{tick:,}" for tick in ticks],
            "thickness": 14,
        },
    )
    return time_figure(contents, [heat_map], rows_height(len(names), 22), "partitions", yaxis=row_axis(names))
