"""Kafka's controller and kraftctl let a client wait that has used up its quota of changes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.message import Message
from tests.support.processes.kafka import kafka
from tests.support.wire.controller_client import ControllerClient, StandInBroker
from tests.support.wire.refusing_controller import SETTINGS, forwarded

pytestmark = pytest.mark.interop

CHARGED_CLIENT = "c"
RATE = 2.0
BURST = 22
"""Kafka's window of eleven seconds."""

STRICT, PERMISSIVE = 7, 5
TOPICS_MAX = 20

SOON_SECONDS = 1.5
"""Shorter than any time that is waited for here."""

UNREAD_MS = 50
"""The clocks of both processes, and the time between the end of a response and when it is read here."""


@pytest.fixture(scope="module", params=["java", "kraftctl"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A controller with one broker and a client that has used up its quota."""
    is_java = request.param == "java"
    directory = tmp_path_factory.mktemp(request.param)
    with Cluster(
        kafka(), directory, brokers=0, java_controller=is_java, controller_settings=SETTINGS
    ) as cluster:
        with ControllerClient(cluster.controller.port) as client:
            broker = StandInBroker(client, 1, cluster.cluster_id)
            await_result(broker.register, "the controller is active")
            await_result(broker.is_unfenced, "the broker is unfenced")
            entry = EntryData(
                entity=[EntityData(entity_type="client-id", entity_name=CHARGED_CLIENT)],
                ops=[OpData(key="controller_mutation_rate", value=RATE)],
            )
            client.call(AlterClientQuotasRequest(entries=[entry]), 1, Message)
        yield cluster.controller.port


def creation(name: str, partitions: int) -> CreateTopicsRequest:
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=[1]) for index in range(partitions)
    ]
    topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments)
    return CreateTopicsRequest(topics=[topic], timeout_ms=10_000)


def charged(response: Message, expected: Errors) -> int:
    """Returns the time that the client is to wait."""
    assert isinstance(response, CreateTopicsResponse)
    assert [each.error_code for each in response.topics] == [expected]
    return response.throttle_time_ms


def served_after_ms(client: ControllerClient) -> float:
    began_s = time.monotonic()
    client.call(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3, Message)
    return (time.monotonic() - began_s) * 1000


def use_up_the_quota(port: int) -> None:
    """Creates topics until one is refused: Kafka obeys a new quota a moment after it has responded."""
    with ControllerClient(port, client_id=CHARGED_CLIENT) as client:
        for number in range(TOPICS_MAX):
            response = client.call(creation(f"first-{number}", BURST + 18), STRICT, CreateTopicsResponse)
            if response.topics[0].error_code == Errors.THROTTLING_QUOTA_EXCEEDED:
                return
            assert charged(response, Errors.NONE) == 0
            assert served_after_ms(client) < SOON_SECONDS * 1000, "what is accepted lets no client wait"
    raise AssertionError(f"{TOPICS_MAX} topics were not charged")


def test_only_the_connection_of_a_client_itself_waits(port: int) -> None:
    soon_ms = SOON_SECONDS * 1000
    use_up_the_quota(port)
    with ControllerClient(port) as broker, ControllerClient(port, client_id=CHARGED_CLIENT) as client:
        wait_ms = charged(forwarded(broker, "ANONYMOUS", creation("b", 1)), Errors.THROTTLING_QUOTA_EXCEEDED)
        assert wait_ms > soon_ms
        assert served_after_ms(broker) < soon_ms, "a broker keeps its own client waiting"

        refused = client.call(creation("second", 1), STRICT, Message)
        wait_ms = charged(refused, Errors.THROTTLING_QUOTA_EXCEEDED)
        assert wait_ms > soon_ms
        assert served_after_ms(broker) < soon_ms, "other connections are served"
        assert served_after_ms(client) >= wait_ms - soon_ms

        wait_ms = charged(client.call(creation("third", 6), PERMISSIVE, Message), Errors.NONE)
        assert wait_ms > soon_ms
        assert served_after_ms(client) >= wait_ms - UNREAD_MS
        assert served_after_ms(client) < soon_ms


def served_connections(port: int, count: int) -> int:
    """Returns how many of so many clients, one after the other, get a response."""
    served = 0
    for _ in range(count):
        with suppress(OSError), ControllerClient(port) as client:
            served_after_ms(client)
            served += 1
    return served


def test_a_rate_of_new_connections_of_addresses_is_that_of_brokers(
    port: int, request: pytest.FixtureRequest
) -> None:
    """Only Kafka's controller refuses an address whose controllers or brokers come back too often."""
    every_address = EntityData(entity_type="ip", entity_name=None)
    with ControllerClient(port) as client:

        def limit(*, remove: bool) -> None:
            rate = OpData(key="connection_creation_rate", value=1.0, remove=remove)
            entry = EntryData(entity=[every_address], ops=[rate])
            client.call(AlterClientQuotasRequest(entries=[entry]), 1, Message)

        limit(remove=False)
        try:
            if "java" in request.node.name:
                await_result(lambda: served_connections(port, 30) < 30, "connections are refused")
            else:
                assert served_connections(port, 30) == 30
        finally:
            limit(remove=True)
