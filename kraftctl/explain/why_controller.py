"""Explains a controller: a voter that lags or is silent, an observer, or a ghost that limits the cluster.

A ghost is registered, and neither a voter nor running: what it supports limits all upgrades (KIP-1312).
"""

from __future__ import annotations

from kraftctl.explain.evidence import SILENT_MS, ClusterEvidence
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation, UnknownSubjectError
from kraftctl.explain.mark import age_text
from kraftctl.explain.voter_lag import lag_text, lags, stall_text, step_for_lag
from kraftctl.metadata import features

REPLACE_VOTER = (
    "mount the directory that it had, if it is there. If it is lost: kraftctl quorum --command-config FILE"
    " replace-voter, with the properties file of that controller"
)

ASK_LEADER = "ask with --bootstrap-controllers, with the right DESCRIBE on the cluster, whether it runs"


def is_running(evidence: ClusterEvidence, controller_id: int) -> bool | None:
    """Returns whether a controller fetches from the leader, or leads; None if no leader was asked."""
    quorum = evidence.quorum
    if quorum is None:
        return None
    if controller_id == quorum.leader_id:
        return True
    fetch = evidence.fetch_of(controller_id)
    return fetch is not None and fetch.fetch_age_ms is not None and fetch.fetch_age_ms <= SILENT_MS


def is_ghost(evidence: ClusterEvidence, controller_id: int) -> bool:
    """Returns whether a registered controller is no voter and, as far as known, does not run."""
    voters = evidence.voters
    return bool(voters) and controller_id not in voters and not is_running(evidence, controller_id)


def step_for_ghost(evidence: ClusterEvidence, controller_id: int) -> str:
    """Returns how to remove a ghost; while it may be an observer that runs, how to find that out."""
    return ASK_LEADER if evidence.quorum is None else removal_of_ghost(evidence, controller_id)


def removal_of_ghost(evidence: ClusterEvidence, controller_id: int) -> str:
    """Returns the command that removes the registration, or how to come to a level that has it."""
    level = evidence.image.features.metadata_version
    command = f"kafka-cluster unregister-controller --id {controller_id}"
    if features.is_controller_unregistration_supported(level):
        return f"if it is gone for good, {command}"
    name = features.metadata_version_name(level)
    cost = features.cost_of_raising(features.METADATA_VERSION, level, features.CONTROLLER_UNREGISTRATION)
    return (
        f"metadata.version {name} cannot unregister controllers: start a controller of Kafka 4.4 or kraftctl"
        f" with node.id {controller_id} once, which registers again, raise metadata.version to"
        f" 4.4-IV2 ({cost}), stop it, then {command}"
    )


def explain_controller(evidence: ClusterEvidence, controller_id: int) -> Explanation:
    """Explains a controller. Raises UnknownSubjectError for one that the log does not know."""
    marks, voters = evidence.log.marks, evidence.voters
    subject, name = f"controller {controller_id}", f"Controller {controller_id}"
    is_registered = controller_id in evidence.image.cluster.controllers
    unregistered = marks.unregistered_controllers.get(controller_id)
    if not is_registered and controller_id not in voters and unregistered is None:
        known = ", ".join(str(each) for each in sorted(evidence.image.cluster.controllers)) or "none"
        raise UnknownSubjectError(
            f"controller {controller_id} is neither registered nor a voter: registered are {known},"
            f" voters are {voters or 'not known'}"
        )
    facts = _facts(evidence, controller_id)
    if not is_registered and controller_id not in voters:
        statement = ExplainedCause(f"{HEALTHY}: controller {controller_id} is unregistered", unregistered)
        return Explanation(subject, statement, facts=facts, is_healthy=True)
    since = marks.controllers.get(controller_id)
    if controller_id in voters:
        return _explain_voter(evidence, controller_id, facts)
    if is_ghost(evidence, controller_id):
        is_known = evidence.quorum is not None
        text = f"{name} is a ghost" if is_known else f"{name} may be a ghost"
        why = "it is registered, and is no voter"
        causes = [ExplainedCause(why, since)]
        if is_known:
            causes.append(ExplainedCause("it does not fetch from the leader, so it does not run"))
        else:
            facts.append("only the leader knows whether it runs as an observer")
        step = step_for_ghost(evidence, controller_id)
        return Explanation(subject, ExplainedCause(text), causes, facts, step, is_known=is_known)
    if not voters:
        text = f"Controller {controller_id} is registered, and the voters are not known; registered"
        step = "ask the leader, with --bootstrap-controllers"
        return Explanation(subject, ExplainedCause(text, since), facts=facts, next_step=step, is_known=False)
    statement = ExplainedCause(
        f"{HEALTHY}: controller {controller_id} runs, is registered and is no voter", since
    )
    return Explanation(subject, statement, facts=facts, is_healthy=True)


def _explain_voter(evidence: ClusterEvidence, controller_id: int, facts: list[str]) -> Explanation:
    subject, name = f"controller {controller_id}", f"Controller {controller_id}"
    since = evidence.log.marks.controllers.get(controller_id)
    if is_running(evidence, controller_id) is False:
        fetch = evidence.fetch_of(controller_id)
        age = None if fetch is None else fetch.fetch_age_ms
        seen = (
            "it has not fetched under this leader"
            if age is None
            else f"its last fetch was {age_text(age)} ago"
        )
        if evidence.quorum is not None and controller_id in evidence.quorum.returned_ids:
            statement = ExplainedCause(
                f"{name} is a voter with another directory than the one that it has now"
            )
            return Explanation(subject, statement, [ExplainedCause(seen)], facts, REPLACE_VOTER)
        statement = ExplainedCause(f"{name} is a voter, and does not run or does not reach the leader")
        step = f"start controller {controller_id}; its log says why it does not reach the leader"
        return Explanation(subject, statement, [ExplainedCause(seen)], facts, step)
    quorum, fetch = evidence.quorum, evidence.fetch_of(controller_id)
    if quorum is not None and fetch is not None and controller_id != quorum.leader_id and lags(fetch):
        statement = ExplainedCause(f"{name} is a voter, and lags")
        causes = [ExplainedCause(lag_text(quorum, fetch))]
        return Explanation(subject, statement, causes, facts, step_for_lag(controller_id))
    level = evidence.image.features.metadata_version
    is_registered = controller_id in evidence.image.cluster.controllers
    if not is_registered and features.is_controller_registration_supported(level):
        statement = ExplainedCause(f"{name} is a voter, and is not registered")
        causes = [ExplainedCause("the log has no registration of it: its start has not come that far")]
        step = f"see the log of controller {controller_id} for ControllerRegistration"
        return Explanation(subject, statement, causes, facts, step)
    if quorum is None:
        text = f"{name} is a voter, and only the leader knows whether it is caught up; registered"
        return Explanation(subject, ExplainedCause(text, since), [], facts, ASK_LEADER, is_known=False)
    text = f"{HEALTHY}: controller {controller_id} is a voter"
    stall = stall_text(
        quorum.leader_id,
        end_offset=quorum.log_end_offset,
        high_watermark=quorum.high_watermark,
        uncommitted_ms=quorum.uncommitted_ms,
    )
    if quorum.leader_id == controller_id and stall is not None:
        statement = ExplainedCause(f"{name} leads epoch {quorum.leader_epoch}, and commits nothing")
        step = f"kraftctl explain quorum says which voters are missing. {step_for_lag(controller_id)}"
        return Explanation(subject, statement, [ExplainedCause(stall)], facts, step)
    if quorum.leader_id == controller_id:
        text = f"{HEALTHY}: controller {controller_id} leads epoch {quorum.leader_epoch}"
    return Explanation(subject, ExplainedCause(f"{text}, registered", since), facts=facts, is_healthy=True)


def _facts(evidence: ClusterEvidence, controller_id: int) -> list[str]:
    facts: list[str] = []
    registration = evidence.image.cluster.controllers.get(controller_id)
    if registration is not None:
        at = ", ".join(f"{each.name}://{each.host}:{each.port}" for each in registration.listeners.values())
        text = f"it listens at {at}" if at else "its registration has no listener"
        levels = registration.supported_features.get(features.METADATA_VERSION)
        if levels is not None:
            facts.append(f"{text}, and supports metadata.version {levels.min} to {levels.max}")
    fetch, quorum = evidence.fetch_of(controller_id), evidence.quorum
    if fetch is not None and quorum is not None and controller_id != quorum.leader_id:
        age = "never" if fetch.fetch_age_ms is None else f"{age_text(fetch.fetch_age_ms)} ago"
        end = "has no known end" if fetch.log_end_offset < 0 else f"ends at {fetch.log_end_offset}"
        facts.append(f"its log {end}, {quorum.high_watermark} is committed, last fetch {age}")
    return facts
