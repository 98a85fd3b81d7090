"""Turns the response to DescribeQuorum into what explanations use: ages on the clock of the leader."""

from __future__ import annotations

from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl.explain.evidence import LeaderView, ReplicaFetch


def leader_view_of(quorum: QuorumInfo, uncommitted_ms: int = 0) -> LeaderView:
    """Returns the view; the newest time in it, which is the leader's own, counts as now."""
    # A voter whose disk was replaced is an observer with the same id, too.
    replicas = (*quorum.observers, *quorum.voters)
    now_ms = max((each.last_fetch_ms or 0 for each in replicas), default=0)
    voter_ids = {each.replica_id for each in quorum.voters}
    return LeaderView(
        quorum.leader_id,
        quorum.leader_epoch,
        quorum.high_watermark,
        {each.replica_id: _fetch(each, now_ms, each.replica_id in voter_ids) for each in replicas},
        frozenset(voter_ids & {each.replica_id for each in quorum.observers}),
        quorum.log_end_offset,
        uncommitted_ms,
    )


def _fetch(replica: QuorumReplica, now_ms: int, is_voter: bool) -> ReplicaFetch:
    return ReplicaFetch(
        replica_id=replica.replica_id,
        directory_id=replica.directory_id,
        is_voter=is_voter,
        log_end_offset=replica.log_end_offset,
        fetch_age_ms=_age(replica.last_fetch_ms, now_ms),
        caught_up_age_ms=_age(replica.last_caught_up_ms, now_ms),
    )


def _age(at_ms: int | None, now_ms: int) -> int | None:
    return None if at_ms is None else max(0, now_ms - at_ms)
