"""Decides whether a cluster is healthy: a function of what was collected, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kraftctl.cli.admin.node_answers import NodeAnswers
from kraftctl.cli.health.collection import STATUS_PATH, Collected, OperatePages
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl.explain.controller_status import left_out_of
from kraftctl.explain.voter_lag import stall_text
from kraftctl_protocol.counted_text import counted, one_or_many
from kraftctl_protocol.errors import Errors
from kraftctl_security.blocking_connection import Endpoint, endpoint_text

HEALTHY: Final = "healthy"
UNHEALTHY: Final = "unhealthy"
NOT_KNOWN: Final = "unknown"

LAG_MS_MAX: Final = 3_000
"""A voter fetches twice a second, and has then everything that its leader had."""

OFFLINE_PARTITIONS: Final = "kafka_controller_kafkacontroller_offlinepartitionscount"
FENCED_BROKERS: Final = "kafka_controller_kafkacontroller_fencedbrokercount"
UNDER_MIN_ISR: Final = "kraftctl_under_min_isr_partitions"
"""A release that does not count them has no such line."""

DIGITS_MAX: Final = 18

PARTITIONS_NOT_CHECKED: Final = "partitions were not checked: --operate names the listeners for probes"
BROKERS_NOT_CHECKED: Final = (
    "partitions and brokers were not checked: --operate names the listeners for probes"
)
NO_ACTIVE_PAGE: Final = (
    "partitions and brokers are not known: no page of the active controller was read completely"
)

MAY_NOT: Final = frozenset(
    (Errors.CLUSTER_AUTHORIZATION_FAILED, Errors.TOPIC_AUTHORIZATION_FAILED, Errors.UNSUPPORTED_VERSION)
)


@dataclass(frozen=True)
class ClusterHealth:
    """The verdict, with all reasons; `leader_id` is -1 without a leader."""

    kind: str
    reasons: tuple[str, ...]
    leader_id: int = -1
    leader_epoch: int = -1
    high_watermark: int = -1
    voters: Mapping[int, str] = field(default_factory=dict)
    """What is known of each voter: `leader`, `follower`, or a problem."""
    notes: tuple[str, ...] = ()
    """What is not known, or no reason to call it unhealthy."""


def health_of(collected: Collected, lag_ms_max: int = LAG_MS_MAX) -> ClusterHealth:
    """Returns the verdict, and the reasons for it."""
    quorum = collected.quorum()
    notes = tuple(_notes(collected))
    if quorum is None:
        return _without_leader(collected, notes)
    voters = {each.replica_id: _voter(collected, quorum, each, lag_ms_max) for each in quorum.voters}
    reasons = [f"voter {voter_id}: {said}" for voter_id, said in voters.items() if said not in WELL]
    reasons += _stall(collected, quorum)
    reasons += _other_clusters(collected)
    ids = _cluster_ids(collected)
    active = [page for page in collected.pages if _is_active(page, quorum.leader_id, ids)]
    reasons += _fenced(collected, active)
    reasons += [text for page in active for text in _partitions(page)]
    kind = UNHEALTHY if reasons else HEALTHY
    if collected.pages and not any(map(_is_complete, active)):
        kind = UNHEALTHY if reasons else NOT_KNOWN
        reasons.append(NO_ACTIVE_PAGE)
    return ClusterHealth(
        kind,
        tuple(reasons),
        quorum.leader_id,
        quorum.leader_epoch,
        quorum.high_watermark,
        voters,
        notes,
    )


LEADER: Final = "leader"
FOLLOWER: Final = "follower"
WELL: Final = (LEADER, FOLLOWER)


def _without_leader(collected: Collected, notes: tuple[str, ...]) -> ClusterHealth:
    reached = [each for each in collected.nodes.values() if each.is_reached]
    if not reached:
        texts = [f"{endpoint_text(each)}: {answers.problem}" for each, answers in collected.nodes.items()]
        return ClusterHealth(NOT_KNOWN, tuple(texts), notes=notes)
    if all(each.quorum_error in MAY_NOT for each in reached):
        texts = [
            f"{endpoint_text(each.endpoint)} answers DescribeQuorum with {each.quorum_error.name}"
            for each in reached
        ]
        return ClusterHealth(NOT_KNOWN, tuple(texts), notes=notes)
    unreached = _unreached_leader(collected)
    if unreached is not None:
        return ClusterHealth(NOT_KNOWN, (unreached, *map(_state, collected.nodes.values())), notes=notes)
    reasons = ["no leader answers", *(_state(each) for each in collected.nodes.values())]
    return ClusterHealth(UNHEALTHY, tuple(reasons), notes=notes)


def _unreached_leader(collected: Collected) -> str | None:
    """Returns which leader of the latest epoch was not reached; None if none is named, or it was reached."""
    epoch = max(each.epoch for each in collected.nodes.values())
    for each in collected.nodes.values():
        if each.epoch < epoch or each.leader_id < 0:
            continue
        leader = f"controller {each.leader_id} leads epoch {epoch}, says {endpoint_text(each.endpoint)}, and"
        named = [] if each.leader_endpoint is None else [each.leader_endpoint]
        addresses = named or collected.addresses(each.leader_id)
        if not addresses:
            return f"{leader} its address is not known"
        asked = [collected.nodes[address] for address in addresses if address in collected.nodes]
        if not any(answers.is_reached for answers in asked):
            problem = asked[0].problem if asked else "it was not asked"
            return f"{leader} it is not reached at {endpoint_text(addresses[0])}: {problem}"
    return None


def _state(answers: NodeAnswers) -> str:
    where = endpoint_text(answers.endpoint)
    if not answers.is_reached:
        return f"{where} is not reached: {answers.problem}"
    if answers.leader_id >= 0:
        return f"{where} says that controller {answers.leader_id} leads epoch {answers.epoch}"
    if answers.epoch >= 0:
        return f"{where} knows no leader of epoch {answers.epoch}"
    return f"{where} answers {answers.quorum_error.name}"


def _voter(collected: Collected, quorum: QuorumInfo, voter: QuorumReplica, lag_ms_max: int) -> str:
    if voter.replica_id == quorum.leader_id:
        return LEADER
    now_ms = max((each.last_fetch_ms or 0 for each in quorum.voters), default=0)
    if now_ms and voter.last_caught_up_ms is None:
        return "it has had nothing of this leader yet"
    if voter.last_caught_up_ms is not None and now_ms - voter.last_caught_up_ms > lag_ms_max:
        seconds = (now_ms - voter.last_caught_up_ms) / 1000
        lag = quorum.high_watermark - voter.log_end_offset
        return f"it had everything {seconds:.1f} s ago, and lacks {counted(max(0, lag), 'record')}"
    return (
        _reached(collected, collected.addresses(voter.replica_id)) if collected.to_controllers else FOLLOWER
    )


def _reached(collected: Collected, addresses: list[Endpoint]) -> str:
    """Returns what is known of a voter at these addresses; the leader sees that it fetches."""
    answers = [collected.nodes[each] for each in addresses if each in collected.nodes]
    if not answers or any(each.is_reached for each in answers):
        return FOLLOWER
    return f"it is not reached at {endpoint_text(answers[0].endpoint)}: {answers[0].problem}"


def _stall(collected: Collected, quorum: QuorumInfo) -> list[str]:
    text = stall_text(
        quorum.leader_id,
        end_offset=quorum.log_end_offset,
        high_watermark=quorum.high_watermark,
        uncommitted_ms=collected.uncommitted_ms,
    )
    return [] if text is None else [text]


def _cluster_ids(collected: Collected) -> set[str]:
    """Returns the ids that the nodes have said: one, or more where addresses are mixed up."""
    return {each.cluster_id for each in collected.nodes.values() if each.cluster_id is not None}


def _other_clusters(collected: Collected) -> Iterator[str]:
    ids = _cluster_ids(collected)
    if len(ids) > 1:
        yield f"the addresses are of several clusters: {', '.join(sorted(ids))}"
    for page in collected.pages:
        cluster_id = (page.status or {}).get("cluster_id")
        if ids and isinstance(cluster_id, str) and cluster_id not in ids:
            yield f"{page.url} is of another cluster, {cluster_id}, than the controllers, {min(ids)}"


def _is_active(page: OperatePages, leader_id: int, cluster_ids: set[str]) -> bool:
    """Returns whether the page is of the leader: one that is cut off may believe that it is active, too, and
    the leader of another cluster may have the same id.
    """
    status = page.status or {}
    quorum = status.get("quorum")
    is_active = isinstance(quorum, dict) and quorum.get("is_active_controller") is True
    is_of_cluster = not cluster_ids or status.get("cluster_id") in (None, *cluster_ids)
    return is_active and is_of_cluster and status.get("node_id", leader_id) == leader_id


def _is_complete(page: OperatePages) -> bool:
    """Returns whether it has the counts; a release that has no under_min_isr_partitions lacks only those."""
    return all(count_of(page.metrics, name) is not None for name in (OFFLINE_PARTITIONS, FENCED_BROKERS))


def count_of(metrics: str, name: str) -> int | None:
    """Returns a count of a page of metrics; None if the page does not have it."""
    for line in metrics.splitlines():
        if line.startswith((f"{name} ", f"{name}{{")):
            digits = line.rpartition(" ")[2].partition(".")[0]
            return int(digits) if digits.isdecimal() and len(digits) <= DIGITS_MAX else None
    return None


def _fenced(collected: Collected, active: list[OperatePages]) -> list[str]:
    """Names the fenced brokers; a status leaves out those above 100, so the metrics have how many there are.

    Without the metrics health is not known: what a status leaves out may be fenced.
    """
    fenced = {
        str(broker.node_id)
        for answers in collected.nodes.values()
        if not collected.to_controllers
        for broker in answers.registered or []
        if broker.is_fenced
    }
    count = 0
    for page in active:
        count = max(count, count_of(page.metrics, FENCED_BROKERS) or 0)
        brokers = (page.status or {}).get("brokers")
        for broker in brokers if isinstance(brokers, list) else []:
            if isinstance(broker, dict) and broker.get("fenced") is True:
                fenced.add(str(broker.get("id")))
    texts = [f"broker {each} is fenced" for each in sorted(fenced, key=lambda each: (len(each), each))]
    left = count - len(fenced)
    if left > 0:
        are = one_or_many(left, "is", "are")
        texts.append(f"{counted(left, 'more broker' if fenced else 'broker')} {are} fenced")
    return texts


def _partitions(page: OperatePages) -> Iterator[str]:
    """Reads the counts that the active controller has."""
    for name, what in (
        (OFFLINE_PARTITIONS, "no leader"),
        (UNDER_MIN_ISR, "fewer replicas in sync than min.insync.replicas"),
    ):
        count = count_of(page.metrics, name)
        if count:
            yield f"{counted(count, 'partition')} {one_or_many(count, 'has', 'have')} {what}"


def _notes(collected: Collected) -> Iterator[str]:
    if not collected.pages:
        yield BROKERS_NOT_CHECKED if collected.to_controllers else PARTITIONS_NOT_CHECKED
    for page in collected.pages:
        left_out = left_out_of(page.status)
        if left_out:
            yield f"{page.url}: {STATUS_PATH} leaves out {counted(left_out, 'broker')}, which cannot be named"
        if page.problem is not None:
            yield f"{page.url}: {page.problem}"
        if page.status is not None and page.status.get("ready") is False:
            reasons = page.status.get("reasons")
            texts = "; ".join(map(str, reasons)) if isinstance(reasons, list) else ""
            yield f"{page.url}: controller {page.status.get('node_id')} is not ready: {texts}"
    for endpoint, answers in collected.nodes.items():
        if collected.quorum() is not None and endpoint in collected.asked and not answers.is_reached:
            yield f"{endpoint_text(endpoint)} is not reached: {answers.problem}"
