"""Explains the quorum: that it has no leader, which voters lag or are silent, and how many it may lose."""

from __future__ import annotations

from kraftctl.explain.as_of import ASSUME, NOTHING_COMMITTED
from kraftctl.explain.evidence import SILENT_MS, ClusterEvidence, LeaderView, NoLeaderView, ReplicaFetch
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation
from kraftctl.explain.mark import age_text
from kraftctl.explain.voter_lag import lag_text, lags, stall_text, step_for_lag
from kraftctl.explain.why_controller import REPLACE_VOTER
from kraftctl_protocol.counted_text import counted, one_or_many
from kraftctl_protocol.metadata_topic import NAME_CONTROLLERS

SUBJECT = "quorum"


def explain_no_leader(view: NoLeaderView) -> Explanation:
    """Explains a quorum of which no controller that was asked is, or names, a leader that answers.

    Only a leader names the voters, so how many are a majority is not known. Another leader may be where
    this command does not reach it.
    """
    asked = one_or_many(view.asked_count, "controller that was asked", "controllers that were asked")
    count = f"{view.reached_count} of the {view.asked_count} {asked}"
    verb = one_or_many(view.reached_count or view.asked_count, "is", "are")
    leader_id = view.unreached_leader_id
    if view.asked_count == 0:
        text = "only brokers were asked: whether a controller leads is not known"
        step = NAME_CONTROLLERS
    elif view.reached_count == 0:
        text = f"{count} {verb} reached: whether one leads is not known"
        step = "start the controllers, or check the addresses and what lies between"
    elif leader_id is not None:
        text = f"{count} {verb} reached; controller {leader_id}, which is named as the leader, is not"
        step = f"start controller {leader_id}, or run this where it is reached"
    elif view.reached_count < view.asked_count:
        text = f"{count} {verb} reached; the voters, and so how many are a majority, are not known"
        step = "start the controllers that are not reached"
    else:
        text = f"{count} {verb} reached, and none leads or reaches a leader"
        step = "see the log of each controller, which says why it elects no leader"
    statement = ExplainedCause("The quorum has no leader that answers")
    is_known = view.reached_count > 0 and leader_id is None
    return Explanation(SUBJECT, statement, [ExplainedCause(text)], view.lines, step, is_known=is_known)


def explain_quorum(evidence: ClusterEvidence) -> Explanation:
    """Explains the quorum as its leader sees it, or as the log has it when no leader was asked."""
    quorum = evidence.quorum
    if quorum is None:
        return _from_log(evidence)
    voters = [each for each in quorum.replicas.values() if each.is_voter]
    followers = [each for each in voters if each.replica_id != quorum.leader_id]
    silent = [each for each in followers if each.fetch_age_ms is None or each.fetch_age_ms > SILENT_MS]
    lagging = [each for each in followers if each not in silent and lags(each)]
    facts = _facts(quorum, voters)
    leader = f"controller {quorum.leader_id} leads epoch {quorum.leader_epoch}"
    since = evidence.log.leader_mark if evidence.log.leader_id == quorum.leader_id else None
    count = counted(len(voters), "voter")
    stall = stall_text(
        quorum.leader_id,
        end_offset=quorum.log_end_offset,
        high_watermark=quorum.high_watermark,
        uncommitted_ms=quorum.uncommitted_ms,
    )
    if stall is not None and not silent and not lagging:
        statement = ExplainedCause("Nothing is committed")
        step = step_for_lag(quorum.leader_id)
        return Explanation(SUBJECT, statement, [ExplainedCause(stall)], [leader, *facts], step)
    if not silent and not lagging:
        all_are = one_or_many(len(voters), "its only voter is", f"all {count} are")
        text = f"{HEALTHY}: {leader}, and {all_are} caught up; it leads"
        return Explanation(SUBJECT, ExplainedCause(text, since), facts=facts, is_healthy=True)
    running = len(voters) - len(silent)
    needed = len(voters) // 2 + 1
    may_lose = max(0, running - needed)
    causes = [ExplainedCause(_silent_text(quorum, each)) for each in silent]
    causes += [ExplainedCause(lag_text(quorum, each)) for each in lagging]
    causes += [] if stall is None else [ExplainedCause(stall)]
    statement = ExplainedCause(
        f"{running} of {count} {one_or_many(running, 'fetches', 'fetch')}, and {may_lose} more may be lost"
        if silent
        else f"{len(lagging)} of {count} {one_or_many(len(lagging), 'lags', 'lag')}"
    )
    first = (silent or lagging)[0].replica_id
    step = f"start controller {first}; its log says why it does not reach controller {quorum.leader_id}"
    if first in quorum.returned_ids:
        step = REPLACE_VOTER
    if not silent:
        step = step_for_lag(first)
    return Explanation(SUBJECT, statement, causes, [leader, *facts], step)


def _from_log(evidence: ClusterEvidence) -> Explanation:
    log = evidence.log
    kind = "dynamic" if log.has_dynamic_voters else "static"
    if log.end_offset == 0:
        return Explanation(SUBJECT, ExplainedCause(NOTHING_COMMITTED), next_step=ASSUME, is_known=False)
    text = f"The log has controller {log.leader_id} as the leader of epoch {log.leader_epoch}"
    if log.leader_id < 0:
        text = "The log names no leader"
    committed = "assumed committed" if log.is_assumed else "committed"
    facts = [
        f"voters: {sorted(log.voters)} ({kind}); {committed} up to offset {log.end_offset}",
        "only the leader knows which voters lag: ask with --bootstrap-controllers",
    ]
    return Explanation(SUBJECT, ExplainedCause(text, log.leader_mark), facts=facts, is_known=False)


def _silent_text(quorum: LeaderView, replica: ReplicaFetch) -> str:
    if replica.replica_id in quorum.returned_ids:
        return f"voter {replica.replica_id} fetches with another directory, which is no voter"
    if replica.fetch_age_ms is None:
        return f"voter {replica.replica_id} has not fetched under this leader"
    return f"voter {replica.replica_id} has not fetched for {age_text(replica.fetch_age_ms)}"


def _facts(quorum: LeaderView, voters: list[ReplicaFetch]) -> list[str]:
    ids = sorted(each.replica_id for each in voters)
    observers = sorted(each.replica_id for each in quorum.replicas.values() if not each.is_voter)
    return [f"voters {ids}, observers {observers}; committed up to offset {quorum.high_watermark}"]
