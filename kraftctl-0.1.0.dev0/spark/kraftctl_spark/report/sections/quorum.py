"""The section about controllers that led the quorum, and those that were voters."""

from __future__ import annotations

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.period import shown_duration, shown_time
from kraftctl_spark.report.section import Section, Table, cut

TABLE_ROWS_MAX = 50


def quorum(contents: Contents) -> Section:
    leaders, voters = contents.quorum_leaders, contents.voter_changes
    section = Section(
        "quorum",
        "The quorum of controllers",
        "Which controller was the leader of the metadata log, as the log's own records say; each one begins "
        "an epoch. Its row of the timeline shows when.",
    )
    if not leaders.rows and not voters.rows:
        return section
    ids = {row.leader_id for row in leaders.rows}
    shown = leaders.rows[:TABLE_ROWS_MAX]
    epochs = Table(
        "Leaders, latest first",
        ("controller", "epoch", "from (UTC)", "to (UTC)", "for"),
        tuple(
            (
                str(row.leader_id),
                str(row.log_epoch),
                shown_time(row.start_ms),
                shown_time(row.end_ms),
                shown_duration(row.end_ms - row.start_ms),
            )
            for row in shown
        ),
        cut(leaders, "latest", "epochs", "quorum_changes", len(shown)),
    )
    changes = Table(
        "Voters and kraft.version, latest first",
        ("time (UTC)", "offset", "what", "became"),
        tuple((shown_time(row.time_ms), str(row.offset), row.change, row.value) for row in voters.rows),
        cut(voters, "latest", "changes of the voters", "quorum_changes"),
    )
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{counted(leaders.total, 'epoch')}"
        f"{', the latest of them' if leaders.cut else ''} led by {counted(len(ids), 'controller')}.",
        tables=(epochs, changes),
    )
