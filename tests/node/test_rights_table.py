"""Every API for every kind of principal, on its own connection and behind a broker.

What Kafka's own controller answers is compared in tests/interop/test_rights.py, with the same table.
"""

from __future__ import annotations

from functools import cache

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.rights.asking import CELLS, ROWS, ask, prepare
from tests.support.rights.row import Cell, World, refusal_of
from tests.support.simulator.cluster.lone_node import LoneNode


class LoneDoor:
    """The listener of a simulated controller."""

    def __init__(self) -> None:
        self.node = LoneNode(
            authorizer_class_name=STANDARD_AUTHORIZER,
            super_users="User:CN=super",
            listener_security_protocol_map="CONTROLLER:SSL",
            ssl_keystore_type="PEM",
            ssl_keystore_location="unread",
            delegation_token_secret_key="secret",
            delegation_token_max_lifetime_ms="604800000",
        )
        self.node.settle()

    def ask(self, principal: KafkaPrincipal, request: Message, version: int | None = None) -> Message | None:
        request_id = self.node.send(request, version, principal)
        self.node.settle()
        return self.node.answers.get(request_id)


@cache
def opened() -> tuple[LoneDoor, World]:
    """One node for all cells: what is allowed changes nothing that another one needs."""
    door = LoneDoor()
    return door, prepare(door, door.node.controller.state.cluster_id)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.id)
def test_on_its_own_connection(cell: Cell) -> None:
    door, world = opened()
    response = ask(door, world, cell, envelope=False).response
    assert response is not None
    assert refusal_of(response) == cell.expected_by(envelope=False)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.id)
def test_behind_a_broker(cell: Cell) -> None:
    """The broker has CLUSTER_ACTION, of which nothing is inherited."""
    door, world = opened()
    answer = ask(door, world, cell, envelope=True)
    if not API_TABLE[cell.row.request(world).API_KEY].forwardable:
        assert (answer.error, answer.response) == (Errors.INVALID_REQUEST, None)
        return
    assert answer.error == 0
    assert answer.response is not None
    assert refusal_of(answer.response) == cell.expected_by(envelope=True)


def test_every_api_is_in_the_table() -> None:
    world = World("")
    assert {row.request(world).API_KEY for row in ROWS} == set(API_TABLE)
