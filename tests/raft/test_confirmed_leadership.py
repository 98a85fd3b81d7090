"""A leader that is cut off answers nothing as the active controller: not even what needs no record."""

from __future__ import annotations

from functools import partial

import pytest

from kraftctl.apis.api import Owner
from kraftctl.apis.api_table import API_TABLE
from kraftctl.raft.events import ResignRequested
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.message import Message
from tests.support.active_controller import registration
from tests.support.simulator.brokers.admin_requests import create_topic, error_of_answer
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]
PARTITIONS = 30
"""More than a slice of long work has here."""
ROUND_MS = 500
"""More than a round trip, less than a fetch timeout."""

OF_THE_ACTIVE_CONTROLLER = [ApiKey(api.key) for api in API_TABLE.values() if api.owner == Owner.ACTIVE]


OF_EVERY_CONTROLLER = [ApiKey(api.key) for api in API_TABLE.values() if api.owner == Owner.EVERY]


def asked_round(leader: ControllerProcess) -> int:
    state = leader.raft._core.leader()
    assert state is not None
    return state.asked_round


def asked(quorum: Quorum, leader: ControllerProcess, request: Message) -> None:
    """Its response is for the checks alone."""
    quorum.ask(leader, request)


def is_committed(leader: ControllerProcess, end_offset: int) -> bool:
    return leader.raft.high_watermark > end_offset


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
    if api == ApiKey.DESCRIBE_ACLS:  # no request without these codes
        return DescribeAclsRequest(
            resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
        )
    kind = request_class(api)
    assert kind is not None
    return kind()


def logger_level(node_id: int) -> IncrementalAlterConfigsRequest:
    level = AlterableConfig(name="kraftctl.raft", config_operation=0, value="INFO")
    loggers = AlterConfigsResource(resource_type=8, resource_name=str(node_id), configs=[level])
    return IncrementalAlterConfigsRequest(resources=[loggers])


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


def test_who_is_elected_and_not_active_yet_answers_what_it_alone_is_asked(start_quorum: StartQuorum) -> None:
    """Levels of its loggers; as it may never be active, nothing would release the response."""
    quorum = start_quorum(7, VOTERS)
    old = quorum.led()
    quorum.isolate(old.node_id)
    others = [each for each in quorum.running() if each is not old]

    def elected() -> ControllerProcess | None:
        quorum.run_for(1)
        return next((one for one in others if one.raft.is_leader and not one.controller.active), None)

    new = next(one for one in iter(elected, object()) if one is not None)
    quorum.isolate(new.node_id)
    question = quorum.ask(new, logger_level(new.node_id))
    quorum.run_for(20_000)
    assert error_of_answer(question.answer) == Errors.NONE


@pytest.mark.parametrize(
    ("voters", "rounds"),
    [pytest.param([1], 0, id="the-only-voter"), pytest.param(VOTERS, 1, id="one-of-three")],
)
def test_rounds_are_for_what_needs_them(start_quorum: StartQuorum, voters: list[int], rounds: int) -> None:
    """A request that writes waits for its commit, and one of every controller promises less."""
    quorum = start_quorum(7, voters)
    beat = heartbeat(quorum)
    leader = quorum.led()
    before = asked_round(leader)
    questions = [quorum.ask(leader, registration(broker_id)) for broker_id in (102, 103)]
    questions += [quorum.ask(leader, empty_request(api)) for api in OF_EVERY_CONTROLLER]
    quorum.run_for(ROUND_MS)
    assert all(question.response is not None for question in questions)
    assert asked_round(leader) == before
    beats = [quorum.ask(leader, beat) for _ in range(3)]
    assert asked_round(leader) == before + rounds
    quorum.run_for(ROUND_MS)
    assert [each.error for each in beats] == [Errors.NONE] * 3


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


@pytest.mark.parametrize("has_lost_it", [False, True], ids=["nothing", "partitions"])
def test_a_heartbeat_that_changes_no_registration_is_not_answered(
    start_quorum: StartQuorum, has_lost_it: bool
) -> None:
    """Also if it begins to change partitions, and its registration is changed after all of them: a heartbeat
    waits only for records about its broker.
    """
    quorum = start_quorum(7, VOTERS)
    beat = heartbeat(quorum)
    leader = quorum.led()
    quorum.ask(leader, beat)
    topic = create_topic("t", partitions=PARTITIONS, replication_factor=1, assignments=[], configs={})
    created = quorum.ask(leader, topic)
    quorum.run_for(ROUND_MS)
    assert error_of_answer(created.answer) == Errors.NONE
    quorum.isolate(leader.node_id)
    if has_lost_it:
        beat.offline_log_dirs = list(leader.controller.image.cluster.brokers[101].directories)
    question = quorum.ask(leader, beat)
    quorum.run_for(ROUND_MS)
    assert leader.controller.active
    changed = leader.controller.image.topics.topic_by_name("t")
    assert changed is not None
    without_leader = [partition for partition in changed.partitions.values() if partition.leader == -1]
    assert bool(without_leader) is has_lost_it
    assert question.response is None
    quorum.run_for(20_000)
    assert question.error == Errors.NOT_CONTROLLER


@pytest.mark.parametrize(("seed", "fetch_timeout_ms"), [(3, "5000"), (6, "5000"), (8, "5000"), (3, "2000")])
def test_a_leader_that_was_suspended_is_not_confirmed_by_what_waited_for_it(
    start_quorum: StartQuorum, seed: int, fetch_timeout_ms: str
) -> None:
    """Requests and fetches lie in its sockets, some from before the election: `AnswersOnlyWhileLeading`."""
    quorum = start_quorum(seed, VOTERS, properties={"controller.quorum.fetch.timeout.ms": fetch_timeout_ms})
    beat = heartbeat(quorum)
    leader = quorum.led()
    quorum.ask(leader, beat)
    quorum.run_for(500)
    leader.freeze()
    quorum.run_for(300)
    assert leader.lifetime is not None
    leader.lifetime.run(lambda: asked(quorum, leader, beat))
    quorum.run_until(
        lambda: any(each.controller.active for each in quorum.running() if each is not leader),
        40_000,
        "another leads",
        100,
    )
    leader.resume()
    quorum.run_for(1_000)


def test_what_waits_is_answered_when_no_other_voter_is_left(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(7, [1, 2])
    beat = heartbeat(quorum)
    (other,) = quorum.followers()
    quorum.crash(other)
    waiting = quorum.ask(quorum.led(), beat)
    removal = quorum.remove_voter(other.node_id)
    quorum.run_for(ROUND_MS)
    assert (removal.error, waiting.error) == (Errors.NONE, Errors.NONE)


def test_a_hundred_brokers_do_not_slow_writes(start_quorum: StartQuorum) -> None:
    """A heartbeat in 20 ms: each asks for a round, and no follower pauses."""
    quorum = start_quorum(7, VOTERS)
    beat = heartbeat(quorum)
    leader = quorum.led()
    slowest_ms = 0
    for _ in range(100):
        quorum.ask(leader, beat)
        quorum.run_for(10)
        began_ms = leader.clock.now_ms()
        end_offset = leader.raft.end_offset
        quorum.append(leader, 1)
        quorum.run_until(partial(is_committed, leader, end_offset), 1_000, "committed", 1)
        slowest_ms = max(slowest_ms, leader.clock.now_ms() - began_ms)
    assert slowest_ms < 50


def test_rounds_of_a_former_leadership_confirm_nothing(start_quorum: StartQuorum) -> None:
    """Each leadership counts its rounds from one."""
    quorum = start_quorum(7, VOTERS)
    beat = heartbeat(quorum)
    leader = quorum.led()
    first_epoch = leader.raft.epoch
    for _ in range(3):
        quorum.ask(leader, beat)
        quorum.run_for(ROUND_MS)
    while quorum.led() is not leader or leader.raft.epoch == first_epoch:
        led = quorum.led()
        led.loop.offer(ResignRequested(led.raft.epoch))
        quorum.run_for(6_000)
    quorum.isolate(leader.node_id)
    stale = quorum.ask(leader, beat)
    quorum.run_for(ROUND_MS)
    assert leader.controller.active
    assert stale.response is None
