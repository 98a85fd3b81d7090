"""The states of brokers as bars on the timeline, with what is not known of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from kraftctl_spark.report.contents import BrokerState, Contents, Gap
from kraftctl_spark.report.period import Period, shown_duration, shown_time
from kraftctl_spark.report.section import GREY, LIGHT_GREY, ORANGE, PALE, VERMILLION, YELLOW, spans

NOT_SHOWN = "too short to be listed"
NOT_KNOWN = "not in the exported log"
COLORS = {
    "unfenced": PALE,
    "controlled shutdown": ORANGE,
    "stopped": YELLOW,
    "fenced": VERMILLION,
    NOT_SHOWN: LIGHT_GREY,
    NOT_KNOWN: GREY,
}
"""The colors of states; where there is none, a broker is not registered."""


def state_bars(contents: Contents, rows: Mapping[int, int]) -> list[Any]:
    """Returns a trace for each state; `rows` is the row of each broker."""
    states = contents.fencing.rows
    drawn = (*states, *blanks(states, contents.period, contents.gaps_of("brokers")))
    return [_trace(name, rows, drawn) for name in COLORS]


def blanks(states: tuple[BrokerState, ...], period: Period, gaps: tuple[Gap, ...]) -> list[BrokerState]:
    """Returns bars where a registered broker has no listed state: the list was cut, or the log has a gap."""
    by_broker: dict[int, list[BrokerState | None]] = {}
    for state in sorted(states, key=lambda one: (one.start_ms, one.end_ms)):
        by_broker.setdefault(state.broker_id, [None]).append(state)
    return [
        BrokerState(broker_id, kind, start_ms, end_ms, "", "")
        for broker_id, listed in by_broker.items()
        for before, after in pairwise([*listed, None])
        for kind, start_ms, end_ms in _between(before, after, period, gaps)
        if start_ms < end_ms
    ]


def _between(
    before: BrokerState | None, after: BrokerState | None, period: Period, gaps: tuple[Gap, ...]
) -> list[tuple[str, int, int]]:
    """Returns the bar between two neighbours in the list; none where the broker is known not to be
    registered.
    """
    start_ms = period.start_ms if before is None else before.end_ms
    end_ms = period.end_ms if after is None else after.start_ms
    ended_by = before.ended_by if before is not None else ""
    started_by = after.started_by if after is not None else ""
    unknown = [
        (NOT_KNOWN, max(start_ms, gap.start_ms), min(end_ms, gap.end_ms))
        for gap in gaps
        if (ended_by == "gap" or started_by == "snapshot") and gap.start_ms < end_ms and gap.end_ms > start_ms
    ]
    followed, preceded = ended_by in ("changed", "registered"), started_by == "changed"
    if not unknown:
        return [(NOT_SHOWN, start_ms, end_ms)] if followed or preceded else []
    return [
        *([(NOT_SHOWN, start_ms, unknown[0][1])] if followed else []),
        *unknown,
        *([(NOT_SHOWN, unknown[-1][2], end_ms)] if preceded else []),
    ]


def _trace(name: str, rows: Mapping[int, int], states: tuple[BrokerState, ...]) -> Any:
    mine = [state for state in states if state.state == name]
    color = COLORS[name]
    return spans(
        [rows[state.broker_id] for state in mine],
        [state.start_ms for state in mine],
        [state.end_ms for state in mine],
        [_text(state) for state in mine],
        name=name,
        marker={"color": color, "line": {"color": color, "width": 0 if color == PALE else 1.5}},
    )


def _text(state: BrokerState) -> str:
    if state.state in (NOT_SHOWN, NOT_KNOWN):
        return (
            f"<b>broker {state.broker_id}: {state.state}</b>"
            f"<br>from {shown_time(state.start_ms)} to {shown_time(state.end_ms)}"
        )
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
