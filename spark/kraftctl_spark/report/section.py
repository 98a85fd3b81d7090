"""One section of the page: text, figures, a table; and the style of all figures."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from kraftctl_spark.report.contents import Listed
from kraftctl_spark.report.period import Period, plot_time, shown_time

NOTHING = "None in this period."

# Okabe and Ito's colors, which people with any kind of color vision can distinguish.
BLUE, SKY, GREEN, ORANGE, VERMILLION, PURPLE, YELLOW, GREY = (
    "#0072B2",
    "#56B4E9",
    "#009E73",
    "#E69F00",
    "#D55E00",
    "#CC79A7",
    "#F0E442",
    "#8C8C8C",
)
PALE = "#D6E6F2"
"""Color of a normal state."""
LIGHT_GREY = "#CBD2D9"

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
LABEL_MAX = 36
VALUE_MAX = 160
SMALL_COUNT_MAX = 20
SMALL_COUNT_TICKS = 4
"""As many fit beside the lowest plot."""


@dataclass(frozen=True)
class Table:
    """Plain text; the page escapes it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Plot:
    """A figure, with a name for readers who cannot see it."""

    title: str
    figure: go.Figure


@dataclass(frozen=True)
class Section:
    """`summary` says in words what the plots show; without plots and tables it is the whole section."""

    name: str
    title: str
    explanation: str
    summary: str = NOTHING
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


def figure(traces: Sequence[Any], height: int, **layout: Any) -> go.Figure:
    """A figure in the style of the page; the title is text beside it."""
    return styled(go.Figure(list(traces)), height, **layout)


def styled(made: go.Figure, height: int, **layout: Any) -> go.Figure:
    """The same for an existing figure."""
    made.update_layout(
        template="none",
        height=height,
        margin={"l": 70, "r": 20, "t": 30, "b": 50},
        font={"family": FONT, "size": 13, "color": "#1f2933"},
        paper_bgcolor="white",
        plot_bgcolor="white",
        hoverlabel={
            "align": "left",
            "bgcolor": "white",
            "bordercolor": "#7b8794",
            "font": {"color": "#1f2933"},
        },
        legend={
            "orientation": "h",
            "traceorder": "normal",
            "x": 0,
            "xanchor": "left",
            "y": 1.0,
            "yanchor": "bottom",
        },
    )
    made.update_layout(**layout)
    axis = {"gridcolor": "#e4e7eb", "linecolor": "#9aa5b1", "zeroline": False, "automargin": True}
    made.update_xaxes(**axis)
    made.update_yaxes(**axis, ticklabelstandoff=6)
    return made


def time_axis(period: Period) -> dict[str, Any]:
    """Covers the whole period, even where nothing happened: all figures of a page have the same axis."""
    ends = [plot_time(period.start_ms), plot_time(period.end_ms)]
    return {"type": "date", "range": ends, "title": {"text": "time (UTC)"}}


def count_axis(title: str, most: int) -> dict[str, Any]:
    """Whole numbers from 0; `most` is the largest value that is shown."""
    axis = {"title": {"text": title}, "rangemode": "tozero", "tickformat": ",~d", "minallowed": 0}
    if most <= SMALL_COUNT_MAX:  # plotly.js would divide a small count into fractions, shown as 0, 0, 1, 1.
        axis["dtick"] = max(1, -(-most // SMALL_COUNT_TICKS))
    return axis


def bucket_bars(
    period: Period, counts: dict[int, int], name: str, color: str, unit: str, **more: Any
) -> go.Bar:
    """One bar per bucket that is not empty."""
    width_ms = period.bucket_ms
    starts = sorted(bucket for bucket, count in counts.items() if count)
    return go.Bar(
        x=[plot_time(start + width_ms // 2) for start in starts],
        y=[counts[start] for start in starts],
        customdata=[[shown_time(start), shown_time(start + width_ms)] for start in starts],
        width=width_ms,
        name=name,
        marker={"color": color, "line": {"color": "white", "width": 0.5}},
        hovertemplate=f"%{{customdata[0]}} to %{{customdata[1]}}<br>{name}: %{{y:,}} {unit}<extra></extra>",
        **more,
    )


def row_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Named rows at 0, 1, 2, ..., the first one on top."""
    return {
        "range": [len(labels) - 0.5, -0.5],
        "tickmode": "array",
        "tickvals": list(range(len(labels))),
        "ticktext": [label(text) for text in labels],
        "showgrid": False,
    }


def spans(
    rows: Sequence[int], starts_ms: Sequence[int], ends_ms: Sequence[int], texts: Sequence[str], **more: Any
) -> go.Bar:
    """Time intervals on the rows of a `row_axis`; a moment is still visible as a line."""
    return go.Bar(
        orientation="h",
        y=list(rows),
        base=[plot_time(start_ms) for start_ms in starts_ms],
        x=[end_ms - start_ms for start_ms, end_ms in zip(starts_ms, ends_ms, strict=True)],
        customdata=list(texts),
        width=0.66,
        hovertemplate="%{customdata}<extra></extra>",
        **more,
    )


def rows_height(rows: int, per_row: int = 26) -> int:
    return 130 + per_row * max(rows, 2)


def label(text: str) -> str:
    """A name beside a plot: short, and never interpreted as markup."""
    return shortened(text, LABEL_MAX)


def shortened(text: str, length: int = VALUE_MAX) -> str:
    """Escapes text for a figure, where texts can contain tags."""
    cut = text if len(text) <= length else text[: length - 1] + "…"
    return html.escape("".join(letter if letter.isprintable() else " " for letter in cut))


def counted(count: int, what: str, plural: str = "") -> str:
    """`1 election`, `1,200 elections`."""
    return f"{count:,} {what if count == 1 else plural or what + 's'}"


def cut_note(listed: Listed[Any], which: str, what: str) -> tuple[str, ...]:
    """A note when the list is cut."""
    return (f"Shown are the {which} {len(listed.rows):,} of {listed.total:,} {what}.",) if listed.cut else ()
