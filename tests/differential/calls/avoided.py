"""Calls that are known to end a round, because the outcome differs: most of them are not made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.differential.call import Call, Ref
from tests.differential.codec import Body
from tests.differential.picture import Partition, Picture

MADE_SHARE = 0.01
"""How many of them are made: each known difference still occurs in a long run."""

APPEND, SUBTRACT = 2, 3
BROKER, BROKER_LOGGER = 4, 8
CONTROLLER = "3000"
MIGRATING, UNASSIGNED = "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ"
NAMING_ENDPOINTS = ("AddRaftVoter", "UpdateRaftVoter", "BeginQuorumEpoch", "EndQuorumEpoch")
LAST_LEVELS_OF_4_3 = {"metadata.version": 30, "share.version": 1}
ELECTION = "unclean.leader.election.enable"
INT_MAX = 2**31 - 1
PARTITIONS_MAX = 10_000
NAME_BYTES_MAX = 249
CLEAN_SHUTDOWN_VERSION = 3
NO_LEADER = -1
BLANKS = "".join(map(chr, range(33)))
"""What Java trims."""
CODES_OF_ACLS = {
    "ResourceType": range(2, 8),
    "ResourcePatternType": range(3, 5),
    "Operation": range(2, 16),
    "PermissionType": range(2, 4),
}


def why_avoided(call: Call, kafka: str) -> frozenset[str]:
    """Returns which known differences the call meets: they part the logs, or end Kafka's controller.

    An entry of known_differences.toml says which of them it is about.
    """
    checks = CHECKS.get(call.api, {})
    if kafka < "4.4":
        checks = checks | CHECKS_OF_4_3.get(call.api, {})
    return frozenset(name for name, check in checks.items() if check(call.body))


@dataclass(frozen=True)
class Before:
    """What the cluster is like before a call."""

    fenced: Collection[int] = ()
    unequal: Collection[str] = ()
    """Topics whose partitions have different numbers of replicas."""

    one_shuts_down: bool = False
    """Whether a broker is unfenced and still in its controlled shutdown."""

    of_cleared_elrs: Collection[int] = ()
    """Brokers that were in ELRs which were cleared."""

    members: Mapping[tuple[str, int], Collection[int]] = field(default_factory=dict)
    """The replicas of partitions that become eligible, or stay so, when they are removed (KIP-966)."""

    outside: Collection[int] = ()
    """Brokers with a replica out of the ISR of a partition that has no leader, or one that is not active, or
    whose reassignment is complete: any record changes it."""

    unsettled: Collection[int] = ()
    """Brokers with a replica of a partition that any record may change: its reassignment, which does not add
    it, is complete, its leader is not active or has lost its directory, or it has an ELR."""

    directories: Mapping[int, Collection[str]] = field(default_factory=dict)
    """Those of each broker that are not known to have failed."""

    new_tokens: Collection[bytes] = ()
    """Hmacs of tokens that Kafka may not have published yet."""

    epochs: Mapping[int, int] = field(default_factory=dict)
    """The epochs of registered brokers, as Kafka's controller has them."""

    has_unusable_default: bool = False
    """Whether a default of the cluster cannot be used: Kafka's controller then takes no change."""


def before(picture: Picture) -> Before:
    """Returns what it is like now."""
    unequal = [
        name
        for name, partitions in picture.topics.items()
        if len({len(each.replicas) for each in partitions.values()}) > 1
    ]
    fenced = {each for each, broker in picture.brokers.items() if broker.fenced}
    shut_down = {each for each, broker in picture.brokers.items() if broker.shutting_down}
    inactive = {NO_LEADER, *fenced, *shut_down}
    outside = {
        replica
        for _, _, each in picture.partitions()
        if each.leader in inactive or _ends(each)
        for replica in set(each.replicas) - set(each.isr)
    }
    unsettled: set[int] = set()
    for _, _, each in picture.partitions():
        if each.leader in inactive or each.elr or _has_lost_its_directory(picture, each):
            unsettled |= set(each.replicas)
        elif _ends(each):
            unsettled |= set(each.replicas) - set(each.adding)
    return Before(
        fenced,
        unequal,
        one_shuts_down=not shut_down <= fenced,
        of_cleared_elrs=picture.of_cleared_elrs,
        members=_members(picture),
        outside=outside,
        unsettled=unsettled,
        directories={each: broker.directories for each, broker in picture.brokers.items()},
        epochs={each: broker.epoch for each, broker in picture.brokers.items()},
        has_unusable_default=picture.configs.get((BROKER, ""), {}).get("log.cleaner.threads") == "0",
    )


def _has_lost_its_directory(picture: Picture, partition: Partition) -> bool:
    """Returns whether the leader is in a directory that its broker has not registered."""
    broker = picture.brokers.get(partition.leader)
    of_replicas = dict(zip(partition.replicas, partition.directories, strict=False))
    if broker is None or not broker.directories or partition.leader not in of_replicas:
        return False
    return of_replicas[partition.leader] not in (*broker.directories, UNASSIGNED, MIGRATING)


def _ends(partition: Partition) -> bool:
    """Returns whether all replicas that a reassignment adds are in the ISR, as Kafka has to find them."""
    stay = set(partition.isr) - set(partition.removing)
    is_reassigned = bool(partition.adding or partition.removing)
    return is_reassigned and bool(stay) and stay >= set(partition.adding)


def _members(picture: Picture) -> dict[tuple[str, int], set[int]]:
    if not picture.features.get("eligible.leader.replicas.version"):
        return {}
    return {
        (name, index): {*each.isr, *each.elr}
        for name, index, each in picture.partitions()
        if picture.min_isr(name) > 1
    }


def why_avoided_now(call: Call, now: Before) -> frozenset[str]:
    """Returns which known differences the call meets because of what the cluster is like."""
    if call.api == "BrokerHeartbeat":
        return _why_heartbeat_avoided(call.body, now)
    if call.api == "AlterPartitionReassignments":
        named = [(topic["Name"], each) for topic in call.body["Topics"] or () for each in topic["Partitions"]]
        removes = any(
            not set(now.members.get((name, each["PartitionIndex"]), ())) <= set(each["Replicas"] or ())
            for name, each in named
        )
        return frozenset({"a member is removed"} if removes else ())
    if call.api == "AssignReplicasToDirs":
        return frozenset({"a change beside a failed directory"} if _has_failed(call.body, now) else ())
    if call.api == "DescribeConfigs":
        named = [(each["ResourceType"], each["ResourceName"]) for each in call.body["Resources"]]
        finds = now.has_unusable_default and (BROKER, CONTROLLER) in named
        return frozenset({"an unusable default of the cluster"} if finds else ())
    if call.api in ("RenewDelegationToken", "ExpireDelegationToken"):
        return frozenset({"a new token"} if call.body["Hmac"] in now.new_tokens else ())
    if call.api in ("UnregisterBroker", "BrokerRegistration"):
        finds = call.body["BrokerId"] in now.of_cleared_elrs and not _is_clean(call, now)
        return frozenset({"an ELR was cleared"} if finds else ())
    if call.api not in ("CreateTopics", "CreatePartitions"):
        return frozenset()
    found = set()
    if call.api == "CreatePartitions" and any(each["Name"] in now.unequal for each in call.body["Topics"]):
        found.add("partitions with different numbers of replicas")
    if now.one_shuts_down and not all(each["Assignments"] for each in call.body["Topics"]):
        found.add("by chance on a broker that shuts down")
    return frozenset(found)


def _has_failed(body: Body, now: Before) -> bool:
    """Returns whether a directory that has failed gets replicas of which some are of unsettled partitions."""
    online = now.directories.get(body["BrokerId"], ())
    failed = any(each["Id"] not in online for each in body["Directories"])
    return failed and body["BrokerId"] in now.unsettled


def _is_clean(call: Call, now: Before) -> bool:
    """Returns whether the broker comes back after a clean shutdown, as far as the call says so.

    One that is not made yet has a reference to the epoch, one that was sent the epoch itself.
    """
    broker = call.body["BrokerId"]
    return (
        call.version >= CLEAN_SHUTDOWN_VERSION
        and broker in now.epochs
        and call.body.get("PreviousBrokerEpoch") in (Ref("epoch", broker), now.epochs[broker])
    )


def _why_heartbeat_avoided(body: Body, now: Before) -> frozenset[str]:
    """Returns how it differs when a directory fails."""
    if not body.get("OfflineLogDirs"):
        return frozenset()
    found = {"a directory fails out of the ISR"} if body["BrokerId"] in now.outside else set()
    is_fenced = body["BrokerId"] in now.fenced
    if is_fenced and not body["WantFence"]:
        found.add("a directory fails with an unfencing")
    if not is_fenced and (body["WantFence"] or body["WantShutDown"]):
        found.add("a directory fails with a fencing")
    return frozenset(found)


def slows_down(call: Call) -> bool:
    """Returns whether Kafka's controller would delay all later responses, or refuse connections."""
    if call.api != "AlterClientQuotas":
        return False
    slow = ("request_percentage", "connection_creation_rate")
    operations = [each for entry in call.body["Entries"] for each in entry["Ops"]]
    return any(each["Key"] in slow and 0 < each["Value"] < 1000 for each in operations)


def _twice(values: Iterable[Any]) -> bool:
    found = [repr(each) for each in values]
    return len(set(found)) < len(found)


def _unknown_recovery_state(body: Body) -> bool:
    return any(
        each.get("LeaderRecoveryState", 0) not in (0, 1)
        for topic in body["Topics"]
        for each in topic["Partitions"]
    )


def _partition_of_an_id_twice(body: Body) -> bool:
    topics = body["Topics"]
    return _twice(
        (topic["TopicId"], each["PartitionIndex"]) for topic in topics for each in topic["Partitions"]
    )


def _partition_twice(body: Body) -> bool:
    topics = body["Topics"] or []
    named = [(topic["Name"], each["PartitionIndex"]) for topic in topics for each in topic["Partitions"]]
    return _twice(named) or _twice(topic["Name"] for topic in topics)


def _election_twice(body: Body) -> bool:
    topics = body["TopicPartitions"] or []
    return _twice((topic["Topic"], index) for topic in topics for index in topic["Partitions"])


def _no_change_of_a_config(body: Body) -> bool:
    for resource in body["Resources"]:
        for config in resource["Configs"]:
            operation = config["ConfigOperation"]
            if operation not in range(4) or (operation in (APPEND, SUBTRACT) and config["Value"] is None):
                return True
    return False


def _resource_twice(body: Body) -> bool:
    return _twice((each["ResourceType"], each["ResourceName"]) for each in body["Resources"])


def _not_what_a_broker_can_read(body: Body) -> bool:
    return any(
        config["Value"] is not None and not _is_readable(config["Name"], config["Value"])
        for resource in body["Resources"]
        if resource["ResourceType"] == BROKER
        for config in resource["Configs"]
    )


def _is_readable(name: str, value: str) -> bool:
    if name == ELECTION:
        return value.lower() in ("true", "false")
    if name == "max.connections":
        return value.isdecimal() and 0 < int(value) <= INT_MAX
    return name != "min.insync.replicas" or value.isdecimal()


def _code_of_a_filter(body: Body) -> bool:
    creations = body["Creations"]
    return any(each[name] not in codes for each in creations for name, codes in CODES_OF_ACLS.items())


def _network(body: Body) -> bool:
    return any("/" in creation["Host"] for creation in body["Creations"])


def _no_host(body: Body) -> bool:
    return any(not creation["Host"] for creation in body["Creations"])


def _more_partitions_than_an_integer_has(body: Body) -> bool:
    """Returns whether Kafka's sum of them may wrap around."""
    return (
        sum(max(1, topic["NumPartitions"], len(topic["Assignments"])) for topic in body["Topics"]) > INT_MAX
    )


def _too_many_partitions(body: Body) -> bool:
    return any(topic["Count"] > PARTITIONS_MAX for topic in body["Topics"])


def _entity_twice(body: Body) -> bool:
    """Of names of one type in an entity, the last counts."""
    return _twice(
        sorted({each["EntityType"]: str(each["EntityName"]) for each in entry["Entity"]}.items())
        for entry in body["Entries"]
    )


def _infinite_quota(body: Body) -> bool:
    values = [each["Value"] for entry in body["Entries"] for each in entry["Ops"]]
    return any(value != value or abs(value) == float("inf") for value in values)


def _snapshot_of_nothing(body: Body) -> bool:
    return not body["Topics"] or not all(each["Partitions"] for each in body["Topics"])


def _loggers_of_the_controller(body: Body) -> bool:
    own = (BROKER_LOGGER, CONTROLLER)
    return any((each["ResourceType"], each["ResourceName"]) == own for each in body["Resources"])


def _level_of_4_4(body: Body) -> bool:
    return any(
        each["MaxVersionLevel"] > LAST_LEVELS_OF_4_3.get(each["Feature"], 2**15)
        for each in body["FeatureUpdates"]
    )


def _malformed_listener(body: Body) -> bool:
    return any(
        not (each["Name"] and each["Host"].strip(BLANKS) and each["Port"])
        or each["SecurityProtocol"] not in range(4)
        for each in body["Listeners"]
    )


def _replaced_listener(body: Body) -> bool:
    """Returns whether only such are malformed as another listener of the name follows."""
    last = {each["Name"]: each for each in body["Listeners"]}
    return _malformed_listener(body) and not _malformed_listener({"Listeners": list(last.values())})


def _endpoints(body: Body) -> list[Body]:
    named: list[Body] = body["Listeners"] if "Listeners" in body else body["LeaderEndpoints"]
    return named


def _long_text(body: Body) -> bool:
    """Returns whether a text is longer than what nodes have: docs/limits.md has each limit."""
    texts = [each[name] for each in _endpoints(body) for name in ("Name", "Host")]
    texts += [each["Name"] for each in body.get("Features", ())]
    return any(len(text.encode("utf-8", "surrogatepass")) > NAME_BYTES_MAX for text in texts)


def _negative_id(body: Body) -> bool:
    return bool(body["BrokerId"] < 0)


def _nameless_listener(body: Body) -> bool:
    return any(not each["Name"].strip(BLANKS) for each in _endpoints(body))


Checks = dict[str, Callable[[Body], bool]]

CHECKS: dict[str, Checks] = {
    "AlterPartition": {
        "an unknown recovery state": _unknown_recovery_state,
        "a partition twice": _partition_of_an_id_twice,
    },
    "AlterPartitionReassignments": {"a partition twice": _partition_twice},
    "ElectLeaders": {"a partition twice": _election_twice},
    "IncrementalAlterConfigs": {
        "no change of a config": _no_change_of_a_config,
        "an unreadable config": _not_what_a_broker_can_read,
    },
    "AlterConfigs": {
        "a resource twice": _resource_twice,
        "an unreadable config": _not_what_a_broker_can_read,
    },
    "CreateTopics": {"more partitions than an integer has": _more_partitions_than_an_integer_has},
    "CreatePartitions": {"too many new partitions": _too_many_partitions},
    "CreateAcls": {"a code of a filter": _code_of_a_filter},
    "AlterClientQuotas": {"an entity twice": _entity_twice, "an infinite quota": _infinite_quota},
    "DescribeConfigs": {"loggers of the controller": _loggers_of_the_controller},
    "FetchSnapshot": {"a snapshot of nothing": _snapshot_of_nothing},
    "BrokerRegistration": {
        "a malformed listener": _malformed_listener,
        "a malformed listener that another one replaces": _replaced_listener,
        "a negative id": _negative_id,
        "a long text": _long_text,
    },
    "ControllerRegistration": {
        "a malformed listener": _malformed_listener,
        "a malformed listener that another one replaces": _replaced_listener,
        "a long text": _long_text,
    },
    **{
        api: {"a nameless listener": _nameless_listener, "a long text": _long_text}
        for api in NAMING_ENDPOINTS
    },
}
CHECKS_OF_4_3: dict[str, Checks] = {
    "CreateAcls": {"a network": _network, "no host": _no_host},
    "UpdateFeatures": {"a level of 4.4": _level_of_4_4},
}
