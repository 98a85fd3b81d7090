"""Elections of partition leaders, over time and per broker."""

from __future__ import annotations

from collections import Counter

import plotly.graph_objects as go

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import OTHERS, Contents
from kraftctl_spark.report.period import shown_time
from kraftctl_spark.report.section import (
    BLUE,
    GREEN,
    SURFACE,
    VERMILLION,
    Plot,
    Section,
    Table,
    all_in,
    bucket_bars,
    count_axis,
    cut,
    figure,
    label,
    row_axis,
    rows_height,
    time_figure,
)

KINDS = {
    "clean": ("clean", BLUE, ""),
    "elr": ("from ELR", GREEN, "."),
    "unclean": ("unclean", VERMILLION, "/"),
}
"""The name, the color, and a pattern, so that kinds are distinguishable in black and white."""


def elections(contents: Contents) -> Section:
    unclean = contents.unclean_elections
    section = Section(
        "elections",
        "Elections of partition leaders",
        "A clean election makes a member of the ISR leader. One from the ELR takes an eligible leader "
        "replica (KIP-966). After an unclean one, records may be missing. A new partition's first "
        "leader is not elected.",
    )
    if not contents.elections:
        return section
    return Section(
        section.name,
        section.title,
        section.explanation,
        _summary(contents),
        (
            Plot("Elections over time", _over_time(contents)),
            Plot("Elections per broker", _per_broker(contents)),
        ),
        (
            Table(
                "Unclean elections",
                ("time (UTC)", "offset", "partition", "leader before", "leader after"),
                tuple(
                    (
                        shown_time(row.time_ms),
                        str(row.offset),
                        row.partition,
                        "none" if row.old_leader == -1 else str(row.old_leader),
                        str(row.new_leader),
                    )
                    for row in unclean.rows
                ),
                cut(unclean, "latest", "unclean elections", "elections"),
            ),
        )
        if unclean.rows
        else (),
        _others_note(contents),
    )


def _others_note(contents: Contents) -> tuple[str, ...]:
    brokers = {row.broker for row in contents.broker_elections}
    if OTHERS not in brokers:
        return ()
    listed = len(brokers) - 1
    note = f"The {listed} brokers that were elected most often have a row; others is the sum of all others."
    return (f"{note} {all_in('elections_per_broker')}",)


def _over_time(contents: Contents) -> go.Figure:
    traces = []
    in_all: Counter[int] = Counter()
    for kind, (name, color, pattern) in KINDS.items():
        counts: Counter[int] = Counter()
        for row in contents.elections:
            if row.kind == kind:
                counts[row.bucket_ms] += row.elections
        in_all.update(counts)
        bars = bucket_bars(contents.period, counts, name, color, "elections", showlegend=True)
        bars.marker.pattern = _pattern(pattern)
        traces.append(bars)
    axis = count_axis("elections", max(in_all.values()))
    return time_figure(contents, traces, 300, "partitions", barmode="stack", yaxis=axis)


def _per_broker(contents: Contents) -> go.Figure:
    rows = contents.broker_elections
    brokers = list(dict.fromkeys(row.broker for row in rows))
    elected: Counter[str] = Counter()
    for row in rows:
        elected[row.broker] += row.elections
    traces = []
    for kind, (name, color, pattern) in KINDS.items():
        mine = [row for row in rows if row.kind == kind]
        traces.append(
            go.Bar(
                orientation="h",
                y=[brokers.index(row.broker) for row in mine],
                x=[row.elections for row in mine],
                name=name,
                showlegend=True,
                width=0.66,
                marker={"color": color, "pattern": _pattern(pattern)},
                customdata=[label(row.broker) for row in mine],
                hovertemplate=f"%{{customdata}}: elected %{{x:,}} times, {name}<extra></extra>",
            )
        )
    return figure(
        traces,
        rows_height(len(brokers)),
        barmode="stack",
        xaxis=count_axis("times elected", max(elected.values(), default=0)),
        yaxis=row_axis(brokers),
    )


def _pattern(shape: str) -> dict[str, object]:
    return {"shape": shape, "fgcolor": SURFACE, "fillmode": "overlay", "size": 6, "solidity": 0.25}


def _summary(contents: Contents) -> str:
    kinds: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    for row in contents.elections:
        kinds[row.kind] += row.elections
        causes[row.cause] += row.elections
    why = ", ".join(
        f"{cause} {count:,}" for cause, count in sorted(causes.items(), key=lambda item: (-item[1], item[0]))
    )
    return (
        f"{counted(kinds.total(), 'election')}: {kinds['clean']:,} clean, {kinds['elr']:,} from the ELR, "
        f"{kinds['unclean']:,} unclean. Why: {why}."
    )
