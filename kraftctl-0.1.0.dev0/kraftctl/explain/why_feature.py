"""Explains a feature (KIP-584): its level, and which broker or controller keeps it from a higher one."""

from __future__ import annotations

from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation, UnknownSubjectError
from kraftctl.explain.why_controller import is_ghost, step_for_ghost
from kraftctl.metadata import features
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.counted_text import named_by_id

NO_LEVELS = VersionRange(0, 0)

GHOST = ", and is a ghost: registered, but no voter and not running"
PERHAPS_GHOST = ", and may be a ghost: registered, but no voter"


def explain_feature(evidence: ClusterEvidence, name: str, level: int | None = None) -> Explanation:
    """Explains why `name` is not at `level`, or at the highest level that any node supports.

    Raises UnknownSubjectError for a feature that no node supports.
    """
    cluster = evidence.image.cluster
    brokers = {each: node.supported_features.get(name) for each, node in sorted(cluster.brokers.items())}
    controllers = {
        each: node.supported_features.get(name) for each, node in sorted(cluster.controllers.items())
    }
    ranges = [found for found in [*brokers.values(), *controllers.values()] if found is not None]
    present = _level(evidence, name)
    if not ranges and not present:
        named = {key for node in cluster.brokers.values() for key in node.supported_features}
        named |= {key for node in cluster.controllers.values() for key in node.supported_features}
        raise UnknownSubjectError(
            f"no node supports a feature {name}: they support {', '.join(sorted(named))}"
        )
    wanted = max([present, *(found.max for found in ranges)]) if level is None else level
    since = evidence.log.marks.features.get(name)
    at = ExplainedCause(f"{name} is at {_named(name, present)}", since)
    facts = [f"{at.text}, and the nodes support {_ranges_text(ranges)}"]
    if wanted <= present:
        text = f"{HEALTHY}: {name} is at {_named(name, present)}, the highest level that any node supports,"
        if level is not None:
            text = f"{HEALTHY}: {name} is at {_named(name, present)} already,"
        return Explanation(f"feature {name}", ExplainedCause(text, since), facts=facts, is_healthy=True)
    causes, steps = _limits(evidence, name, wanted, brokers, controllers)
    required = features.required_metadata_version(name, wanted)
    finalized = evidence.image.features.metadata_version
    if name != features.METADATA_VERSION and finalized < required:
        needed = features.metadata_version_name(required)
        causes.append(
            ExplainedCause(
                f"it needs metadata.version {needed}, which is {_named(features.METADATA_VERSION, finalized)}"
            )
        )
        steps = steps or [f"kraftctl explain feature {features.METADATA_VERSION} --level {required}"]
    if not causes:
        text = f"All nodes support {name} {_named(name, wanted)}, and it is at {_named(name, present)}"
        cost = features.cost_of_raising(name, present, wanted)
        command = f"kraftctl features {evidence.connection} upgrade --feature {name}={wanted}"
        offer = f"{cost[0].upper()}{cost[1:]}. To raise it: {command}"
        return Explanation(f"feature {name}", ExplainedCause(text), facts=facts, is_healthy=True, offer=offer)
    text = f"{name} cannot be raised from {_named(name, present)} to {_named(name, wanted)}"
    return Explanation(f"feature {name}", ExplainedCause(text), causes, facts, "; ".join(steps))


def _limits(
    evidence: ClusterEvidence,
    name: str,
    wanted: int,
    brokers: dict[int, VersionRange | None],
    controllers: dict[int, VersionRange | None],
) -> tuple[list[ExplainedCause], list[str]]:
    """Returns a cause for each node that limits the level, ghosts first, and the steps to take."""
    causes: list[ExplainedCause] = []
    marks, cluster = evidence.log.marks, evidence.image.cluster
    limiting = [each for each, levels in controllers.items() if not (levels or NO_LEVELS).contains(wanted)]
    ghosts = [each for each in limiting if is_ghost(evidence, each)]
    others = [each for each in limiting if each not in ghosts]
    for controller_id in (*ghosts, *others):
        levels = controllers[controller_id] or NO_LEVELS
        text = f"controller {controller_id} supports levels {levels.min} to {levels.max} of {name}"
        if controller_id in ghosts:
            text += GHOST if evidence.quorum is not None else PERHAPS_GHOST
        causes.append(ExplainedCause(text, marks.controllers.get(controller_id)))
    late = [each for each, supported in brokers.items() if not (supported or NO_LEVELS).contains(wanted)]
    for broker_id in late:
        levels = brokers[broker_id] or NO_LEVELS
        known = marks.brokers.get(broker_id)
        text = f"broker {broker_id}{', which is fenced,' if cluster.brokers[broker_id].fenced else ''}"
        text = f"{text} supports levels {levels.min} to {levels.max} of {name}"
        causes.append(ExplainedCause(text, None if known is None else known.registered))
    steps = []
    if ghosts:
        steps.append(step_for_ghost(evidence, ghosts[0]))
    if ghosts[1:]:
        steps.append(f"do the same for {named_by_id('controller', ghosts[1:])}")
    if others or late:
        steps.append(f"{'then ' if ghosts else ''}{_upgrade_step(evidence, others, late)}")
    return causes, steps


def _upgrade_step(evidence: ClusterEvidence, controllers: list[int], brokers: list[int]) -> str:
    """Names all that have to run a later release, or to be unregistered."""
    kinds = (("controller", controllers), ("broker", brokers))
    step = f"upgrade {' and '.join(named_by_id(noun, ids) for noun, ids in kinds if ids)}"
    fenced = [each for each in brokers if evidence.image.cluster.brokers[each].fenced]
    if not fenced:
        return step
    if len(fenced) > 1:
        name = named_by_id("broker", fenced)
        return f"{step}; for each of {name} that is gone for good, kafka-cluster unregister --id ID"
    name = "it" if fenced == brokers and not controllers else named_by_id("broker", fenced)
    return f"{step}; if {name} is gone for good, kafka-cluster unregister --id {fenced[0]}"


def _level(evidence: ClusterEvidence, name: str) -> int:
    if name == features.KRAFT_VERSION:
        return evidence.log.kraft_version
    return evidence.image.features.level(name)


def _named(name: str, level: int) -> str:
    if name == features.METADATA_VERSION:
        return f"{level} ({features.metadata_version_name(level)})"
    return str(level)


def _ranges_text(ranges: list[VersionRange]) -> str:
    different = sorted({(each.min, each.max) for each in ranges})
    return ", ".join(f"{low} to {high}" for low, high in different) or "none"
