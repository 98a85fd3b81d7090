"""The section about the numbers of topics, partitions and brokers."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.period import plot_time
from kraftctl_spark.report.section import (
    BLUE,
    GREEN,
    PURPLE,
    Plot,
    Section,
    count_axis,
    gap_bands,
    styled,
    time_axis,
)

LINES = (("topics", BLUE), ("partitions", GREEN), ("brokers", PURPLE))


def growth(contents: Contents) -> Section:
    section = Section(
        "growth",
        "Growth",
        "How many there are at the end of each time bucket. Registered brokers count, fenced or not. Where "
        "there is no line, it is not known.",
    )
    known = {
        name: [n for size in contents.growth if (n := getattr(size, name)) is not None] for name, _ in LINES
    }
    if not any(known.values()):
        return section
    summary = "; ".join(
        f"{name} {found[0]:,} → {found[-1]:,}" if found else f"{name} not known"
        for name, found in known.items()
    )
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"From the first to the last moment shown: {summary}.",
        (Plot("Topics, partitions and brokers over time", _lines(contents)),),
    )


def _lines(contents: Contents) -> go.Figure:
    period = contents.period
    stacked = make_subplots(rows=len(LINES), cols=1, shared_xaxes=True, vertical_spacing=0.07)
    times = [plot_time(min(size.bucket_ms + period.bucket_ms, period.end_ms)) for size in contents.growth]
    for row, (name, color) in enumerate(LINES, 1):
        line = go.Scatter(
            x=times,
            y=[getattr(size, name) for size in contents.growth],
            name=name,
            mode="lines+markers",  # One that is known between two gaps is no line.
            marker={"size": 4},
            line={"shape": "hv", "color": color, "width": 2},
            connectgaps=False,
            hovertemplate=f"%{{x|%Y-%m-%d %H:%M:%S}}: %{{y:,}} {name}<extra></extra>",
        )
        stacked.add_trace(line, row=row, col=1)
    styled(stacked, 430, showlegend=False)
    stacked.update_yaxes(fixedrange=True)
    stacked.update_layout(shapes=gap_bands(contents, len(LINES)))
    axis = time_axis(period)
    stacked.update_xaxes(type=axis["type"], range=axis["range"])
    stacked.update_xaxes(title=axis["title"], row=len(LINES), col=1)
    for row, (name, _) in enumerate(LINES, 1):
        most = max(getattr(size, name) or 0 for size in contents.growth)
        stacked.update_yaxes(count_axis(name, most), row=row, col=1)
    return stacked
