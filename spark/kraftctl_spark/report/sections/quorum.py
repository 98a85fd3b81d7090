"""Which controllers led the quorum, and which ones were voters."""

from __future__ import annotations

import plotly.graph_objects as go

from kraftctl_spark.report.contents import Contents, QuorumLeader
from kraftctl_spark.report.period import shown_duration, shown_time
from kraftctl_spark.report.section import (
    BLUE,
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


def quorum(contents: Contents) -> Section:
    leaders, voters = contents.quorum_leaders, contents.voter_changes
    section = Section(
        "quorum",
        "The quorum of controllers",
        "Which controller was the leader of the metadata log, as the log's own records say; each one begins "
        "an epoch.",
    )
    if not leaders.rows and not voters.rows:
        return section
    ids = {row.leader_id for row in leaders.rows}
    table = Table(
        "Voters and kraft.version",
        ("time (UTC)", "offset", "what", "became"),
        tuple((shown_time(row.time_ms), str(row.offset), row.change, row.value) for row in voters.rows),
    )
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counted(len(ids), 'controller')} led the quorum in {counted(leaders.total, 'epoch')}.",
        (Plot("Leader of the quorum over time", _timeline(contents)),) if leaders.rows else (),
        (table,) if voters.rows else (),
        (*cut_note(leaders, "latest", "epochs"), *cut_note(voters, "latest", "changes of the voters")),
    )


def _timeline(contents: Contents) -> go.Figure:
    rows = contents.quorum_leaders.rows
    ids = sorted({row.leader_id for row in rows})
    trace = spans(
        [ids.index(row.leader_id) for row in rows],
        [row.start_ms for row in rows],
        [row.end_ms for row in rows],
        [_text(row) for row in rows],
        name="leader",
        marker={"color": BLUE, "line": {"color": "white", "width": 1}},
    )
    names = [f"controller {leader_id}" for leader_id in ids]
    return figure(
        [trace],
        rows_height(len(ids), 34),
        xaxis=time_axis(contents.period),
        yaxis=row_axis(names),
        showlegend=False,
    )


def _text(row: QuorumLeader) -> str:
    return (
        f"<b>controller {row.leader_id}</b>, epoch {row.log_epoch}<br>{shown_time(row.start_ms)} to "
        f"{shown_time(row.end_ms)}<br>{shown_duration(row.end_ms - row.start_ms)}"
    )
