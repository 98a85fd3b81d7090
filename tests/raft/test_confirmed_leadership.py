"""A leader that is cut off answers nothing as the active controller: not even what needs no record."""

from __future__ import annotations

from kraftctl.apis.api import Owner
from kraftctl.apis.api_table import API_TABLE
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.message import Message
from tests.support.active_controller import registration
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]
ROUND_MS = 300
"""More than a round trip, less than a fetch timeout."""

OF_THE_ACTIVE_CONTROLLER = [ApiKey(api.key) for api in API_TABLE.values() if api.owner == Owner.ACTIVE]


def heartbeat(quorum: Quorum) -> BrokerHeartbeatRequest:
    """Of a broker that is registered and caught up."""
    registered = quorum.ask(quorum.led(), registration(101))
    quorum.run_for(ROUND_MS)
    assert isinstance(registered.answer, BrokerRegistrationResponse)
    return BrokerHeartbeatRequest(
        broker_id=101,
        broker_epoch=registered.answer.broker_epoch,
        current_metadata_offset=quorum.led().raft.end_offset,
        want_fence=False,
    )


def empty_request(api: ApiKey) -> Message:
    kind = request_class(api)
    assert kind is not None
    return kind()


def test_no_request_of_the_active_controller_is_answered(start_quorum: StartQuorum) -> None:
    """An empty one of each API: those that would append nothing in the first place."""
    quorum = start_quorum(7, VOTERS)
    leader = quorum.led()
    quorum.isolate(leader.node_id)
    questions = {api.name: quorum.ask(leader, empty_request(api)) for api in OF_THE_ACTIVE_CONTROLLER}
    quorum.run_for(ROUND_MS)
    assert leader.controller.active
    assert len(questions) > 20
    assert [name for name, question in questions.items() if question.response is not None] == []
    quorum.run_for(20_000)
    assert [name for name, question in questions.items() if question.response is None] == []


def test_a_heartbeat_is_answered_by_the_next_leader(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, VOTERS)
    beat = heartbeat(quorum)
    leader = quorum.led()
    unfenced = quorum.ask(leader, beat)
    again = quorum.ask(leader, beat)
    quorum.run_for(ROUND_MS)
    assert [unfenced.error, again.error] == [Errors.NONE, Errors.NONE]
    quorum.isolate(leader.node_id)
    stale = quorum.ask(leader, beat)
    quorum.run_for(20_000)
    assert stale.error == Errors.NOT_CONTROLLER
    new_leader = quorum.led()
    assert new_leader is not leader
    fresh = quorum.ask(new_leader, beat)
    quorum.run_for(ROUND_MS)
    assert isinstance(fresh.answer, BrokerHeartbeatResponse)
    assert fresh.error == Errors.NONE
