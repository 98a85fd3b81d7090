"""Calls of kafka-storage, kafka-features and kafka-cluster, and the cluster and directories that they ask.

In arguments, `DIR` is replaced by a folder with the files of `write_directories`, `NODE` by an address.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.generated.metadata_response import MetadataResponse, MetadataResponseBroker
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from kraftctl_protocol.generated.update_features_request import UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import UpdateFeaturesResponse
from kraftctl_protocol.message import Message
from tests.support.wire.scripted_node import ScriptedNode

CLUSTER_ID = "V50AZlDfQ6SyNYSsdWVE0A"
OTHER_CLUSTER_ID = "Iwh5lPK0R0eBYhMhC6bZkA"

FIRST = f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=1\ndirectory.id=EGCcgTBYQvGWdKDgmZJGWw\n"
SECOND = f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=1\ndirectory.id=JEXY6aqzQY-32P5TStzaFg\n"

META_PROPERTIES = {
    "first": FIRST,
    "second": SECOND,
    "before-3.7": f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=1\n",
    "other-cluster": f"version=1\ncluster.id={OTHER_CLUSTER_ID}\nnode.id=1\n",
    "other-node": f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=2\n",
    "bad-node-id": f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=x\n",
    "no-cluster-id": "version=1\nnode.id=1\n",
    "version-0": "version=0\nbroker.id=1\n",
    "version-2": f"version=2\ncluster.id={CLUSTER_ID}\nnode.id=1\n",
    "bad-directory-id": f"{FIRST}directory.id=x\n",
    "empty-file": "",
}
"""Directory -> its meta.properties; `unformatted` has none, `file` is none, and `missing` does not exist."""

CONFIGURED = {
    "first": "first",
    "two": "second,first",
    "before-3.7": "before-3.7",
    "contradiction": "first,other-cluster,other-node,unformatted,missing",
    "two-nodes": "first,other-node",
    "damaged-first": "bad-node-id,second",
    "with-data": "second",
    "twice": "first,first",
} | {
    name: name
    for name in (*list(META_PROPERTIES)[5:], "unformatted", "file", "missing")
}  # fmt: skip
"""Properties file -> its log.dirs."""

BASE = """\
process.roles=controller
node.id=1
controller.listener.names=CONTROLLER
listeners=CONTROLLER://localhost:9093
controller.quorum.voters=1@localhost:9093
"""


def write_directories(folder: Path) -> None:
    for name, content in META_PROPERTIES.items():
        (folder / name).mkdir()
        (folder / name / "meta.properties").write_text(content)
    (folder / "unformatted").mkdir()
    (folder / "file").write_text("")
    for name, log_dirs in CONFIGURED.items():
        paths = ",".join(str(folder / log_dir) for log_dir in log_dirs.split(","))
        (folder / f"{name}.properties").write_text(f"{BASE}log.dirs={paths}\n")
    with (folder / "with-data.properties").open("a") as file:
        file.write(f"metadata.log.dir={folder / 'first'}/\n")
    (folder / "no-role.properties").write_text("log.dirs=unformatted\n")
    (folder / "wrong-limit.properties").write_text("default.api.timeout.ms=x\n")


SUPPORTED = {
    "metadata.version": (7, 33),
    "kraft.version": (0, 1),
    "group.version": (0, 1),
    "share.version": (0, 2),
    "of.another.product.and.with.a.name.longer.than.the.column": (1, 3),
}

FINALIZED = {"metadata.version": 30, "kraft.version": 1, "group.version": 1}

REFUSED = {
    "refused.version": (Errors.INVALID_UPDATE_VERSION, "Not that one."),
    "denied.version": (Errors.CLUSTER_AUTHORIZATION_FAILED, "You may not."),
}
"""Feature -> how its update is refused."""

UNKNOWN_ID = 9

FENCED_ID = 17

HOSTS = {1: "127.0.0.1", 2: "localhost", FENCED_ID: "localhost"}
"""All are the same node."""


def tool_node(finalized_epoch: int = 77) -> ScriptedNode:
    """Node 1 of a cluster: a broker to those that ask for brokers, and a controller to the others."""
    node = ScriptedNode({})
    node.supported = SUPPORTED
    node.finalized = FINALIZED
    node.finalized_epoch = finalized_epoch

    def described_cluster(request: Message) -> Message:
        assert isinstance(request, DescribeClusterRequest)
        nodes = [
            DescribeClusterBroker(
                broker_id=node_id,
                host=host,
                port=node.port,
                rack="rack-of-two" if node_id == 2 else None,
                is_fenced=node_id == FENCED_ID,
            )
            for node_id, host in HOSTS.items()
            if node_id != FENCED_ID or request.include_fenced_brokers
        ]
        return DescribeClusterResponse(
            endpoint_type=request.endpoint_type, cluster_id=CLUSTER_ID, controller_id=1, brokers=nodes
        )

    def metadata(_: Message) -> Message:
        brokers = [
            MetadataResponseBroker(node_id=node_id, host=host, port=node.port)
            for node_id, host in HOSTS.items()
        ]
        return MetadataResponse(brokers=brokers, cluster_id=CLUSTER_ID, controller_id=1)

    def unregistered_broker(request: Message) -> Message:
        assert isinstance(request, UnregisterBrokerRequest)
        unknown = request.broker_id == UNKNOWN_ID
        return UnregisterBrokerResponse(error_code=Errors.BROKER_ID_NOT_REGISTERED if unknown else 0)

    def unregistered_controller(request: Message) -> Message:
        assert isinstance(request, UnregisterControllerRequest)
        unknown = request.controller_id == UNKNOWN_ID
        return UnregisterControllerResponse(error_code=Errors.CONTROLLER_ID_NOT_REGISTERED if unknown else 0)

    node.script.update(
        {
            DescribeClusterRequest: described_cluster,
            MetadataRequest: metadata,
            UnregisterBrokerRequest: unregistered_broker,
            UnregisterControllerRequest: unregistered_controller,
            UpdateFeaturesRequest: _updated,
        }
    )
    return node


def _updated(request: Message) -> Message:
    assert isinstance(request, UpdateFeaturesRequest)
    for update in request.feature_updates:
        if update.feature in REFUSED:
            error, message = REFUSED[update.feature]
            return UpdateFeaturesResponse(error_code=error, error_message=message)
    return UpdateFeaturesResponse(error_message=None)


@dataclass(frozen=True)
class ToolCase:
    """A call of one of Kafka's tools; `ours` is the command of kraftctl for it."""

    tool: str
    arguments: tuple[str, ...]

    @property
    def ours(self) -> str:
        return self.tool.removeprefix("kafka-")

    @property
    def name(self) -> str:
        return " ".join((self.tool, *(argument or "''" for argument in self.arguments)))

    def placed(self, folder: Path, address: str) -> list[str]:
        return [text.replace("DIR", str(folder)).replace("NODE", address) for text in self.arguments]


def _cases(tool: str, rows: str) -> list[ToolCase]:
    """A line is a call; `''` is an empty argument, and `_` a blank within an argument."""
    return [
        ToolCase(tool, tuple("" if word == "''" else word.replace("_", " ") for word in row.split()))
        for row in rows.strip().splitlines()
    ]


STORAGE = (
    "".join(f"info -c DIR/{name}.properties\n" for name in CONFIGURED)
    + """
info --config DIR/first.properties
info
info -c DIR/absent.properties
info -c DIR/no-role.properties
info -c DIR/first.properties extra
nonsense
version-mapping
version-mapping -r 3.7
version-mapping --release-version 3.9-IV0
version-mapping -r 4.3
version-mapping -r 4.3.1
version-mapping -r 4.4
version-mapping -r 4.4-IV0
version-mapping -r 4.4-IV2
version-mapping -r 3.3-IV3
version-mapping -r 3.2
version-mapping -r 9.9
version-mapping -r nonsense
version-mapping -r ''
version-mapping extra
feature-dependencies
feature-dependencies -f share.version=1
feature-dependencies -f share.version=2
feature-dependencies -f metadata.version=7
feature-dependencies -f metadata.version=30
feature-dependencies --feature metadata.version=31
feature-dependencies -f metadata.version=33
feature-dependencies -f metadata.version=99
feature-dependencies -f metadata.version=6
feature-dependencies -f metadata.version=0
feature-dependencies -f eligible.leader.replicas.version=1
feature-dependencies -f eligible.leader.replicas.version=0 -f transaction.version=2 -f transaction.version=1
feature-dependencies -f group.version=1 -f streams.version=1 -f kraft.version=1 -f kraft.version=0
feature-dependencies -f kraft.version=2
feature-dependencies -f group.version=-1
feature-dependencies -f unknown.version=1
feature-dependencies -f group.version
feature-dependencies -f group.version=x
feature-dependencies -f group.version=1 -f unknown.version=1
feature-dependencies -f _group.version_=_1_
random-uuid extra
format -c DIR/unformatted.properties
format -c DIR/absent.properties -t V50AZlDfQ6SyNYSsdWVE0A
format -c DIR/unformatted.properties -t V50AZlDfQ6SyNYSsdWVE0A -r 3.2
format -c DIR/unformatted.properties -t V50AZlDfQ6SyNYSsdWVE0A -f group.version
format -c DIR/unformatted.properties -t V50AZlDfQ6SyNYSsdWVE0A -s -N
format -c DIR/first.properties -t V50AZlDfQ6SyNYSsdWVE0A
"""
)

FEATURES = """
version-mapping
--bootstrap-server NODE version-mapping
--bootstrap-controller NODE version-mapping --release-version 3.9
--bootstrap-controller NODE version-mapping --release-version nonsense
--bootstrap-controller NODE version-mapping -r 3.9
feature-dependencies --feature eligible.leader.replicas.version=1 --feature metadata.version=30
feature-dependencies --feature group.version=9
feature-dependencies --feature unknown.version=1
feature-dependencies --feature group.version
feature-dependencies -f group.version=1
feature-dependencies
describe
--bootstrap-server NODE
--bootstrap-server NODE nonsense
--bootstrap-server NODE --bootstrap-controller NODE describe
--bootstrap-server NODE --bootstrap-controller NODE version-mapping
--bootstrap-server '' describe
--bootstrap-server nonsense describe
--bootstrap-server NODE --command-config DIR/absent.properties describe
--bootstrap-server NODE --command-config DIR/wrong-limit.properties describe
--bootstrap-server NODE describe
--bootstrap-controller NODE describe
--bootstrap-server NODE describe --node-id 2
--bootstrap-controller NODE describe --node-id 1
--bootstrap-controller NODE describe --node-id x
--bootstrap-controller NODE describe --node-id -1
--bootstrap-controller NODE describe extra
--bootstrap-server NODE upgrade --feature group.version=1
--bootstrap-controller NODE upgrade --feature group.version=1 --feature share.version=2 --dry-run
--bootstrap-controller NODE upgrade --feature _group.version_=_1_
--bootstrap-controller NODE upgrade --release-version 4.0
--bootstrap-controller NODE upgrade --release-version 3.3-IV3 --dry-run
--bootstrap-controller NODE upgrade --metadata 4.2-IV0
--bootstrap-controller NODE upgrade --metadata 4.2-IV0 --feature group.version=1
--bootstrap-controller NODE upgrade --feature refused.version=3 --feature group.version=1
--bootstrap-controller NODE upgrade --feature refused.version=3 --dry-run
--bootstrap-controller NODE upgrade --feature denied.version=1
--bootstrap-controller NODE upgrade
--bootstrap-controller NODE upgrade --metadata nonsense
--bootstrap-controller NODE upgrade --release-version nonsense
--bootstrap-controller NODE upgrade --release-version 3.2
--bootstrap-controller NODE upgrade --release-version 4.0 --feature group.version=1
--bootstrap-controller NODE upgrade --release-version 4.0 --metadata 4.0
--bootstrap-controller NODE upgrade --feature group.version
--bootstrap-controller NODE upgrade --feature group.version=x
--bootstrap-controller NODE upgrade --feature group.version=70000
--bootstrap-controller NODE upgrade --feature group.version=1 --feature group.version=1
--bootstrap-controller NODE upgrade --feature group.version=1 --unsafe
--bootstrap-controller NODE downgrade --feature group.version=0
--bootstrap-controller NODE downgrade --feature group.version=0 --unsafe
--bootstrap-controller NODE downgrade --feature group.version=0 --dry-run
--bootstrap-controller NODE downgrade --release-version 3.9
--bootstrap-controller NODE downgrade --release-version 3.7 --unsafe
--bootstrap-controller NODE downgrade --metadata 4.1 --unsafe
--bootstrap-controller NODE downgrade --feature refused.version=1
--bootstrap-controller NODE downgrade
--bootstrap-controller NODE disable --feature group.version
--bootstrap-controller NODE disable --feature group.version --feature share.version --unsafe --dry-run
--bootstrap-controller NODE disable --feature refused.version
--bootstrap-controller NODE disable --feature refused.version --dry-run
--bootstrap-controller NODE disable --feature a --feature a
--bootstrap-controller NODE disable
"""

CLUSTER = """
nonsense
cluster-id
cluster-id -b NODE
cluster-id --bootstrap-server NODE
cluster-id -C NODE
cluster-id --bootstrap-controller NODE --command-config DIR/first.properties
cluster-id -b NODE -c DIR/first.properties
cluster-id -b NODE --config DIR/first.properties
cluster-id -b NODE --config DIR/first.properties --command-config DIR/first.properties
cluster-id -b NODE -c DIR/absent.properties
cluster-id -b NODE -C NODE
cluster-id -b ''
cluster-id -b nonsense
-b NODE cluster-id
list-endpoints
list-endpoints -b NODE
list-endpoints --bootstrap-server NODE --include-fenced-brokers
list-endpoints --bootstrap-controller NODE
list-endpoints -C NODE --include-fenced-brokers
unregister -b NODE
unregister -b NODE -i x
unregister -i 1
unregister -b NODE -i 1
unregister -C NODE --id 2
unregister -b NODE -i 9
unregister-controller -C NODE
unregister-controller -C NODE -i 3
unregister-controller --bootstrap-server NODE --id 3
unregister-controller -C NODE -i 9
"""

CASES = [
    *_cases("kafka-storage", STORAGE),
    *_cases("kafka-features", FEATURES),
    *_cases("kafka-cluster", CLUSTER),
]
