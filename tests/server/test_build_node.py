"""What a controller that is built from its properties tells others about itself."""

from __future__ import annotations

import random
import socket
from pathlib import Path

from kraftctl.config import ControllerConfig
from kraftctl.server.controller_server import build_node
from kraftctl.storage.meta_properties import MetaProperties
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.uuids import random_uuid


def test_tools_are_told_an_address_they_can_reach(tmp_path: Path) -> None:
    """Behind a wildcard listener it is this machine's name, as the raft layer tells it, never localhost."""
    config = ControllerConfig(
        {
            "process.roles": "controller",
            "node.id": "1",
            "controller.listener.names": "CONTROLLER",
            "listeners": "CONTROLLER://:9093",
            "controller.quorum.bootstrap.servers": "localhost:9093",
            "log.dirs": str(tmp_path),
        }
    )
    meta = MetaProperties("MkU3OEVBNTcwNTJENDM2Qg", 1, random_uuid(random.Random(1)))
    partition = MetadataPartition.open(tmp_path)
    try:
        node = build_node(config, meta, partition)
    finally:
        partition.close()
    endpoint = node._controller.own_registration.listeners["CONTROLLER"]
    assert (endpoint.host, endpoint.port) == (socket.getfqdn(), 9093)
