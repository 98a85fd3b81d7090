"""When each broker was fenced."""

from __future__ import annotations

from typing import Any

from kraftctl_spark.report.contents import BrokerState, Contents
from kraftctl_spark.report.period import shown_duration, shown_time
from kraftctl_spark.report.section import (
    ORANGE,
    PALE,
    VERMILLION,
    Plot,
    Section,
    Table,
    counted,
    cut_note,
    figure,
    row_axis,
    rows_height,
    spans,
    time_axis,
)

COLORS = {"unfenced": PALE, "controlled shutdown": ORANGE, "fenced": VERMILLION}


def fencing(contents: Contents) -> Section:
    states = contents.fencing
    section = Section(
        "fencing",
        "Fencing of brokers",
        "A fenced broker leads no partition and is in no ISR. A broker is fenced from its registration until "
        "it has caught up, when it sent no heartbeat for broker.session.timeout.ms, and after it shut down.",
    )
    if not states.rows:
        return section
    brokers = sorted({state.broker_id for state in states.rows})
    labels = [f"broker {broker_id}" for broker_id in brokers]
    traces = [_trace(name, brokers, states.rows, contents.period.end_ms) for name in COLORS]
    made = figure(
        traces,
        rows_height(len(brokers), 34),
        barmode="overlay",
        xaxis=time_axis(contents.period),
        yaxis=row_axis(labels),
    )
    fenced = contents.fenced_brokers
    return Section(
        section.name,
        section.title,
        section.explanation,
        _summary(contents),
        (Plot("State of each broker over time", made),),
        (
            Table(
                "Fenced brokers",
                ("broker", "times fenced", "fenced in all", "controlled shutdowns"),
                tuple(
                    (
                        str(row.broker_id),
                        f"{row.fenced:,}",
                        shown_duration(row.fenced_ms),
                        f"{row.shutdowns:,}",
                    )
                    for row in fenced.rows
                ),
            ),
        ),
        (*cut_note(states, "longest", "intervals"), *cut_note(fenced, "first", "brokers")),
    )


def _trace(name: str, brokers: list[int], states: tuple[BrokerState, ...], end_ms: int) -> Any:
    mine = [state for state in states if state.state == name]
    color = COLORS[name]
    return spans(
        [brokers.index(state.broker_id) for state in mine],
        [state.start_ms for state in mine],
        [state.end_ms for state in mine],
        [_text(state) for state in mine],
        name=name,
        marker={"color": color, "line": {"color": color, "width": 0 if color == PALE else 1.5}},
    )


def _text(state: BrokerState) -> str:
    end = (
        "still so at the end"
        if state.ended_by == "end"
        else f"to {shown_time(state.end_ms)} ({state.ended_by})"
    )
    return (
        f"<b>broker {state.broker_id}: {state.state}</b>"
        f"<br>from {shown_time(state.start_ms)} ({state.started_by})"
        f"<br>{end}<br>{shown_duration(state.end_ms - state.start_ms)}"
    )


def _summary(contents: Contents) -> str:
    fenced = contents.fenced_brokers.rows
    times = sum(row.fenced for row in fenced)
    if not times:
        return "No broker was fenced in this period."
    worst = max(fenced, key=lambda row: row.fenced_ms)
    return (
        f"{counted(len([row for row in fenced if row.fenced]), 'broker was', 'brokers were')} fenced, "
        f"{counted(times, 'time')} in all; longest in all was broker {worst.broker_id} "
        f"({shown_duration(worst.fenced_ms)})."
    )
