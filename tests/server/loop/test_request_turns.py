"""KAFKA-17793: heartbeats and raft go before requests that may take long, which get their turns, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.apis.request_size import LARGE_REQUESTS_MEMORY_BYTES_MAX
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import ClientRequest, NodeEvent, TurnTaken
from kraftctl.raft import effects, events
from kraftctl.server.loop.request_turns import (
    CHARGED_NS,
    RETRY_SECONDS,
    TURN_NS,
    URGENT_BYTES_MAX,
)
from kraftctl.server.loop.urgent_requests import LOOK
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.principal import ANONYMOUS
from tests.server.loop.test_node_loop import World
from tests.support.turns import in_turn

BULK, SMALL, BEAT, FETCH = ApiKey.CREATE_TOPICS, ApiKey.ALTER_PARTITION, ApiKey.BROKER_HEARTBEAT, ApiKey.FETCH

TAKES_NS = {BULK: TURN_NS, SMALL: TURN_NS // 3 + 1}

HERE, THERE = b"\x7f\x00\x00\x01", b"\x7f\x00\x00\x02"


class BusyWorld(World):
    """Events take time: `TAKES_NS`. The journal has the ids of requests, and the names of other events."""

    def __init__(self) -> None:
        self.ns = 0
        self.takes_ns = 0
        self.takes = dict(TAKES_NS)
        self.soon: list[Callable[[], None]] = []
        super().__init__()
        self.turns = self.loop.turns

    def now_ns(self) -> int:
        return self.ns

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[effects.Notice]:
        if not isinstance(event, ClientRequest):
            return super().step(event, now_ms, wall_ms)
        self.journal.append(str(event.request_id))
        self.ns += self.takes.get(ApiKey(event.context.api.key), 0)
        return self.scripted(str(event.request_id))

    def execute(self, effect: effects.Notice) -> None:
        if effect.text == "take":
            self.ns += self.takes_ns
        super().execute(effect)

    def call_soon(self, call: Callable[[], None]) -> None:
        self.soon.append(call)

    def next_turn(self) -> list[str]:
        """The connections were served; returns what is processed then."""
        since = len(self.journal)
        calls, self.soon = self.soon, []
        for call in calls:
            call()
        return self.journal[since:]

    def read(self, *requests: tuple[ApiKey, int], address: bytes = HERE, length: int = 100) -> list[str]:
        """From several sockets in one turn; returns what is processed immediately."""
        since = len(self.journal)
        for key, request_id in requests:
            self.receive(request(key, request_id), address, length)
        return self.journal[since:]

    def receive(self, event: ClientRequest, address: bytes = HERE, length: int = 100) -> None:
        """As a connection does."""
        frame = event.context.api.key.to_bytes(2, "big").ljust(length)
        in_turn(self.loop, frame, address, lambda: self.loop.offer(event))


def request(key: ApiKey, request_id: int) -> ClientRequest:
    """The node of these tests looks at no body."""
    context = RequestContext(
        api=API_TABLE[key],
        version=0,
        client_id="test",
        principal=ANONYMOUS,
        listener="CONTROLLER",
        client_address=HERE,
    )
    return ClientRequest(request_id, context, ApiVersionsRequest())


@pytest.mark.prevents("KAFKA-17793")
@pytest.mark.parametrize(
    ("read", "turns"),
    [
        pytest.param([(BULK, 1)], ["1"], id="one-does-not-wait"),
        pytest.param([(BULK, 1), (BEAT, 2), (FETCH, 3)], ["1 2 3"], id="heartbeats-behind-one"),
        pytest.param(
            [(BULK, 1), (BULK, 2), (BULK, 3), (BEAT, 4)], ["1 4", "2", "3"], id="heartbeat-behind-three"
        ),
        pytest.param([(SMALL, 1), (SMALL, 2), (SMALL, 3), (SMALL, 4)], ["1 2 3", "4"], id="as-many-as-fit"),
        pytest.param([(BULK, 1), (SMALL, 2), (SMALL, 3), (BULK, 4)], ["1", "2 3 4"], id="in-their-order"),
        pytest.param(
            [(ApiKey.ENVELOPE, 1), (BULK, 2), (ApiKey.VOTE, 3), (ApiKey.ENVELOPE, 4)],
            ["1 2 3", "4"],
            id="envelopes",
        ),
    ],
)
def test_orders(read: list[tuple[ApiKey, int]], turns: list[str]) -> None:
    """Ids by turns of the loop."""
    world = BusyWorld()
    found = [" ".join(world.read(*read))]
    while world.soon:
        found.append(" ".join(world.next_turn()))
    assert [turn for turn in found if turn] == turns


@pytest.mark.prevents("KAFKA-17793")
def test_a_heartbeat_that_comes_between_turns_waits_for_none() -> None:
    world = BusyWorld()
    world.read(*[(BULK, number) for number in range(10)])
    for number in range(1, 10):
        assert world.read((BEAT, 100 + number)) == [str(100 + number)]
        assert world.next_turn() == [str(number)]


def test_heartbeats_do_not_keep_a_request_waiting() -> None:
    """However many there are: one turn, one request that waits."""
    world = BusyWorld()
    world.read((BULK, 1), (BULK, 2))
    world.read(*[(BEAT, number) for number in range(100, 1_000)])
    assert world.next_turn() == ["2"]


def test_a_crowd_of_urgent_requests_has_a_turn_as_others_have() -> None:
    """What is read behind it from another address is next, and a request that waits has its own time."""
    world = BusyWorld()
    world.takes = {**TAKES_NS, FETCH: TURN_NS // 100}
    world.read((BULK, 1), (BULK, 2))
    crowd = [(FETCH, number) for number in range(1_000, 4_000)]
    begun = world.read(*crowd)
    assert 100 <= len(begun) <= 100 + 2 * LOOK
    assert world.read((BEAT, 3), address=THERE) == []
    then = world.next_turn()
    assert then[1] == "3", "behind one of the crowd"
    assert then[-1] == "2"
    assert 100 <= len(then) <= 103
    while world.soon:
        then += world.next_turn()
    assert [*begun, *[number for number in then if len(number) > 3]] == [str(number) for _, number in crowd]


def test_a_heartbeat_behind_a_crowd_does_not_wait_for_what_its_address_has_used() -> None:
    """A broker that has forwarded much is to keep its session."""
    world = BusyWorld()
    world.takes = {**TAKES_NS, FETCH: TURN_NS // 100}
    world.read(*[(BULK, number) for number in range(10)], address=HERE)
    world.read((BULK, 20), address=THERE)
    for _ in range(4):
        world.next_turn()
    world.read(*[(FETCH, number) for number in range(1_000, 4_000)], address=THERE)
    assert world.read((BEAT, 3), address=HERE) == []
    assert world.next_turn()[1] == "3"


def test_urgent_requests_that_waited_need_no_memory() -> None:
    """What large requests wait for may depend on them."""
    world = BusyWorld()
    world.takes = {FETCH: TURN_NS // 100}
    world.decoded_bytes = LARGE_REQUESTS_MEMORY_BYTES_MAX
    world.read(*[(FETCH, number) for number in range(500)])
    assert len(world.next_turn()) >= 100


def test_a_long_heartbeat_waits_as_others_do() -> None:
    """A crowd of these would hold up all others."""
    world = BusyWorld()
    world.read((BULK, 1))
    assert world.read((BEAT, 2), length=URGENT_BYTES_MAX) == ["2"]
    assert world.read((BEAT, 3), length=URGENT_BYTES_MAX + 1) == []
    assert world.next_turn() == ["3"]


def test_addresses_take_turns() -> None:
    world = BusyWorld()
    world.read(*[(BULK, number) for number in range(5)], address=HERE)
    world.read((BULK, 10), (BULK, 11), address=THERE)
    assert [world.next_turn() for _ in range(6)] == [["1"], ["10"], ["2"], ["11"], ["3"], ["4"]]


def test_a_turn_is_for_one_request() -> None:
    """A connection with many in a row begins the next one if time is left."""
    world = BusyWorld()
    world.read((BULK, 1))

    def serve() -> None:
        world.read(*[(BULK, number) for number in (2, 3, 4)])

    world.turns.begin_later(HERE, serve)
    assert [world.next_turn() for _ in range(3)] == [["2"], ["3"], ["4"]]


def test_what_the_node_does_between_requests_is_charged() -> None:
    """A flush that releases responses takes time as a request does; a heartbeat takes next to none."""
    world = BusyWorld()
    world.turns.charge(TURN_NS)
    assert world.read((SMALL, 1), (BEAT, 2)) == ["2"]
    assert world.next_turn() == ["1"]


def test_steps_are_charged_from_some_length_on() -> None:
    world = BusyWorld()
    for takes_ns, reads in ((TURN_NS, []), (CHARGED_NS, ["1"])):
        world.script = {"LogFlushed": ["take"]}
        world.takes_ns = takes_ns
        world.loop.offer(events.LogFlushed(1))
        assert world.read((SMALL, 1)) == reads
        world.next_turn()


def test_a_response_waits_for_its_time_and_goes_before_requests() -> None:
    """Responses that a commit releases together are encoded in turns."""
    world = BusyWorld()
    assert not world.turns.must_wait(BULK)
    world.read((BULK, 1), (BULK, 2))
    assert [world.turns.must_wait(key) for key in (BULK, BEAT)] == [True, False]
    world.turns.continue_later(HERE, lambda: world.journal.append("response"))
    assert world.next_turn() == ["response", "2"]


def test_requests_wait_for_the_memory_of_those_before_them() -> None:
    """Decoded bodies are measured until they are answered. Responses do not wait: they free memory."""
    world = BusyWorld()
    world.decoded_bytes = LARGE_REQUESTS_MEMORY_BYTES_MAX
    assert world.read((BULK, 1), (BEAT, 2)) == ["2"]
    world.turns.continue_later(HERE, lambda: world.journal.append("response"))
    assert [world.next_turn(), world.next_turn()] == [["response"], []]
    assert [timer.at_ms - world.time_ms for timer in world.timers] == [round(RETRY_SECONDS * 1000)]
    world.decoded_bytes -= 1
    world.turns.continue_later(HERE, lambda: world.journal.append("body"))
    assert world.next_turn() == ["body", "1"], "what holds memory does not wait for the timer"


def test_a_turn_goes_on_after_a_failure() -> None:
    world = BusyWorld()
    world.read((BULK, 1), (BULK, 2))

    def fail() -> None:
        raise ValueError("a bug")

    world.turns.continue_later(HERE, fail)
    with pytest.raises(ValueError, match="a bug"):
        world.next_turn()
    assert world.next_turn() == ["2"]


def test_other_events_do_not_wait() -> None:
    """Those of flushes, of other controllers and of slices keep their order among each other."""
    world = BusyWorld()
    world.read((BULK, 1), (BULK, 2))
    found: list[NodeEvent] = [events.LogFlushed(1), events.ResponseReceived(1, None), TurnTaken("SLICES", 1)]
    for event in found:
        world.loop.offer(event)
    assert world.journal[-3:] == ["LogFlushed", "ResponseReceived", "TurnTaken"]
    assert world.next_turn() == ["2"]


def test_what_came_during_a_pause_is_no_single_turn() -> None:
    """The disk was waited for: heartbeats are first, and the others come in turns."""
    world = BusyWorld()
    world.script = {"1": ["pause", "stored"]}
    world.read((SMALL, 1), (BULK, 2), (BULK, 3), (BEAT, 4))
    assert world.journal == ["1", "pause"]
    assert world.next_turn() == []
    world.paused = False
    world.loop.resume(events.LogStartChanged(1))
    assert world.journal[2:] == ["stored", "LogStartChanged", "4"]
    assert [world.next_turn(), world.next_turn(), world.next_turn()] == [["2"], ["3"], []]


def test_a_request_that_comes_after_a_pause_does_not_overtake_those_that_came_before() -> None:
    world = BusyWorld()
    world.script = {"1": ["pause"]}
    world.read((SMALL, 1), (SMALL, 2))
    world.paused = False
    world.loop.resume(None)
    assert world.read((SMALL, 3)) == []
    assert world.next_turn() == ["2", "3"]


def test_a_request_that_pauses_the_loop_ends_its_turn() -> None:
    world = BusyWorld()
    world.script = {"2": ["pause"]}
    world.read((BULK, 1), (SMALL, 2), (SMALL, 3))
    assert world.next_turn() == ["2", "pause"]
    world.paused = False
    world.loop.resume(None)
    assert world.next_turn() == ["3"]


def test_nothing_waits_after_the_end() -> None:
    world = BusyWorld()
    world.read((BULK, 1), (BULK, 2))
    world.loop.end()
    assert world.next_turn() == []
