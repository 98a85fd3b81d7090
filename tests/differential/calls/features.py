"""Calls about features, controllers, and the cluster as a whole."""

from __future__ import annotations

from tests.differential.call import Call
from tests.differential.calls.brokers import FEATURES
from tests.differential.calls.chooser import Chooser
from tests.differential.codec import Body
from tests.differential.sides import CLUSTER_ID


def update_features(pick: Chooser) -> list[Call]:
    def update() -> Body:
        name = pick.one([*FEATURES, "metadata.version"]) if pick.often(0.95) else pick.one(("", "bogus"))
        held = pick.picture.features.get(name, 0)
        level = held + pick.one((0, 1, 1, 1, -1, 2, -2)) if pick.often(0.85) else pick.one((0, -1, 1, 30, 99))
        return {
            "Feature": name,
            "MaxVersionLevel": level,
            "AllowDowngrade": pick.often(0.3),
            "UpgradeType": pick.one((1, 1, 1, 2, 3, 0)) if pick.often(0.97) else pick.one((4, -1)),
        }

    body = {"timeoutMs": 60000, "FeatureUpdates": pick.some(update, 2), "ValidateOnly": pick.often(0.3)}
    return [Call("UpdateFeatures", pick.version("UpdateFeatures"), body)]


def may_raise_kraft_version(call: Call) -> bool:
    """Returns whether Kafka's controller may raise kraft.version and refuse the call."""
    if call.api != "UpdateFeatures":
        return False
    named = [each["Feature"] for each in call.body["FeatureUpdates"]]
    return "kraft.version" in named and len(named) > 1


def kraft_version_raised() -> Call:
    """Raises it if it is not raised yet: then both controllers have the same again."""
    return Call("UpdateFeatures", 1, {"FeatureUpdates": [{"Feature": "kraft.version", "MaxVersionLevel": 1}]})


def controller_registration(pick: Chooser) -> list[Call]:
    body = {
        "ControllerId": pick.one((3001, 3002, 3003, -1)) if pick.often(0.9) else pick.broker(),
        "IncarnationId": pick.uuid(),
        "ZkMigrationReady": pick.often(0.1),
        "Listeners": [
            {
                "Name": "CONTROLLER",
                "Host": "localhost",
                "Port": 9999,
                "SecurityProtocol": pick.one((0, 0, 1, 2)),
            }
        ]
        * pick.one((1, 1, 1, 1, 0, 2)),
        "Features": [
            {
                "Name": name,
                "MinSupportedVersion": low,
                "MaxSupportedVersion": high if pick.often(0.95) else 1,
            }
            for name, (low, high) in FEATURES.items()
        ],
    }
    return [Call("ControllerRegistration", 0, body)]


def unregister_controller(pick: Chooser) -> list[Call]:
    return [Call("UnregisterController", 0, {"ControllerId": pick.one((3000, 3001, 3002, 3003, -1, 99))})]


def api_versions(pick: Chooser) -> list[Call]:
    body = {
        "ClientSoftwareName": pick.one(("client", "client", "a-b.c", "", "a b", "-x", "x-", "ü")),
        "ClientSoftwareVersion": pick.one(("1", "1", "1.2.3", "", "1 2", ".1")),
        "ClusterId": pick.one((None, None, CLUSTER_ID, "other")),
        "NodeId": pick.one((-1, -1, 3000, 7)),
    }
    version = pick.version("ApiVersions") if pick.often(0.95) else pick.one((6, 9, 32767))
    return [Call("ApiVersions", version, body)]


def describe_cluster(pick: Chooser) -> list[Call]:
    body = {
        "IncludeClusterAuthorizedOperations": pick.often(0.5),
        "EndpointType": pick.one((2, 2, 2, 1, 0, 3)),
        "IncludeFencedBrokers": pick.often(0.3),
    }
    return [Call("DescribeCluster", pick.version("DescribeCluster"), body)]
