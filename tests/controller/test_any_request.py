"""No decodable request stops the controller: it answers, and the records can be replayed."""

from __future__ import annotations

import random

import pytest

from kraftctl.apis.api import Owner
from kraftctl.apis.api_table import API_TABLE
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.index import response_class
from kraftctl_protocol.message import Message
from tests.support.active_controller import (
    ActiveController,
    registration,
    request_type,
)
from tests.support.effort import seeds
from tests.support.metadata_state import directory
from tests.support.wire.random_messages import RandomMessages
from tests.support.wire.request_hints import NUMBERS, WORDS, hints

REQUESTS_PER_SEED = 300

ANSWERED = [api for api in API_TABLE.values() if api.owner not in (Owner.RAFT, Owner.NODE)]
"""The APIs that a controller answers without raft."""


def controller_with_rights() -> ActiveController:
    active = ActiveController(
        authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        super_users="User:ANONYMOUS",
        unclean_leader_election_enable="true",
        default_replication_factor="2",
    )
    active.start_brokers(1, 2, 3, directories=2)
    active.create_topic("t", partitions=3, replication_factor=3)
    active.create_topic("u", partitions=1, replication_factor=1)
    return active


def random_request(active: ActiveController, rng: random.Random) -> tuple[Message, int]:
    """A request of some API in some version."""
    image = active.controller.image
    epochs = [registration.epoch for registration in image.cluster.brokers.values()]
    ids = [bytes(16), directory(1), directory(2, 1), *image.topics.topics]
    values = RandomMessages(
        rng, WORDS, ids, [*NUMBERS, *epochs, active.end_offset], hints(image, active.end_offset, rng)
    )
    api = rng.choice(ANSWERED)
    version = rng.randint(api.lowest, api.highest)
    request = values.message(request_type(api.key), version)
    if isinstance(request, BrokerRegistrationRequest):
        request.features = registration(1).features
    return request, version


@pytest.mark.parametrize("seed", seeds(12))
def test_whatever_is_asked(seed):
    rng = random.Random(seed)
    active = controller_with_rights()
    for _ in range(REQUESTS_PER_SEED):
        request, version = random_request(active, rng)
        response = active.request(request, version)
        kind = response_class(request.API_KEY)
        assert kind is not None
        assert kind.decode(response.encode(version), version) is not None
        active.pass_time(rng.choice((0, 10, 600, 3_000)))
        keep_alive(active, rng)


def keep_alive(active: ActiveController, rng: random.Random) -> None:
    """Brokers come back sooner or later, and topics do not run out."""
    for broker_id in (1, 2, 3):
        if rng.random() < 0.3:
            active.request(registration(broker_id, directories=2))
        active.heartbeat(broker_id)
    image = active.controller.image
    if len(image.topics.topics) < 2 and any(broker.active for broker in image.cluster.brokers.values()):
        topic = CreatableTopic(name=rng.choice(("t", "u")), num_partitions=3, replication_factor=-1)
        active.request(CreateTopicsRequest(topics=[topic]))


def test_a_partition_named_twice_is_changed_once():
    """The second record would be computed from the state before the first one."""
    active = controller_with_rights()
    partitions = [
        ReassignablePartition(partition_index=0, replicas=[2]),
        ReassignablePartition(partition_index=0, replicas=[1, 2, 3]),
    ]
    request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name="t", partitions=partitions)])
    response = active.request(request)
    codes = [partition.error_code for partition in response.responses[0].partitions]
    assert codes == [0, Errors.INVALID_REQUEST]
