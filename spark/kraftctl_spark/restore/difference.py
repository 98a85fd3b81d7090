"""What changed between two states of a cluster, as text and as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from kraftctl_spark.restore.cluster_state import ClusterState, ResourceConfig

NOT_SHOWN: Final = "(not shown)"
"""Replaces a value that is, or may be, a secret; whether it has changed is not known."""


class StateChange(NamedTuple):
    """A thing that one state has and the other has not, or that differs; None: it is not there."""

    kind: str
    subject: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        values = " -> ".join(one for one in (self.before, self.after) if one)
        sign = "+" if self.before is None else "-" if self.after is None else "~"
        return f"{sign} {self.kind} {self.subject}" + (f": {values}" if values else "")


def changes_between(before: ClusterState, after: ClusterState) -> list[StateChange]:
    """Returns the changes, by kind and subject, up to a running cluster.

    Where one has no authorizer, all ACLs count as its lack. Configs of a broker that is not running are no
    changes.
    """
    unknown = set(map(str, brokers_not_known(before, after)))
    known = {config: value for config, value in before.configs.items() if _broker_of(config) not in unknown}
    old = _facts(replace(before, configs=known, config_types=after.config_types))
    new = _facts(after)
    found = [StateChange(*what, old.get(what), new.get(what)) for what in sorted(old.keys() | new.keys())]
    changed = [one for one in found if one.before != one.after and not _is_unknown(one)]
    return changed + (_changes_of_topics(before, after) if before.cluster_id == after.cluster_id else [])


def _changes_of_topics(before: ClusterState, after: ClusterState) -> list[StateChange]:
    """Returns what another cluster has of its own: ids, and where replicas are; of a topic that was created
    again, its id only.
    """
    found: list[StateChange] = []
    for name in sorted(before.topics.keys() & after.topics.keys()):
        old, new = before.topics[name], after.topics[name]
        if old.topic_id != new.topic_id:
            found.append(StateChange("topic id", name, old.topic_id, new.topic_id))
            continue
        for place, (was, now) in enumerate(zip(old.replicas, new.replicas, strict=False)):
            if was != now:
                found.append(
                    StateChange(
                        "replicas", f"{name}-{place}", *(",".join(map(str, one)) for one in (was, now))
                    )
                )
    return found


def brokers_not_known(before: ClusterState, after: ClusterState) -> list[int]:
    """Returns the brokers that had configs, and do not describe them now, because they are not running."""
    named = {_broker_of(config) for config in before.configs}
    return sorted({int(name) for name in named if name.isdecimal()} - after.brokers)


def _broker_of(config: ResourceConfig) -> str:
    return config.resource_name if config.resource_type == "BROKER" else ""


def _is_unknown(change: StateChange) -> bool:
    """Returns whether both are there, and one is not shown."""
    return None not in (change.before, change.after) and NOT_SHOWN in (change.before, change.after)


def _facts(state: ClusterState) -> dict[tuple[str, str], str]:
    facts = {("topic", name): str(topic) for name, topic in state.topics.items()}
    facts |= {
        ("config", str(config)): NOT_SHOWN if value is None else state.described(config, value)
        for config, value in state.configs.items()
    }
    facts |= {("ACL", str(acl)): "" for acl in state.acls or ()}
    facts |= {("quota", str(quota)): str(value) for quota, value in state.quotas.items()}
    facts |= {
        ("SCRAM credential", str(user)): f"{iterations} iterations"
        for user, iterations in state.users.items()
    }
    return facts | {("feature", name): f"level {level}" for name, level in state.features.items()}
