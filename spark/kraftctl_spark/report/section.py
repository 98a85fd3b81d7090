"""One section of the page: text, figures, a table; and the style of all figures."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from kraftctl_spark.report.contents import Contents, Gap, Happened, KindCount, Listed
from kraftctl_spark.report.period import Period, plot_time, shown_time

NOTHING = "None in this period."

# Okabe and Ito's colors, which people with any kind of color vision can distinguish: their values are in the
# style sheet, with others for a dark page.
BLUE, SKY, GREEN, ORANGE, VERMILLION, PURPLE, YELLOW, GREY = (
    f"var(--{name})" for name in ("blue", "sky", "green", "orange", "vermillion", "purple", "yellow", "grey")
)
PALE = "var(--pale)"
"""The color of a normal state."""
LIGHT_GREY = "var(--light-grey)"
TEXT, SURFACE, GRID, LINE, GAP = (f"var(--{name})" for name in ("text", "surface", "grid", "line", "gap"))

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
LABEL_MAX = 36
VALUE_MAX = 160
GAPS_DRAWN_MAX = 50
SMALL_COUNT_MAX = 20
SMALL_COUNT_TICKS = 4
"""This many ticks fit beside the lowest plot."""


@dataclass(frozen=True)
class Table:
    """A table of plain text; the page escapes it. `left_out` is what `cut` says of it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: str = ""


@dataclass(frozen=True)
class Plot:
    """A figure, with a name for readers who cannot see it. `left_out` is what `cut` says of it."""

    title: str
    figure: go.Figure
    left_out: str = ""


@dataclass(frozen=True)
class Point:
    """One line of what is wrong: its urgency is its color, its head is bold."""

    urgency: str
    """The urgency is `bad` or `warn`: sorted, the worst is first."""
    head: str
    text: str


@dataclass(frozen=True)
class Section:
    """A section; `summary` describes the plots in words; without plots and tables it is the whole section.

    Its points, if there are any, are below the summary.
    """

    name: str
    title: str
    explanation: str
    summary: str = NOTHING
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()


def figure(traces: Sequence[Any], height: int, **layout: Any) -> go.Figure:
    """Returns a figure in the style of the page; the title is text beside it."""
    return styled(go.Figure(list(traces)), height, **layout)


def styled(made: go.Figure, height: int, **layout: Any) -> go.Figure:
    """Returns the same for an existing figure."""
    made.update_layout(
        template="none",
        height=height,
        margin={"l": 70, "r": 20, "t": 30, "b": 50},
        font={"family": FONT, "size": 13, "color": TEXT},
        paper_bgcolor=SURFACE,
        plot_bgcolor=SURFACE,
        hoverlabel={"align": "left", "bgcolor": SURFACE, "bordercolor": LINE, "font": {"color": TEXT}},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": LINE, "activecolor": TEXT},
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
    axis = {
        "gridcolor": GRID,
        "linecolor": LINE,
        "zeroline": False,
        "automargin": True,
        "title.font.size": 12,
    }
    made.update_xaxes(**axis)
    made.update_yaxes(**axis, ticklabelstandoff=6)
    return made


def time_figure(
    contents: Contents, traces: Sequence[Any], height: int, table: str = "", **layout: Any
) -> go.Figure:
    """Returns a figure over the whole period, with the gaps of a table, by default of the log."""
    bands = gap_bands(contents, gaps=contents.gaps_of(table))
    made = figure(traces, height, xaxis=time_axis(contents.period), shapes=bands, **layout)
    return made.update_yaxes(fixedrange=True)  # A drag zooms in the time that all plots share.


def gap_bands(contents: Contents, axes: int = 1, gaps: Sequence[Gap] | None = None) -> list[dict[str, Any]]:
    """Returns grey bands at gaps, by default of the log, on each axis of time of a figure."""
    return [
        {
            "type": "rect",
            "layer": "below",
            "xref": f"x{number}" if number > 1 else "x",
            "yref": f"y{number} domain" if number > 1 else "y domain",
            "x0": plot_time(gap.start_ms),
            "x1": plot_time(gap.end_ms),
            "y0": 0,
            "y1": 1,
            "fillcolor": GAP,
            "line": {"width": 0},
        }
        for gap in (contents.gaps if gaps is None else gaps)[:GAPS_DRAWN_MAX]
        for number in range(1, axes + 1)
    ]


def time_axis(period: Period) -> dict[str, Any]:
    """Returns an axis of the whole period, even without events: all figures of a page have the same one."""
    ends = [plot_time(period.start_ms), plot_time(period.end_ms)]
    return {"type": "date", "range": ends, "title": {"text": "time (UTC)"}}


def count_axis(title: str, most: int) -> dict[str, Any]:
    """Returns an axis of whole numbers from 0; `most` is the largest value that is shown."""
    axis = {"title": {"text": title}, "rangemode": "tozero", "tickformat": ",~d", "minallowed": 0}
    if most <= SMALL_COUNT_MAX:  # plotly.js would divide a small count into fractions, shown as 0, 0, 1, 1.
        axis["dtick"] = max(1, -(-most // SMALL_COUNT_TICKS))
    return axis


def bucket_bars(
    period: Period, counts: dict[int, int], name: str, color: str, unit: str, **more: Any
) -> go.Bar:
    """Returns one bar per bucket that is not empty."""
    width_ms = period.bucket_ms
    starts = sorted(bucket for bucket, count in counts.items() if count)
    return go.Bar(
        x=[plot_time(start + width_ms // 2) for start in starts],
        y=[counts[start] for start in starts],
        customdata=[[shown_time(start), shown_time(start + width_ms)] for start in starts],
        width=width_ms,
        name=name,
        marker={"color": color, "line": {"color": SURFACE, "width": 0.5}},
        hovertemplate=f"%{{customdata[0]}} to %{{customdata[1]}}<br>{name}: %{{y:,}} {unit}<extra></extra>",
        **more,
    )


def row_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Returns an axis with named rows at 0, 1, 2, ..., the first one on top."""
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
    """Returns time intervals on the rows of a `row_axis`; a moment is still visible as a line."""
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


def label(text: str, length: int = LABEL_MAX) -> str:
    """Returns a name beside a plot: short, and never interpreted as markup."""
    return shortened(text, length)


def shortened(text: str, length: int = VALUE_MAX) -> str:
    """Shortens and escapes text for a figure, where texts can contain tags."""
    cut = text if len(text) <= length else text[: length - 1] + "…"
    return escaped(cut)


def escaped(text: str) -> str:
    """Escapes text for HTML. Letters that are not printable become spaces: some turn the direction of
    text.
    """
    return html.escape("".join(letter if letter.isprintable() else " " for letter in text))


def by_kind(kinds: Sequence[KindCount]) -> str:
    """Returns counts such as `3 removed, 12 set`."""
    return ", ".join(f"{one.count:,} {one.kind}" for one in kinds)


def changes_table(listed: Listed[Happened], rest: str) -> Table:
    """Returns a table of the events, latest first; `rest` has all of them."""
    return Table(
        "What changed, latest first",
        ("time (UTC)", "offset", "what", "of", "before", "after", *who_column(listed)),
        tuple(
            (
                shown_time(row.time_ms),
                str(row.offset),
                row.kind,
                row.subject,
                "(none)" if row.before is None else row.before,
                "(none)" if row.after is None else row.after,
                *([row.who or ""] if who_column(listed) else []),
            )
            for row in listed.rows
        ),
        cut(listed, "latest", "changes", rest),
    )


def who_column(listed: Listed[Any]) -> tuple[str, ...]:
    """Returns the name of the column, if the audit log has who asked for any of the changes."""
    return ("asked by",) if any(row.who for row in listed.rows) else ()


def cut(listed: Listed[Any], which: str, what: str, rest: str, shown: int | None = None) -> str:
    """Returns what a table or plot leaves out, with the view or macro that has it; nothing if it is whole."""
    shown = len(listed.rows) if shown is None else shown
    if shown >= listed.total:
        return ""
    return f"Shown are the {which} {shown:,} of {listed.total:,} {what}. {all_in(rest)}"


def all_in(rest: str) -> str:
    """Returns where everything is: a view or macro of `kraftctl-export macros`."""
    return f"All: {rest} in spark/QUESTIONS.md."
