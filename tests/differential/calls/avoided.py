"""Calls that are known to end a round, because the outcome differs: most of them are not made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.differential.call import Call
from tests.differential.codec import Body

MADE_SHARE = 0.01
"""How many of them are made: each known difference still occurs in a long run."""

APPEND, SUBTRACT = 2, 3
BROKER = 4
LOWEST_LEVEL_OF_4_4 = 31
ELECTION = "unclean.leader.election.enable"
INT_MAX = 2**31 - 1
CODES_OF_ACLS = {
    "ResourceType": range(2, 8),
    "ResourcePatternType": range(3, 5),
    "Operation": range(2, 16),
    "PermissionType": range(2, 4),
}


def is_avoided(call: Call, kafka: str) -> bool:
    """Returns whether the call meets a known difference that parts the logs, or ends Kafka's controller."""
    check = CHECKS.get(call.api)
    return check is not None and check(call.body, kafka)


def slows_down(call: Call) -> bool:
    """Returns whether Kafka's controller would delay all later responses: a quota of its request threads."""
    if call.api != "AlterClientQuotas":
        return False
    operations = [each for entry in call.body["Entries"] for each in entry["Ops"]]
    return any(each["Key"] == "request_percentage" and 0 < each["Value"] < 1000 for each in operations)


def may_unfence_without_a_directory(call: Call) -> bool:
    """Returns whether a heartbeat may unfence a broker and report that a directory has failed."""
    body = call.body
    return call.api == "BrokerHeartbeat" and bool(body.get("OfflineLogDirs")) and not body["WantFence"]


def _twice(values: Iterable[Any]) -> bool:
    found = [repr(each) for each in values]
    return len(set(found)) < len(found)


def _unknown_recovery_state(body: Body, kafka: str) -> bool:
    named = [(repr(topic.get("TopicId")), each) for topic in body["Topics"] for each in topic["Partitions"]]
    if _twice((topic, each["PartitionIndex"]) for topic, each in named):
        return True
    return any(each.get("LeaderRecoveryState", 0) not in (0, 1) for _, each in named)


def _partition_twice(body: Body, kafka: str) -> bool:
    topics = body["Topics"] or []
    named = [(topic["Name"], each["PartitionIndex"]) for topic in topics for each in topic["Partitions"]]
    return _twice(named) or _twice(topic["Name"] for topic in topics)


def _election_twice(body: Body, kafka: str) -> bool:
    topics = body["TopicPartitions"] or []
    return _twice((topic["Topic"], index) for topic in topics for index in topic["Partitions"])


def _no_change_of_a_config(body: Body, kafka: str) -> bool:
    for resource in body["Resources"]:
        for config in resource["Configs"]:
            operation = config["ConfigOperation"]
            if operation not in range(4) or (operation in (APPEND, SUBTRACT) and config["Value"] is None):
                return True
    return _not_what_a_broker_can_read(body, kafka)


def _resource_twice(body: Body, kafka: str) -> bool:
    named = [(each["ResourceType"], each["ResourceName"]) for each in body["Resources"]]
    return _twice(named) or _not_what_a_broker_can_read(body, kafka)


def _not_what_a_broker_can_read(body: Body, kafka: str) -> bool:
    return any(
        config["Value"] is not None and not _is_readable(config["Name"], config["Value"])
        for resource in body["Resources"]
        if resource["ResourceType"] == BROKER
        for config in resource["Configs"]
    )


def _is_readable(name: str, value: str) -> bool:
    if name == ELECTION:
        return value.lower() in ("true", "false")
    return name != "min.insync.replicas" or value.isdecimal()


def _code_of_a_filter(body: Body, kafka: str) -> bool:
    for creation in body["Creations"]:
        if any(creation[name] not in codes for name, codes in CODES_OF_ACLS.items()):
            return True
        host = creation["Host"]
        if kafka < "4.4" and ("/" in host or not host):
            return True
    return False


def _odd_quota(body: Body, kafka: str) -> bool:
    entities = []
    for entry in body["Entries"]:
        entities.append(sorted((each["EntityType"], str(each["EntityName"])) for each in entry["Entity"]))
        if any(abs(each["Value"]) == float("inf") for each in entry["Ops"]):
            return True
    return _twice(entities)


def _more_partitions_than_an_integer_has(body: Body, kafka: str) -> bool:
    """Returns whether Kafka's sum of them may wrap around."""
    return (
        sum(max(1, topic["NumPartitions"], len(topic["Assignments"])) for topic in body["Topics"]) > INT_MAX
    )


def _snapshot_of_nothing(body: Body, kafka: str) -> bool:
    return not body["Topics"] or not all(each["Partitions"] for each in body["Topics"])


def _level_of_4_4(body: Body, kafka: str) -> bool:
    last = {"metadata.version": LOWEST_LEVEL_OF_4_4 - 1, "share.version": 1}
    return kafka < "4.4" and any(
        each["MaxVersionLevel"] > last.get(each["Feature"], 2**15) for each in body["FeatureUpdates"]
    )


def _malformed_listener(body: Body, kafka: str) -> bool:
    return any(
        not (each["Name"] and each["Host"].strip() and each["Port"])
        or each["SecurityProtocol"] not in range(4)
        for each in body["Listeners"]
    )


def _malformed_broker(body: Body, kafka: str) -> bool:
    return body["BrokerId"] < 0 or _malformed_listener(body, kafka)


def _nameless_listener(body: Body, kafka: str) -> bool:
    return any(not each["Name"] for each in body["Listeners"])


CHECKS: dict[str, Callable[[Body, str], bool]] = {
    "AlterPartition": _unknown_recovery_state,
    "AlterPartitionReassignments": _partition_twice,
    "ElectLeaders": _election_twice,
    "IncrementalAlterConfigs": _no_change_of_a_config,
    "AlterConfigs": _resource_twice,
    "CreateTopics": _more_partitions_than_an_integer_has,
    "CreateAcls": _code_of_a_filter,
    "AlterClientQuotas": _odd_quota,
    "FetchSnapshot": _snapshot_of_nothing,
    "UpdateFeatures": _level_of_4_4,
    "BrokerRegistration": _malformed_broker,
    "ControllerRegistration": _malformed_listener,
    "AddRaftVoter": _nameless_listener,
}
