"""What the audit log and the authorizer's log cost a controller: two kinds of requests, one check of a right.

`make bench-audit`, or `audit_cost.py [--requests N]`. Requests: processor time of a controller of one node, a
process, in turns with and without an audit log. Checks of rights: elapsed time in this process.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorizer_log import DEBUG, INFO
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_protocol.principal import KafkaPrincipal
from tests.bench.measure import processor_time_s
from tests.bench.table import Row, render
from tests.support.wire.controller_client import ControllerClient, StandInBroker

ROUNDS = 5
CHECKS = 200_000
WITHOUT = "without an audit log"


def topic(number: int) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=f"topic-{number}", num_partitions=1, replication_factor=1)]
    )


def retention(number: int) -> IncrementalAlterConfigsRequest:
    config = AlterableConfig(name="retention.ms", value=str(1_000 + number))
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name="topic-0", configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource])


def request_costs_us(directory: Path, requests: int, settings: dict[str, str]) -> tuple[float, float]:
    """Processor time of a CreateTopics and of an IncrementalAlterConfigs of one topic each."""
    cluster_id = random_id()
    node = KraftctlController(3000, directory, cluster_id, properties=settings)
    node.format()
    node.start()
    try:
        assert node.process is not None
        pid = node.process.pid
        with ControllerClient(node.port) as client:
            broker = StandInBroker(client, 1, cluster_id)
            await_result(broker.register, "the controller is active")
            await_result(broker.is_unfenced, "the broker is unfenced")
            used = [processor_time_s(pid)]
            for number in range(requests):
                client.call(topic(number), 7, CreateTopicsResponse)
            used.append(processor_time_s(pid))
            for number in range(requests):
                client.call(retention(number), 1, IncrementalAlterConfigsResponse)
            used.append(processor_time_s(pid))
    finally:
        node.kill()
    return (used[1] - used[0]) / requests * 1e6, (used[2] - used[1]) / requests * 1e6


def request_rows(requests: int) -> list[Row]:
    """The medians of rounds in turn."""
    off: list[tuple[float, float]] = []
    on: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory)
            off.append(request_costs_us(path / "off", requests, {}))
            audited = {"kraftctl.audit.log.path": str(path / "audit.log")}
            on.append(request_costs_us(path / "on", requests, audited))
    return [
        Row(
            f"{what}, with an audit log",
            statistics.median(cost[index] for cost in on),
            "us",
            WITHOUT,
            statistics.median(cost[index] for cost in off),
        )
        for index, what in enumerate(("CreateTopics", "IncrementalAlterConfigs"))
    ]


def check_us(threshold: int, allowed: bool) -> float:
    """One check of a right on a topic with one entry."""
    image = MetadataImage()
    entry = AclEntry(
        resource_type=2,
        resource_name="t",
        pattern_type=3,
        principal="User:alice",
        host="*",
        operation=AclOperation.READ,
        permission_type=3,
    )
    image.acls.index.add(bytes(16), entry)
    authorizer = StandardAuthorizer(image, [], False)
    authorizer.metadata_loaded()
    authorizer.log.threshold = threshold
    context = RequestContext(
        api=API_TABLE[ApiKey.CREATE_TOPICS],
        version=7,
        client_id=None,
        principal=KafkaPrincipal("User", "alice"),
        listener="CONTROLLER",
        client_address=b"\x7f\x00\x00\x01",
    )
    operation = AclOperation.READ if allowed else AclOperation.WRITE
    rounds: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for number in range(CHECKS):
            authorizer.allows(context, operation, 2, "t")
            if number % 10 == 0:
                authorizer.log.take()
                authorizer.log.take_left_out_count()
        rounds.append(time.perf_counter() - began)
    return min(rounds) / CHECKS * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=2_000)
    options = parser.parse_args()
    granted = check_us(INFO, True)
    print(
        render(
            [
                *request_rows(options.requests),
                Row("a right that is granted", granted, "us", "level info", granted),
                Row("the same, level debug", check_us(DEBUG, True), "us", "level info", granted),
                Row("a right that is denied, level info", check_us(INFO, False), "us", "granted", granted),
            ]
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
