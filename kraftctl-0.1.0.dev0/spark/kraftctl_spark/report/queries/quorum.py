"""The quorum of controllers: its leaders with their epochs, and its voters (KIP-595, KIP-853)."""

from __future__ import annotations

from kraftctl_spark.report.clauses import text_of
from kraftctl_spark.report.contents import Listed, QuorumLeader, VoterChange
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.query import Query

EPOCHS_MAX = 1_000
VOTER_CHANGES_MAX = 50


def leaders(query: Query) -> Listed[QuorumLeader]:
    within = query.within
    return query.db.listed(
        QuorumLeader,
        f"""SELECT leader_id, leader_epoch AS log_epoch, {within.start_ms} AS start_ms,
                   {within.drawn_end_ms} AS end_ms
            FROM (SELECT leader_id, leader_epoch, time AS valid_from_time, end_offset AS valid_to_offset,
                         end_time AS valid_to_time
                  FROM {answer("quorum_changes")} WHERE change = 'leader')
            WHERE {within.overlap}""",
        "log_epoch DESC",
        EPOCHS_MAX,
    )


def voters(query: Query) -> Listed[VoterChange]:
    return query.db.listed(
        VoterChange,
        f"""SELECT epoch_ms(time) AS time_ms, "offset", change,
                   coalesce({text_of("voters")}, CAST(kraft_version AS VARCHAR)) AS value
            FROM {answer("quorum_changes")}
            WHERE change <> 'leader' AND {query.within.during("time")}""",
        '"offset" DESC, change',
        VOTER_CHANGES_MAX,
    )
