"""Calls that once differed, each list in one round after the one before: none may differ again."""

from __future__ import annotations

from tests.differential.call import Call, Damage, Forwarded, Ref
from tests.differential.calls.brokers import FEATURES, plain_heartbeat
from tests.differential.calls.chooser import directory_id
from tests.differential.codec import Body, uuid_text
from tests.differential.sides import CLUSTER_ID


def listener(name: str, port: int) -> Body:
    return {"Name": name, "Host": "localhost", "Port": port, "SecurityProtocol": 0}


def features() -> list[Body]:
    return [
        {"Name": name, "MinSupportedVersion": low, "MaxSupportedVersion": high}
        for name, (low, high) in FEATURES.items()
    ]


def registration(broker: int, *listeners: Body) -> Call:
    body = {
        "BrokerId": broker,
        "ClusterId": CLUSTER_ID,
        "IncarnationId": uuid_text(bytes([broker] * 16)),
        "Listeners": list(listeners or [listener("PLAINTEXT", 9000)]),
        "Features": features(),
        "LogDirs": [directory_id(broker, 0), directory_id(broker, 1)],
    }
    return Call("BrokerRegistration", 4, body)


def heartbeat(broker: int, **changes: object) -> Call:
    plain = plain_heartbeat(broker)
    return Call("BrokerHeartbeat", 2, {**plain.body, **changes})


def fetch(version: int) -> Call:
    partition = {"CurrentLeaderEpoch": Ref("leader epoch"), "LastFetchedEpoch": 1, "PartitionMaxBytes": 1000}
    topic = {
        "Topic": "__cluster_metadata",
        "TopicId": uuid_text(bytes(15) + b"\1"),
        "Partitions": [partition],
    }
    return Call("Fetch", version, {"ReplicaId": 7, "Topics": [topic]})


def on_brokers(topic: str, *brokers: int) -> Body:
    assignment = {"PartitionIndex": 0, "BrokerIds": list(brokers)}
    return {
        "Topics": [{"Name": topic, "NumPartitions": -1, "ReplicationFactor": -1, "Assignments": [assignment]}]
    }


def reassignment(topic: str, *replicas: int) -> Call:
    partition = {"PartitionIndex": 0, "Replicas": list(replicas)}
    topics = [{"Name": topic, "Partitions": [partition]}]
    return Call("AlterPartitionReassignments", 1, {"AllowReplicationFactorChange": True, "Topics": topics})


def with_config(topic: str, name: str, value: str) -> Call:
    config = {"Name": name, "ConfigOperation": 0, "Value": value}
    resource = {"ResourceType": 2, "ResourceName": topic, "Configs": [config]}
    return Call("IncrementalAlterConfigs", 1, {"Resources": [resource]})


def without_elr() -> Call:
    update = {"Feature": "eligible.leader.replicas.version", "MaxVersionLevel": 0, "UpgradeType": 2}
    return Call("UpdateFeatures", 1, {"FeatureUpdates": [update]})


ANYWHERE = {"Topics": [{"Name": "all", "NumPartitions": 1, "ReplicationFactor": 6, "Assignments": []}]}

FOUND: dict[str, list[Call]] = {
    "a fenced broker that shuts down is fenced again": [
        registration(4),
        heartbeat(4, WantFence=True),
        heartbeat(4, WantShutDown=True),
        heartbeat(4, WantShutDown=True, WantFence=True),
    ],
    "of listeners with one name the last is registered": [
        registration(5, listener("PLAINTEXT", 1), listener("X", 2), listener("PLAINTEXT", 3)),
        Call(
            "ControllerRegistration",
            0,
            {
                "ControllerId": 3001,
                "IncarnationId": uuid_text(bytes(16)),
                "Listeners": [listener("CONTROLLER", 1), listener("CONTROLLER", 2)],
                "Features": features(),
            },
        ),
    ],
    "a broker whose registration has changed holds up shutdowns": [
        registration(1),
        heartbeat(1),
        registration(2),
        heartbeat(2),
        Call("CreateTopics", 7, on_brokers("t", 1, 2)),
        heartbeat(1, WantShutDown=True),
        heartbeat(2, OfflineLogDirs=[directory_id(2, 1)]),
        heartbeat(1, WantShutDown=True),
        heartbeat(2),
        heartbeat(1, WantShutDown=True),
    ],
    "a broker that registers again is no longer shutting down": [
        registration(11),
        heartbeat(11),
        registration(12),
        heartbeat(12),
        Call("CreateTopics", 7, on_brokers("again", 11, 12)),
        heartbeat(11, WantShutDown=True),
        registration(11),
        heartbeat(12),
        heartbeat(11),
    ],
    "brokers that have shut down get replicas": [
        heartbeat(11, WantShutDown=True),
        heartbeat(12),
        heartbeat(11, WantShutDown=True),
        Call("CreateTopics", 7, ANYWHERE),
    ],
    "features that start at 0 are left out for old clients": [
        Call("ApiVersions", 3, {"ClientSoftwareName": "a", "ClientSoftwareVersion": "1"}),
    ],
    "a Fetch by name is refused as a whole": [fetch(version) for version in range(4, 19)],
    "bytes behind a request are ignored": [
        Call("DescribeCluster", 0, {}, damage=Damage(appended=b"\0\0\0\0")),
        Call("DescribeCluster", 2, {"EndpointType": 2}, damage=Damage(appended=b"x")),
        Call("ListPartitionReassignments", 0, {}, Forwarded("alice"), Damage(appended=b"\0")),
    ],
    "a reassignment of nothing": [
        Call("AlterPartitionReassignments", version, {"AllowReplicationFactorChange": False})
        for version in (0, 1)
    ],
    "an ELR ends without its feature though its partition stays without leader, when another is unfenced": [
        *[call for broker in (31, 32) for call in (registration(broker), heartbeat(broker))],
        Call("CreateTopics", 7, on_brokers("eligible", 31, 32)),
        with_config("eligible", "min.insync.replicas", "2"),
        heartbeat(32, WantFence=True),
        heartbeat(31, WantFence=True),
        without_elr(),
        registration(33),
        heartbeat(33),
    ],
    "a reassignment ends though its partition stays without leader, when another broker is unfenced": [
        without_elr(),
        *[call for broker in (21, 22, 23) for call in (registration(broker), heartbeat(broker))],
        Call("CreateTopics", 7, on_brokers("stays", 21)),
        reassignment("stays", 21, 22),
        heartbeat(21, WantFence=True),
        Call(
            "ElectLeaders", 2, {"ElectionType": 1, "TopicPartitions": [{"Topic": "stays", "Partitions": [0]}]}
        ),
        heartbeat(22, WantFence=True),
        heartbeat(23, WantFence=True),
        heartbeat(23),
    ],
    "a fenced broker that shuts down leaves a leadership to a replica that the partition got meanwhile": [
        *[call for broker in (23, 24) for call in (registration(broker), heartbeat(broker))],
        Call("CreateTopics", 7, on_brokers("last", 24)),
        with_config("last", "unclean.leader.election.enable", "true"),
        heartbeat(24, WantFence=True),
        reassignment("last", 24, 23),
        heartbeat(24, WantShutDown=True),
    ],
}
