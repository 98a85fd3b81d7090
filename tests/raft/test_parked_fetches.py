"""Fetches that wait have a budget; beyond it voters and known observers keep their places."""

from __future__ import annotations

import random

import pytest

from kraftctl.raft.effects import SendRequest
from kraftctl.raft.events import DeadlineReached, ResponseReceived
from kraftctl.raft.parked_fetches import (
    ANONYMOUS,
    KNOWN_OBSERVER,
    NEW_OBSERVER,
    RANKS,
    STALE_DEADLINES_MAX,
    VOTER,
    ParkedFetch,
    ParkedFetches,
)
from kraftctl.raft.raft_config import PARKED_BYTES_MAX, PARKED_FETCH_BYTES, THROTTLE_MS_MAX
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl_protocol.generated.fetch_request import FetchRequest, ForgottenTopic
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kraftctl_protocol.metadata_topic import METADATA_TOPIC_ID
from tests.support.effort import seeds
from tests.support.simulator.cluster.raft_transcript import RaftTranscript
from tests.support.wire.raft_requests import REQUESTS

LONG = "r" * 32_000
LONG_FETCHES_MAX = PARKED_BYTES_MAX // (PARKED_FETCH_BYTES + 4 * (len(LONG) + len("cluster")))


def parked(
    request_id: int, rank: int, held_bytes: int = PARKED_FETCH_BYTES, deadline_ms: int = 500
) -> ParkedFetch:
    fetch = ParkedFetch(
        request_id=request_id,
        listener_name="CONTROLLER",
        version=18,
        key=ReplicaKey(-1, bytes(16)),
        fetch_offset=0,
        last_fetched_epoch=0,
        request_high_watermark=0,
        max_bytes=1,
        deadline_ms=deadline_ms,
        held_bytes=held_bytes,
    )
    fetch.rank = rank
    return fetch


def filled(*ranks: int) -> ParkedFetches:
    """A quarter of the budget each."""
    fetches = ParkedFetches()
    for request_id, rank in enumerate(ranks):
        fetches.park(parked(request_id, rank, PARKED_BYTES_MAX // 4))
    return fetches


class TestPlaces:
    @pytest.mark.parametrize(
        ("ranks", "rank", "expected"),
        [
            pytest.param((0, 0, 0), ANONYMOUS, [], id="there-is-room"),
            pytest.param((0, 0, 0, 0), ANONYMOUS, None, id="equals-stay"),
            pytest.param((3, 0, 0, 3), NEW_OBSERVER, [2], id="the-latest-of-the-lowest"),
            pytest.param((1, 1, 3, 3), NEW_OBSERVER, None, id="new-observers-stay"),
            pytest.param((2, 1, 3, 3), KNOWN_OBSERVER, [1], id="a-new-observer-yields"),
            pytest.param((2, 2, 3, 3), KNOWN_OBSERVER, None, id="known-observers-stay"),
            pytest.param((2, 2, 3, 3), VOTER, [1], id="a-known-observer-yields-to-a-voter"),
            pytest.param((3, 3, 3, 3), VOTER, None, id="voters-stay"),
        ],
    )
    def test_who_yields(self, ranks: tuple[int, ...], rank: int, expected: list[int] | None) -> None:
        evicted = filled(*ranks).make_room(parked(9, rank))
        assert (None if evicted is None else [fetch.request_id for fetch in evicted]) == expected

    def test_as_many_yield_as_are_needed_or_none(self) -> None:
        fetches = filled(ANONYMOUS, NEW_OBSERVER, KNOWN_OBSERVER, VOTER)
        assert fetches.make_room(parked(9, KNOWN_OBSERVER, 3 * PARKED_BYTES_MAX // 4)) is None
        assert len(fetches) == 4
        evicted = fetches.make_room(parked(9, KNOWN_OBSERVER, PARKED_BYTES_MAX // 2))
        assert evicted is not None
        assert [fetch.request_id for fetch in evicted] == [0, 1]

    @pytest.mark.parametrize("seed", seeds(10))
    def test_the_budget_is_kept_and_given_back(self, seed: int) -> None:
        rng = random.Random(seed)
        fetches = ParkedFetches()
        now_ms = 0
        for request_id in range(300):
            fetch = parked(
                request_id,
                rng.choice(RANKS),
                rng.randint(1, PARKED_BYTES_MAX // 3),
                now_ms + rng.randint(0, 50),
            )
            if fetches.make_room(fetch) is not None:
                fetches.park(fetch)
            if rng.random() < 0.3:
                fetches.remove(rng.randint(0, request_id))
            if rng.random() < 0.2:
                now_ms += 10
                fetches.take_expired(now_ms)
            assert fetches.held_bytes == sum(fetch.held_bytes for fetch in fetches.all()) <= PARKED_BYTES_MAX
        for fetch in fetches.all():
            fetches.remove(fetch.request_id)
        assert fetches.held_bytes == 0

    @pytest.mark.prevents("crowded-fetches")
    def test_deadlines_of_answered_fetches_are_forgotten(self) -> None:
        """Whatever wait they asked for."""
        fetches = ParkedFetches()
        fetches.park(parked(0, VOTER, deadline_ms=7))
        for request_id in range(1, 10 * STALE_DEADLINES_MAX):
            fetches.park(parked(request_id, ANONYMOUS, deadline_ms=1 << 31))
            fetches.remove(request_id)
        assert fetches.deadline_count <= STALE_DEADLINES_MAX + 3
        assert fetches.next_deadline_ms() == 7


class Leading:
    """Node 1 is the only voter and leads epoch 1; everything up to offset 3 is committed."""

    def __init__(self) -> None:
        self.transcript = RaftTranscript()
        for command in ("node id=1 voters=1 kraft-version=1", "start", "flushed 3"):
            self.transcript.run(command)
        self._request_id = 0

    def fetch(self, replica_id: int, rack_id: str = "", *, wait_ms: int = 500) -> list[str]:
        """The responses that leave because of a Fetch that finds nothing new."""
        words = {"replica": str(replica_id), "offset": "3", "hw": "3", "wait": str(wait_ms)}
        request, version = REQUESTS["fetch"](words)
        assert isinstance(request, FetchRequest)
        request.rack_id = rack_id
        return self.ask(request, version)

    def ask(self, request: FetchRequest, version: int) -> list[str]:
        self._request_id += 1
        before = len(self.transcript.lines)
        with self.transcript.files.attach():
            self.transcript.replica.request(request, version, self._request_id)
        return self.transcript.lines[before:]

    def fill(self) -> None:
        for _ in range(LONG_FETCHES_MAX):
            assert self.fetch(-1, LONG) == []


class TestFullLot:
    @pytest.mark.prevents("crowded-fetches")
    def test_an_observer_waits_in_the_place_of_a_reader(self) -> None:
        leading = Leading()
        leading.fill()
        for replica_id in range(101, 111):
            answers = leading.fetch(replica_id, LONG)
            assert len(answers) == 1, "a reader's"
            assert (
                f"respond {LONG_FETCHES_MAX - (replica_id - 101)} FetchResponse(throttle_time_ms=500 "
                in answers[0]
            )

    def test_a_reader_is_asked_for_the_pause_that_it_wanted(self) -> None:
        leading = Leading()
        leading.fill()
        (answer,) = leading.fetch(-1, LONG, wait_ms=300)
        assert f"respond {LONG_FETCHES_MAX + 1} FetchResponse(throttle_time_ms=300 " in answer
        (answer,) = leading.fetch(-1, LONG, wait_ms=1 << 30)
        assert f"throttle_time_ms={THROTTLE_MS_MAX} " in answer

    def test_those_that_wait_keep_their_deadline(self) -> None:
        leading = Leading()
        leading.fill()
        lines = leading.transcript.run("sleep 500").splitlines()
        answers = [line for line in lines if line.startswith("respond")]
        assert len(answers) == LONG_FETCHES_MAX
        assert not any("throttle" in line for line in answers)
        leading.transcript.run("state")
        leading.fill()


@pytest.mark.parametrize(("throttle_ms", "pause_ms"), [(0, 0), (300, 300), (1 << 30, 500)])
def test_a_follower_makes_the_pause_that_it_is_asked_for(throttle_ms: int, pause_ms: int) -> None:
    """And none that would end in its fetch timeout."""
    transcript = RaftTranscript()
    transcript.run("quorum-state epoch=1 leader=2")
    transcript.run("node id=1 voters=1,2,3 kraft-version=0")
    assert "send 1 to 2@" in transcript.run("start")
    partition = PartitionData(
        high_watermark=0, current_leader=LeaderIdAndEpoch(leader_id=2, leader_epoch=1), records=b""
    )
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    response = FetchResponse(throttle_time_ms=throttle_ms, responses=[topic])
    sent = transcript.node.step(ResponseReceived(1, response), 1, 1)
    assert any(isinstance(effect, SendRequest) for effect in sent) is (pause_ms == 0)
    if pause_ms:
        assert transcript.node.next_deadline_ms == 1 + pause_ms
        sent = transcript.node.step(DeadlineReached(), 1 + pause_ms, 1)
        assert any(isinstance(effect, SendRequest) for effect in sent)


def test_a_fetch_that_forgets_topics_is_refused() -> None:
    """Replicas have no fetch sessions, and the list would be kept as long as the Fetch waits."""
    request, version = REQUESTS["fetch"]({"offset": "3", "hw": "3"})
    assert isinstance(request, FetchRequest)
    request.forgotten_topics_data = [ForgottenTopic(partitions=[0])]
    (answer,) = Leading().ask(request, version)
    assert "FetchResponse(error_code=INVALID_REQUEST" in answer
