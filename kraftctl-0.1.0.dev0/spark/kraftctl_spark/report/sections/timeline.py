"""Everything that happened on one axis of time: events, leaders of the quorum, states of brokers."""

from __future__ import annotations

from math import log1p
from typing import Any

import plotly.graph_objects as go

from kraftctl_spark.report.contents import Contents, QuorumLeader, TimelineMark
from kraftctl_spark.report.period import plot_time, shown_duration, shown_time
from kraftctl_spark.report.section import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    SURFACE,
    VERMILLION,
    Plot,
    Section,
    all_in,
    cut,
    row_axis,
    shortened,
    spans,
    time_figure,
)
from kraftctl_spark.report.sections.broker_states import state_bars

LOOKS = {
    "unclean elections": (VERMILLION, "x"),
    "leader lost": (VERMILLION, "circle"),
    "elections": (BLUE, "circle"),
    "ISR shrinks": (ORANGE, "triangle-down"),
    "reassignments": (PURPLE, "diamond"),
    "topics": (GREEN, "square"),
    "registrations": (GREY, "circle"),
    "configurations": (SKY, "circle"),
    "ACLs": (PURPLE, "square"),
    "quotas": (GREEN, "diamond"),
    "SCRAM and tokens": (ORANGE, "square"),
    "features": (BLUE, "star"),
}
"""The color and symbol of the marks of a row, in the order of the rows."""

LEADER = "quorum leader"
LEADER_COLORS = (BLUE, GREEN, PURPLE, SKY, ORANGE)
ROW_HEIGHT = 26
FAINTEST = 0.2


def timeline(contents: Contents) -> Section:
    section = Section(
        "timeline",
        "Timeline",
        "Drag to zoom in: every plot of this page shows the same time. Point at a mark or a bar for details. "
        "A broker without a bar is not registered; a leader of the quorum without one is not known: a "
        "snapshot does not name it. Grey bands are not in the exported log.",
    )
    rows = _rows(contents)
    if not rows:
        return section
    return Section(
        section.name,
        section.title,
        section.explanation,
        _summary(contents),
        (Plot("Events, leaders of the quorum and states of brokers", _figure(contents, rows)),),
        notes=_notes(contents),
    )


def _rows(contents: Contents) -> list[str]:
    found = {mark.row for mark in contents.timeline}
    leader = [LEADER] if contents.quorum_leaders.rows else []
    return [*(row for row in LOOKS if row in found), *leader, *map(_broker, _brokers(contents))]


def _brokers(contents: Contents) -> list[int]:
    return sorted({state.broker_id for state in contents.fencing.rows})


def _broker(broker_id: int) -> str:
    return f"broker {broker_id}"


def _figure(contents: Contents, rows: list[str]) -> go.Figure:
    places = {row: place for place, row in enumerate(rows)}
    traces: list[Any] = []
    for row, place in places.items():
        if row in LOOKS:
            marks = [mark for mark in contents.timeline if mark.row == row]
            traces.append(_sums(row, place, marks) if _is_summed(marks) else _moments(row, place, marks))
    if LEADER in places:
        traces += _leaders(contents.quorum_leaders.rows, places[LEADER])
    brokers = _brokers(contents)
    if brokers:
        traces += state_bars(contents, {broker_id: places[_broker(broker_id)] for broker_id in brokers})
    return time_figure(
        contents,
        traces,
        130 + ROW_HEIGHT * max(len(rows), 3),
        barmode="overlay",
        yaxis=row_axis(rows),
        hovermode="closest",
    )


def _is_summed(marks: list[TimelineMark]) -> bool:
    return any(mark.end_ms > mark.start_ms for mark in marks)


def _sums(row: str, place: int, marks: list[TimelineMark]) -> Any:
    """Draws a strip, stronger where there are more events."""
    most = log1p(max(mark.events for mark in marks))
    color, _ = LOOKS[row]
    return spans(
        [place] * len(marks),
        [mark.start_ms for mark in marks],
        [mark.end_ms for mark in marks],
        [_text(mark) for mark in marks],
        name=row,
        showlegend=False,
        marker={
            "color": color,
            "opacity": [round(FAINTEST + (1 - FAINTEST) * log1p(mark.events) / most, 2) for mark in marks],
            "line": {"width": 0},
        },
    )


def _moments(row: str, place: int, marks: list[TimelineMark]) -> Any:
    color, symbol = LOOKS[row]
    return go.Scatter(
        mode="markers",
        x=[plot_time(mark.start_ms) for mark in marks],
        y=[place] * len(marks),
        name=row,
        showlegend=False,
        marker={
            "color": color,
            "symbol": symbol,
            "size": 11,
            "opacity": 0.8,
            "line": {"color": SURFACE, "width": 0.5},
        },
        customdata=[_text(mark) for mark in marks],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _text(mark: TimelineMark) -> str:
    when = shown_time(mark.start_ms)
    if mark.end_ms > mark.start_ms:
        when += f" to {shown_time(mark.end_ms)}"
    head = f"<b>{mark.row}</b>, {when}"
    more = mark.events - len(mark.texts)
    left_out = [f"and {more:,} more"] if more > 0 else []
    return "<br>".join([head, *(shortened(text) for text in mark.texts), *left_out])


def _leaders(leaders: tuple[QuorumLeader, ...], place: int) -> list[Any]:
    """Draws one trace per controller, so that each has its color."""
    ids = sorted({leader.leader_id for leader in leaders})
    traces = []
    for number, leader_id in enumerate(ids):
        mine = [leader for leader in leaders if leader.leader_id == leader_id]
        traces.append(
            spans(
                [place] * len(mine),
                [leader.start_ms for leader in mine],
                [leader.end_ms for leader in mine],
                [_leader_text(leader) for leader in mine],
                name=f"controller {leader_id} leads",
                marker={
                    "color": LEADER_COLORS[number % len(LEADER_COLORS)],
                    "line": {"color": SURFACE, "width": 1},
                },
            )
        )
    return traces


def _leader_text(leader: QuorumLeader) -> str:
    return (
        f"<b>controller {leader.leader_id} led the quorum</b>, epoch {leader.log_epoch}<br>"
        f"{shown_time(leader.start_ms)} to {shown_time(leader.end_ms)}<br>"
        f"{shown_duration(leader.end_ms - leader.start_ms)}"
    )


def _summary(contents: Contents) -> str:
    counts = {row: sum(mark.events for mark in contents.timeline if mark.row == row) for row in LOOKS}
    happened = ", ".join(f"{row} {count:,}" for row, count in counts.items() if count)
    quiet = ", ".join(row for row, count in counts.items() if not count)
    return f"Events: {happened or 'none'}." + (f" None: {quiet}." if quiet and happened else "")


def _notes(contents: Contents) -> tuple[str, ...]:
    summed = {mark.row for mark in contents.timeline if mark.end_ms > mark.start_ms}
    rows = ", ".join(row for row in LOOKS if row in summed)
    width = shown_duration(contents.period.fine_bucket_ms)
    note = (
        f"Each part of the rows {rows} is the sum of {width}, stronger "
        "for more events; each mark of other rows is a moment. A mark lists its first events. "
        f"{all_in('incident(from, until)')}"
    )
    return (
        *((note,) if summed else ()),
        *filter(
            None,
            (
                cut(contents.fenced_brokers, "first", "brokers, fenced longest", "fencing_timeline"),
                cut(contents.fencing, "longest", "states of these brokers", "fencing_timeline"),
                cut(contents.quorum_leaders, "latest", "epochs of the quorum", "quorum_changes"),
            ),
        ),
    )
