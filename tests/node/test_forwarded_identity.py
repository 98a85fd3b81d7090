"""A forwarded request is that of the client in its envelope, for quotas and in the log as for rights.

The audit log's line of it is in test_audit_trail.py, its rights are in test_rights_table.py.
"""

from __future__ import annotations

import random

import pytest

from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import KafkaPrincipal, deserialize_principal, serialize_principal
from tests.node.test_rights_table import LoneDoor
from tests.support.effort import scaled
from tests.support.rights.asking import BROKER, NUMBERS, asked, forward, prepare, user
from tests.support.rights.grants import Grant
from tests.support.rights.row import SUPER

CREATOR = KafkaPrincipal("User", f"CN=p{NUMBERS[(Grant(AclOperation.CREATE),)]}")


def prepared() -> LoneDoor:
    door = LoneDoor()
    prepare(door, door.node.controller.state.cluster_id)
    return door


def limit(door: LoneDoor, name: str) -> None:
    """One partition per second."""
    quota = OpData(key="controller_mutation_rate", value=1.0)
    entry = EntryData(entity=[EntityData(entity_type="user", entity_name=name)], ops=[quota])
    answer = asked(door, user(SUPER), AlterClientQuotasRequest(entries=[entry]), AlterClientQuotasResponse)
    assert answer.entries[0].error_code == 0


@pytest.mark.parametrize(
    ("name", "last"),
    [
        pytest.param(CREATOR.name, Errors.THROTTLING_QUOTA_EXCEEDED, id="of-the-client"),
        pytest.param(BROKER, Errors.NONE, id="of-the-broker"),
    ],
)
def test_a_quota(name: str, last: Errors) -> None:
    door = prepared()
    limit(door, name)
    errors = []
    for topic in ("first", "second"):
        created = CreatableTopic(name=topic, num_partitions=30, replication_factor=1)
        answer = forward(door, CREATOR, CreateTopicsRequest(topics=[created]), 7).response
        assert isinstance(answer, CreateTopicsResponse)
        errors.append(answer.topics[0].error_code)
    assert errors == [Errors.NONE, last]


def test_a_line_about_a_refusal_names_the_client() -> None:
    door = prepared()
    forward(door, KafkaPrincipal("User", "mallory"), UnregisterBrokerRequest(broker_id=1), 0)
    (line,) = [line for line in door.node.notices if "CLUSTER_AUTHORIZATION_FAILED" in line]
    assert "User:mallory" in line
    assert BROKER not in line


def test_damaged_principals_are_refused_or_read() -> None:
    """Whatever their bytes are: no other failure, and never a principal that would be written another way."""
    rng = random.Random(7)
    intact = serialize_principal(KafkaPrincipal("User", "CN=ann", True))
    read = 0
    for _ in range(scaled(5_000)):
        data = bytearray(intact)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        damaged = bytes(data[: rng.choice([len(data), rng.randrange(len(data) + 1)])])
        try:
            principal = deserialize_principal(damaged)
        except DecodeError:
            continue
        read += 1
        again = deserialize_principal(serialize_principal(principal))
        assert (again, again.token_authenticated) == (principal, principal.token_authenticated)
    assert read > 0
