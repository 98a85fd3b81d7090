"""No request, record or starting follower ends a controller or its leadership."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.principal import KafkaPrincipal, serialize_principal
from kraftctl_protocol.record_batch import encode_batch, read_batches
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.processes.quorum import Quorum, leads, log_bytes, topics_known_to
from tests.support.wire.controller_client import ControllerClient, StandInBroker, create_topics

pytestmark = pytest.mark.slow

FETCH_TIMEOUT_MS = 10_000
"""A leader resigns after one and a half times this without a Fetch: no process starts that slowly."""

BROKER_RESOURCE = 4

TOKEN_VERSION = 3

NAME_BYTES = 32_764
"""The length of a principal's name that fits a string, but not after `User:`."""


@contextmanager
def controller(directory: Path, **settings: str) -> Iterator[KraftctlController]:
    """The only voter, formatted; the caller starts it."""
    properties = {name.replace("_", "."): value for name, value in settings.items()}
    node = KraftctlController(3000, directory, random_id(), properties=properties)
    node.format()
    try:
        yield node
    finally:
        node.kill()


def test_a_restarted_follower_is_served_while_a_write_waits_for_it(tmp_path: Path) -> None:
    """Its first request is ApiVersions: if that waited for the write, the write would never be committed."""
    settings = {"controller.quorum.fetch.timeout.ms": str(FETCH_TIMEOUT_MS)}
    with Quorum(tmp_path, dynamic=False, settings=settings) as quorum, ThreadPoolExecutor(1) as pool:
        leader = quorum.leader()
        lost, follower = [node for node in quorum.nodes if node is not leader]
        with ControllerClient(leader.port, timeout_s=60.0) as client:
            broker = StandInBroker(client, 1, quorum.cluster_id)
            await_result(broker.register, "the controller is active")
            await_result(broker.is_unfenced, "the broker is unfenced")
            lost.kill()
            follower.pause()
            topic = CreatableTopic(name="pending", num_partitions=1, replication_factor=1)
            write = pool.submit(client.call, CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
            await_result(lambda: "pending" in topics_known_to(leader), "the leader has appended the topic")
            assert not write.done()
            follower.kill()
            follower.start(wait=False)
            answer = write.result()
        assert [entry.error_code for entry in answer.topics] == [Errors.NONE]
        assert leads(leader)
        assert leader.process is not None
        assert not [line for line in leader.process.lines() if "Renouncing the leadership" in line]


def test_a_token_for_a_name_that_no_record_can_hold(tmp_path: Path) -> None:
    """The owner is `User:` and the name: longer than a string of a record may be."""
    with controller(tmp_path, delegation_token_secret_key="secret") as node:
        node.start()
        with ControllerClient(node.port) as client:
            broker = StandInBroker(client, 1, node.cluster_id)
            await_result(broker.register, "the controller is active")
            assert token_error(client, "x" * NAME_BYTES) == Errors.POLICY_VIOLATION
            hello = ApiVersionsRequest(client_software_name="test", client_software_version="1")
            assert client.call(hello, 3, ApiVersionsResponse).error_code == Errors.NONE
            assert token_error(client, "alice") == Errors.NONE
        assert node.running
        assert node.stop() == 0


def token_error(client: ControllerClient, name: str) -> int:
    """The error code of a forwarded CreateDelegationToken of a user of that name."""
    request = CreateDelegationTokenRequest(max_lifetime_ms=-1)
    header = RequestHeader(
        request_api_key=request.API_KEY,
        request_api_version=TOKEN_VERSION,
        correlation_id=1,
        client_id="test",
    )
    envelope = EnvelopeRequest(
        request_data=encode_request(header, request),
        request_principal=serialize_principal(KafkaPrincipal("User", name)),
        client_host_address=b"\x7f\0\0\1",
    )
    answer = client.call(envelope, 0, EnvelopeResponse)
    if answer.error_code != Errors.NONE:
        return answer.error_code
    assert answer.response_data is not None
    _, inner = decode_response(answer.response_data, request.API_KEY, TOKEN_VERSION)
    assert isinstance(inner, CreateDelegationTokenResponse)
    return inner.error_code


def test_a_log_with_a_config_that_is_no_number(tmp_path: Path) -> None:
    """Another controller has accepted it. The silent broker is fenced although that reads the config."""
    with controller(tmp_path, broker_session_timeout_ms="1000", broker_heartbeat_interval_ms="200") as node:
        node.start()
        create_topics(node.port, node.cluster_id, "t", "u")
        assert node.stop() == 0
        append(
            node,
            ConfigRecord(
                resource_type=BROKER_RESOURCE, resource_name="", name="min.insync.replicas", value="abc"
            ),
        )
        fenced_before = fencings(node)
        node.start()
        await_result(lambda: not node.running or fencings(node) > fenced_before, "the broker is fenced")
        assert node.running
        with ControllerClient(node.port) as client:
            broker = StandInBroker(client, 1, node.cluster_id)
            assert broker.register()
            await_result(broker.is_unfenced, "the broker is unfenced")
        assert node.stop() == 0


def append(node: KraftctlController, record: Message) -> None:
    """Append to the log of a stopped controller; as the only voter it considers that committed."""
    log = MetadataLog.open(node.metadata_directory)
    log.append(encode_batch(log.end_offset, log.last_epoch, 1_000, [encode_metadata_record(record, 0)]))
    log.flush()
    log.close()


def fencings(node: KraftctlController) -> int:
    """How many lines of its log report a fencing."""
    count = 0
    for batch in read_batches(log_bytes(node), partial_tail=True):
        if not batch.header.is_control:
            for entry in batch.records:
                record = decode_metadata_record(entry.value or b"").record
                count += isinstance(record, BrokerRegistrationChangeRecord) and record.fenced == 1
    return count
