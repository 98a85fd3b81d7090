"""What a running cluster lacks of a plan. It is pure: the same plan and state have the same answer.

What is missing in a cluster without topics is to be done. Later, and where something differs, it is done only
when the operator wants it: a retention decides what is deleted, of one topic or of all, and where a quota, an
ACL or a config of a group is not set, clients work as they do without it. Missing topics are created.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from kraftctl_spark.restore.cluster_state import INTERNAL_TOPICS, ClusterState
from kraftctl_spark.restore.operations import (
    AddPartitions,
    CreateAcl,
    CreateTopic,
    Operation,
    SetConfig,
    SetQuota,
)
from kraftctl_spark.restore.plan import INTERNAL, Plan, PlannedConfig, PlannedTopic, is_internal

BROKER, TOPIC, CLUSTER = "BROKER", "TOPIC", "CLUSTER"

RIGHTS_MAY_END: Final = (
    "the plan has the first ACL on CLUSTER: with allow.everyone.if.no.acl.found, the rest of the restore is"
    " refused to an account that is no super user and that the ACLs of the plan do not name"
)


@dataclass(frozen=True)
class Differing:
    """A thing that is there and differs, with what would change it."""

    operation: Operation
    found: str

    def __str__(self) -> str:
        return f"{self.operation} (it is {self.found})"


@dataclass(frozen=True)
class Comparison:
    """What is left between a plan and a cluster."""

    missing: tuple[Operation, ...] = ()
    differing: tuple[Differing, ...] = ()
    not_possible: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_do(self, *, change_existing: bool) -> list[Operation]:
        """Returns the operations, those on topics at the end."""
        changed = [one.operation for one in self.differing] if change_existing else []
        return [*self.missing, *changed]

    def left(self, *, change_existing: bool) -> list[str]:
        """Returns what none of the operations does, in sentences."""
        differing = [] if change_existing else [f"{one}: --change-existing does it" for one in self.differing]
        return [*differing, *self.not_possible]

    def without(self, operations: Iterable[Operation]) -> Comparison:
        """Returns the same without what some operations do."""
        done = set(operations)
        return replace(self, differing=tuple(one for one in self.differing if one.operation not in done))


@dataclass
class _Found:
    missing: list[Operation] = field(default_factory=list)
    differing: list[Differing] = field(default_factory=list)
    not_possible: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare(plan: Plan, live: ClusterState) -> Comparison:
    """Returns what `live` lacks of the plan."""
    found = _Found()
    created = {topic.name for topic in plan.topics if topic.name not in live.topics}
    for one in plan.configs:
        if one.config.resource_type != TOPIC or one.config.resource_name not in created:
            _compare_config(found, one, live)
    for acl in plan.acls:
        if live.acls is None:
            found.not_possible.append(f"create ACL {acl}: the cluster has no authorizer")
        elif acl not in live.acls:
            _absent(found, CreateAcl(acl), "not there", live)
    if _may_end_rights(plan, live):
        found.notes.append(RIGHTS_MAY_END)
    for quota, value in plan.quotas:
        operation, present = SetQuota(quota, value), live.quotas.get(quota)
        if present is None:
            _absent(found, operation, "not set", live)
        elif present != value:
            found.differing.append(Differing(operation, str(present)))
    configs = _configs_of_topics(plan)
    for topic in plan.topics:
        _compare_topic(found, topic, tuple(configs.get(topic.name, ())), live)
    return Comparison(
        tuple(found.missing), tuple(found.differing), tuple(found.not_possible), tuple(found.notes)
    )


def _may_end_rights(plan: Plan, live: ClusterState) -> bool:
    """Returns whether the plan has the first ACL on the cluster: it may end the rights of those that it does
    not name.
    """
    return (
        live.acls is not None
        and any(acl.resource_type == CLUSTER for acl in plan.acls)
        and all(acl.resource_type != CLUSTER for acl in live.acls)
    )


def _compare_topic(
    found: _Found, topic: PlannedTopic, configs: tuple[tuple[str, str], ...], live: ClusterState
) -> None:
    if topic.name in INTERNAL_TOPICS:
        found.not_possible.append(f"topic {topic.name}: {INTERNAL}")
        return
    present = live.topics.get(topic.name)
    if present is None:
        if why := _why_not_placed(topic, live):
            found.notes.append(f"topic {topic.name}: the cluster chooses its brokers, because {why}")
            topic = topic._replace(replicas=None)
        found.missing.append(CreateTopic(topic, configs))
        return
    count = len(present.replicas)
    if count < topic.partitions:
        added = AddPartitions(topic.name, topic.partitions, topic.partitions - count)
        found.differing.append(Differing(added, f"{count} now"))
    elif count > topic.partitions:
        found.not_possible.append(
            f"topic {topic.name} has {count} partitions, the plan {topic.partitions}: none can be removed"
        )
    if present.replication_factor != topic.replication_factor:
        found.not_possible.append(
            f"topic {topic.name} has replication factor {present.replication_factor}, the plan"
            f" {topic.replication_factor}: kafka-reassign-partitions changes it"
        )


def _why_not_placed(topic: PlannedTopic, live: ClusterState) -> str:
    replicas = topic.replicas or ()
    if len({len(one) for one in replicas}) > 1:
        return "its partitions have different numbers of replicas in the plan, which Kafka refuses"
    absent = sorted({broker for one in replicas for broker in one} - live.brokers)
    return f"it has not all of those in the plan: {', '.join(map(str, absent))} not" if absent else ""


def _configs_of_topics(plan: Plan) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for (kind, name, key), value in plan.configs:
        if kind == TOPIC:
            found.setdefault(name, []).append((key, value))
    return found


def _compare_config(found: _Found, one: PlannedConfig, live: ClusterState) -> None:
    config, operation = one.config, SetConfig(one.config, one.value)
    kind, name, _ = config
    if is_internal(config):
        found.not_possible.append(f"{operation}: {INTERNAL}")
    elif config in live.configs:
        present = live.configs[config]
        if present is None or live.described(config, present) != live.described(config, one.value):
            found.differing.append(Differing(operation, "not shown" if present is None else present))
    elif kind == TOPIC and name not in live.topics:
        found.not_possible.append(f"{operation}: there is no such topic, and the plan has none")
    elif kind == BROKER and name and not (name.isdecimal() and int(name) in live.brokers):
        found.not_possible.append(f"{operation}: there is no such broker; apply the plan again with it")
    else:
        _absent(found, operation, "not set", live)


def _absent(found: _Found, operation: Operation, what: str, live: ClusterState) -> None:
    if live.is_in_use:
        found.differing.append(Differing(operation, what))
    else:
        found.missing.append(operation)
