"""The quorum of controllers: its leaders with their epochs, and its voters (KIP-595, KIP-853)."""

from __future__ import annotations

from kraftctl_spark.report.clauses import text_of
from kraftctl_spark.report.contents import Listed, QuorumLeader, VoterChange
from kraftctl_spark.report.queries.query import Query

EPOCHS_MAX = 1_000
VOTER_CHANGES_MAX = 50


def leaders(query: Query) -> Listed[QuorumLeader]:
    """Lists leaders; there are several versions of an epoch where its voters change."""
    within = query.within
    epochs = """
        SELECT leader_id, leader_epoch AS log_epoch, arg_min(one, one.valid_from_offset) AS first,
               arg_max(one, one.valid_from_offset) AS last
        FROM quorum one WHERE leader_id IS NOT NULL GROUP BY leader_id, leader_epoch"""
    return query.db.listed(
        QuorumLeader,
        f"""SELECT leader_id, log_epoch, {within.start_ms} AS start_ms, {within.drawn_end_ms} AS end_ms
            FROM (SELECT leader_id, log_epoch, first.valid_from_time AS valid_from_time,
                         last.valid_to_offset AS valid_to_offset, last.valid_to_time AS valid_to_time
                  FROM ({epochs}))
            WHERE {within.overlap}""",
        "log_epoch DESC",
        EPOCHS_MAX,
    )


def voters(query: Query) -> Listed[VoterChange]:
    """Lists changes of voters; those that a snapshot repeats are no change."""
    changes = """
        SELECT *, lag({column}) OVER (ORDER BY valid_from_offset) AS previous FROM quorum
        WHERE {condition}"""
    parts = [
        f"""SELECT epoch_ms(valid_from_time) AS time_ms, valid_from_offset AS "offset", '{change}' AS change,
                   {shown} AS value
            FROM ({changes.format(column=column, condition=condition)})
            WHERE {column} IS DISTINCT FROM previous AND {query.within.during("valid_from_time")}"""
        for change, column, condition, shown in (
            ("voters", "voters", "len(voters) > 0", text_of("voters")),
            ("kraft.version", "kraft_version", "kraft_version IS NOT NULL", "CAST(kraft_version AS VARCHAR)"),
        )
    ]
    return query.db.listed(VoterChange, " UNION ALL ".join(parts), '"offset" DESC, change', VOTER_CHANGES_MAX)
