"""The image of a controller as the rows of the reference, and everything else that an image has.

`PARTS` names each attribute of each part: its function compares it, or the text says why it is no state. So
does `VALUES` for what the parts consist of. Tests hold both against the classes: what is added to an image
has no row here, and fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kraftctl.image.metadata_image import MetadataImage
from tests.support.simulator.reference.rows import Key, State, rows_of
from tests.support.simulator.reference.values import (
    NO_LEADER,
    Acl,
    Broker,
    Controller,
    DelegationToken,
    Endpoint,
    Levels,
    Partition,
    ScramCredential,
)

Rows = Iterator[tuple[Key, Any]]
Derived = dict[str, Any]


def rows_of_image(image: MetadataImage) -> State:
    """But for what `derived_of_image` has."""
    found: State = {}
    for part, attributes in PARTS.items():
        for name, how in attributes.items():
            if callable(how):
                found.update(how(getattr(getattr(image, part), name)))
    if image.journal.transaction_start is not None:
        found["transaction",] = image.journal.transaction_start
    return found


# One value.


def _fields(value: Any, row: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in row._fields}


def _node(registration: Any, row: Any) -> Any:
    fields = _fields(registration, row)
    fields["listeners"] = {
        name: Endpoint(**_fields(one, Endpoint)) for name, one in registration.listeners.items()
    }
    levels = registration.supported_features
    fields["supported_features"] = {name: Levels(**_fields(one, Levels)) for name, one in levels.items()}
    return row(**fields)


def partition_row(partition: Any) -> Partition:
    """Of a PartitionRegistration."""
    return Partition(
        replicas=partition.replicas,
        directories=partition.directories,
        isr=partition.isr,
        removing_replicas=partition.removing_replicas,
        adding_replicas=partition.adding_replicas,
        elr=partition.elr,
        last_known_elr=partition.last_known_elr,
        leader=int(partition.leader),
        leader_recovery_state=int(partition.leader_recovery_state),
        leader_epoch=int(partition.leader_epoch),
        partition_epoch=int(partition.partition_epoch),
    )


# One attribute of a part.


def _metadata_version(level: int) -> Rows:
    if level:
        yield ("feature", "metadata.version"), level


def _finalized(levels: dict[str, int]) -> Rows:
    for name, level in levels.items():
        yield ("feature", name), level


def _features_offset(offset: int) -> Rows:
    if offset >= 0:
        yield ("features offset",), offset


def _brokers(brokers: Mapping[int, Any]) -> Rows:
    for broker_id, registration in brokers.items():
        yield ("broker", broker_id), _node(registration, Broker)


def _controllers(controllers: Mapping[int, Any]) -> Rows:
    for node_id, registration in controllers.items():
        yield ("controller", node_id), _node(registration, Controller)


def _registration_offsets(offsets: dict[int, int]) -> Rows:
    for broker_id, offset in offsets.items():
        yield ("registration offset", broker_id), offset


def _topics(topics: Mapping[bytes, Any]) -> Rows:
    for topic_id, topic in topics.items():
        yield ("topic", topic.topic_id), topic.name
        for index, partition in topic.partitions.items():
            yield ("partition", topic_id, index), partition_row(partition)


def _ids_by_name(ids: dict[str, bytes]) -> Rows:
    for name, topic_id in ids.items():
        yield ("topic id", name), topic_id


def _resources(resources: Mapping[tuple[int, str], dict[str, str]]) -> Rows:
    for resource, configs in resources.items():
        assert configs, f"{resource} has no configs, and should not be there"
        for name, value in configs.items():
            yield ("config", *resource, name), value


def _quotas(quotas: Mapping[Any, dict[str, float]]) -> Rows:
    for entity, values in quotas.items():
        assert values, f"{entity} has no quotas, and should not be there"
        for name, value in values.items():
            yield ("quota", entity, name), value


def _next_producer_id(next_producer_id: int) -> Rows:
    if next_producer_id >= 0:
        yield ("producer ids",), next_producer_id


def _acls(acls: Mapping[bytes, Any]) -> Rows:
    for acl_id, entry in acls.items():
        yield ("acl", acl_id), Acl(**_fields(entry, Acl))


def _credentials(credentials: Mapping[tuple[int, str], Any]) -> Rows:
    for (mechanism, user), credential in credentials.items():
        yield ("scram", mechanism, user), ScramCredential(**_fields(credential, ScramCredential))


def _tokens(tokens: Mapping[str, Any]) -> Rows:
    for token_id, token in tokens.items():
        yield ("token", token_id), DelegationToken(**_fields(token, DelegationToken))


JOURNAL = "how the image came to be"
DERIVED = "compared by derived_of_image"

PARTS: Final[dict[str, dict[str, Callable[[Any], Rows] | str]]] = {
    "features": {
        "_journal": JOURNAL,
        "metadata_version": _metadata_version,
        "finalized": _finalized,
        "last_change_offset": _features_offset,
    },
    "cluster": {
        "_journal": JOURNAL,
        "brokers": _brokers,
        "controllers": _controllers,
        "registration_offsets": _registration_offsets,
    },
    "topics": {
        "_journal": JOURNAL,
        "tuples": "equal tuples, once",
        "topics": _topics,
        "ids_by_name": _ids_by_name,
        "names_by_unified_name": DERIVED,
        "partition_count": DERIVED,
        "isr_counts": DERIVED,
        "last_member_counts": DERIVED,
        "elr_counts": DERIVED,
        "leader_counts": DERIVED,
        "leaderless_counts": DERIVED,
        "imbalanced_counts": DERIVED,
        "reassigning_counts": DERIVED,
        "leaderless_count": DERIVED,
        "imbalanced_count": DERIVED,
        "reassigning_count": DERIVED,
        "recovering_count": DERIVED,
        "short_isrs": DERIVED,
        "elections": "how many there were since it was loaded",
    },
    "configurations": {
        "_journal": JOURNAL,
        "_topics": "the part that counts what is under min ISR",
        "resources": _resources,
        "broker_changes": "how often it changed",
    },
    "client_quotas": {"_journal": JOURNAL, "quotas": _quotas},
    "producer_ids": {"_journal": JOURNAL, "next_producer_id": _next_producer_id},
    "acls": {"_journal": JOURNAL, "acls": _acls, "index": DERIVED},
    "scram": {"_journal": JOURNAL, "credentials": _credentials},
    "delegation_tokens": {
        "_journal": JOURNAL,
        "_secrets": "the key of the cluster",
        "tokens": _tokens,
        "_counts": DERIVED,
        "_ids": "by digests of secrets that only the key makes; the simulator has no key",
    },
}

PACKED = {
    "shared": "what partitions have in common; each of its attributes is one of the partition",
    "packed_directories": "`directories` unpacks it",
}
VALUES: Final[dict[str, tuple[Any, dict[str, str]]]] = {
    "BrokerRegistration": (Broker, {}),
    "ControllerRegistration": (Controller, {}),
    "Endpoint": (Endpoint, {}),
    "VersionRange": (Levels, {}),
    "AclEntry": (Acl, {"network": "what its host says, parsed; compared with Kafka's class elsewhere"}),
    "ScramCredential": (ScramCredential, {}),
    "DelegationToken": (DelegationToken, {}),
    "PartitionRegistration": (Partition, PACKED),
    "SharedState": (Partition, {"broker_directories": "the numbers of directories, of all partitions"}),
}
"""Class -> its row, and its attributes that the row does not have."""


# What follows from rows.


def derived_of_image(image: MetadataImage) -> Derived:
    """The indexes of an image."""
    topics = image.topics
    return {
        "names_by_unified_name": topics.names_by_unified_name,
        "partition_count": topics.partition_count,
        "isr_counts": topics.isr_counts,
        "last_member_counts": topics.last_member_counts,
        "elr_counts": topics.elr_counts,
        "leader_counts": topics.leader_counts,
        "leaderless_counts": topics.leaderless_counts,
        "imbalanced_counts": topics.imbalanced_counts,
        "reassigning_counts": topics.reassigning_counts,
        "leaderless_count": topics.leaderless_count,
        "imbalanced_count": topics.imbalanced_count,
        "reassigning_count": topics.reassigning_count,
        "recovering_count": topics.recovering_count,
        "short_isrs": {
            size: {topic_id: topics.topics[topic_id].short_counts[size] for topic_id in isrs.topics}
            for size, isrs in enumerate(topics.short_isrs.sizes)
            if isrs.topics
        },
        "index": {
            (acl_id, entry.identity)
            for acls in image.acls.index.types()
            for pattern in acls.all()
            for acl_id, entry in pattern.all()
        },
        "_counts": image.delegation_tokens._counts,
    }


def derived_of(state: State) -> Derived:
    """What these indexes have to be."""
    derived = _of_partitions(state)
    names: dict[str, list[str]] = {}
    for _, name in rows_of(state, "topic"):
        if "." in name or "_" in name:
            names.setdefault(name.replace(".", "_"), []).append(name)
    derived["names_by_unified_name"] = {unified: tuple(sorted(each)) for unified, each in names.items()}
    derived["index"] = {(key[1], tuple(value)) for key, value in rows_of(state, "acl")}
    derived["_counts"] = dict(Counter(value.owner for _, value in rows_of(state, "token")))
    return derived


def _of_partitions(state: State) -> Derived:
    members: dict[str, dict[int, Counter[bytes]]] = {
        "isr_counts": {},
        "last_member_counts": {},
        "elr_counts": {},
    }
    leaders: Counter[int] = Counter()
    topics: dict[str, Counter[bytes]] = {
        "leaderless_counts": Counter(),
        "imbalanced_counts": Counter(),
        "reassigning_counts": Counter(),
    }
    count = recovering = 0
    short: dict[int, Counter[bytes]] = {}
    for (_, topic_id, _), partition in rows_of(state, "partition"):
        count += 1
        recovering += partition.leader_recovery_state
        if len(partition.isr) < len(partition.replicas):
            short.setdefault(len(partition.isr), Counter())[topic_id] += 1
        alone = partition.leader == NO_LEADER and len(partition.isr) == 1
        for broker_id in partition.isr:
            kind = "last_member_counts" if alone else "isr_counts"
            members[kind].setdefault(broker_id, Counter())[topic_id] += 1
        for broker_id in partition.elr:
            members["elr_counts"].setdefault(broker_id, Counter())[topic_id] += 1
        if partition.leader == NO_LEADER:
            topics["leaderless_counts"][topic_id] += 1
        else:
            leaders[partition.leader] += 1
        if partition.leader != next(iter(partition.replicas), NO_LEADER):
            topics["imbalanced_counts"][topic_id] += 1
        if partition.reassigning:
            topics["reassigning_counts"][topic_id] += 1
    totals = {name.removesuffix("s"): sum(each.values()) for name, each in topics.items()}
    counts = {"partition_count": count, "recovering_count": recovering, "short_isrs": short}
    return {**members, **topics, **totals, **counts, "leader_counts": leaders}
