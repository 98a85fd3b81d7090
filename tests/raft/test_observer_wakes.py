"""Who waits for whom when something is committed: observers come last, and voters wait for no interval."""

from __future__ import annotations

import re

import pytest

from kraftctl.raft.effects import RespondFetch
from kraftctl.raft.events import LogFlushed
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.message import Message
from tests.raft.leader_of_three import LeaderOfThree, answered
from tests.support.active_controller import registration
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.support.simulator.cluster.raft_transcript import RaftTranscript
from tests.support.wire.raft_requests import REQUESTS

OBSERVER = 101


def test_a_commit_is_known_to_voters_before_observers() -> None:
    """Also to the one whose Fetch commits: the next commit waits for it."""
    leader = LeaderOfThree()
    leader.fetch(10, replica=OBSERVER, offset=1, high_watermark=1)
    leader.fetch(11, replica=2, offset=1, high_watermark=1)
    leader.fetch(12, replica=3, offset=1, high_watermark=1)
    assert answered(leader.run("append 1")) == [11, 12]
    leader.run("flushed 2")
    assert answered(leader.fetch(13, replica=2, offset=2, high_watermark=1)) == [13, 10]
    assert leader.transcript.node.high_watermark == 2
    assert answered(leader.fetch(14, replica=3, offset=2, high_watermark=1)) == [14]


def test_voters_wait_for_no_interval() -> None:
    """As prompt as if there were none: commits wait for their fetches."""
    leader = LeaderOfThree()
    for offset in range(1, 9):
        first = 10 * offset
        leader.fetch(first, replica=OBSERVER, offset=1, high_watermark=1)
        leader.fetch(first + 1, replica=2, offset=offset, high_watermark=offset)
        leader.fetch(first + 2, replica=3, offset=offset, high_watermark=offset)
        assert answered(leader.run("append 1")) == [first + 1, first + 2]
        leader.run(f"flushed {offset + 1}")
        leader.fetch(first + 3, replica=2, offset=offset + 1, high_watermark=offset)
    assert leader.transcript.node.high_watermark == 9


def test_the_client_that_asked_is_answered_before_observers() -> None:
    node = LoneNode()
    node.settle()
    observing = [node.send(observers_fetch(node, 201)), node.send(observers_fetch(node, 202))]
    registering = node.send(registration(1))
    assert not {registering, *observing} & set(node.answers)
    node.flush()
    order = [request_id for request_id in node.answers if request_id in {registering, *observing}]
    assert order == [registering, *observing]
    for request_id in observing:
        answer = node.answers[request_id]
        assert isinstance(answer, FetchResponse)
        assert answer.responses[0].partitions[0].high_watermark == node.raft.high_watermark


def observers_fetch(node: LoneNode, replica_id: int) -> Message:
    """One that knows all there is."""
    end_offset = str(node.raft.high_watermark)
    epoch = str(node.raft.epoch)
    words = {"replica": str(replica_id), "offset": end_offset, "hw": end_offset, "cluster": "none"}
    return REQUESTS["fetch"](words | {"epoch": epoch, "last-epoch": epoch})[0]


def test_observers_that_ask_alike_share_an_answer() -> None:
    """The same records, in the same version, with the same leader for their listener."""
    transcript = RaftTranscript()
    for command in ("node id=1 voters=1 kraft-version=1", "start", "flushed 3", "append 1", "flushed 4"):
        transcript.run(command)
    for request_id, words in enumerate(
        [
            "replica=101 offset=4 hw=4",
            "replica=102 offset=4 hw=4",
            "replica=103 offset=4 hw=4 max-bytes=1000",
            "replica=104 offset=4 hw=4 version=17",
            "replica=105 offset=4 hw=4 listener=OTHER",
            "replica=106 offset=4 hw=4",
            "replica=-1 offset=4 hw=4",
            "replica=101 offset=4 hw=7",
        ]
    ):
        assert transcript.run(f"fetch request={request_id} {words}") == ""
    transcript.run("append 1")
    wanted = transcript.node.step(LogFlushed(5), transcript.replica.now_ms, 0)
    answers = [effect for effect in wanted if isinstance(effect, RespondFetch)]
    assert [effect.request_ids for effect in answers] == [[0, 1, 5, 6, 7], [2], [3], [4]]
    assert [effect.max_bytes for effect in answers] == [1 << 20, 1000, 1 << 20, 1 << 20]
    assert [len(effect.response.node_endpoints) for effect in answers] == [1, 1, 1, 1]
    assert {(effect.read_offset, effect.end_offset) for effect in answers} == {(4, 5)}


def test_a_fetch_of_fewer_than_no_bytes_gets_a_batch_as_one_of_none() -> None:
    transcript = RaftTranscript()
    for command in ("node id=1 voters=1 kraft-version=1", "start", "flushed 3", "append 1", "flushed 4"):
        transcript.run(command)
    for request_id, size in enumerate((-1, 0)):
        transcript.run(f"fetch request={request_id} replica=101 offset=4 hw=4 max-bytes={size}")
    transcript.run("append 1")
    effects = transcript.node.step(LogFlushed(5), transcript.replica.now_ms, 0)
    (answer,) = (effect for effect in effects if isinstance(effect, RespondFetch))
    assert (answer.request_ids, answer.max_bytes) == ([0, 1], 0)
    assert (answer.read_offset, answer.end_offset) == (4, 5)


def test_observers_get_what_follows_their_own_offset() -> None:
    """Both wait for the same interval to end, one with a change less."""
    transcript = RaftTranscript()
    for command in ("node id=1 voters=1 kraft-version=1", "start", "flushed 3"):
        transcript.run(command)
    transcript.run("fetch request=1 replica=101 offset=3 hw=3")
    transcript.run("append 1")
    assert answered(transcript.run("flushed 4")) == [1]
    transcript.run("fetch request=2 replica=101 offset=4 hw=4")
    transcript.run("fetch request=3 replica=102 offset=4 hw=4")
    transcript.run("append 1")
    assert answered(transcript.run("flushed 5")) == [3]
    transcript.run("fetch request=4 replica=102 offset=5 hw=5")
    transcript.run("append 1")
    assert answered(transcript.run("flushed 6")) == []
    lines = transcript.run("sleep 1")
    assert answered(lines) == [2, 4]
    assert re.findall(r"^  records (.*)", lines, re.MULTILINE) == ["4-4 5-5", "5-5"]


class Observer:
    """Fetches again as soon as it is answered."""

    def __init__(self, transcript: RaftTranscript, offset: int) -> None:
        self._transcript = transcript
        self.offset = offset
        self.fetches = 0
        self._take(self._fetch())

    def run(self, command: str) -> None:
        self._take(self._transcript.run(command))

    def _fetch(self) -> str:
        self.fetches += 1
        return self._transcript.run(f"fetch request={self.fetches} offset={self.offset} hw={self.offset}")

    def _take(self, lines: str) -> None:
        while answered(lines):
            assert f"records {self.offset}-" in lines
            self.offset = self._transcript.node.high_watermark
            lines = self._fetch()


@pytest.mark.parametrize("changes_per_ms", [1, 5, 20])
def test_a_storm_of_changes_costs_an_observer_one_fetch_per_millisecond(changes_per_ms: int) -> None:
    """And it misses nothing."""
    transcript = RaftTranscript()
    for command in ("node id=1 voters=1 kraft-version=1", "start", "flushed 3"):
        transcript.run(command)
    observer = Observer(transcript, 3)
    for _ in range(20):
        for _ in range(changes_per_ms):
            observer.run("append 1")
            observer.run(f"flushed {transcript.node.end_offset}")
        observer.run("sleep 1")
    assert observer.offset == transcript.node.end_offset == 3 + 20 * changes_per_ms
    assert observer.fetches <= 1 + 20 + 1


@pytest.mark.parametrize(
    ("observers", "interval_ms"),
    [(1, 1), (4, 1), (8, 2), (20, 5), (100, 25), (1_000, 25)],
)
def test_many_observers_ask_less_often(observers: int, interval_ms: int) -> None:
    """Together 4,000 times a second, but each after 25 ms at the latest, and they miss nothing."""
    transcript = RaftTranscript()
    for command in ("node id=1 voters=1 kraft-version=1", "start", "flushed 3"):
        transcript.run(command)
    for replica_id in range(101, 101 + observers):
        transcript.run(f"fetch request={replica_id} replica={replica_id} offset=3 hw=3")
    transcript.run("append 1")
    # After a quiet time nobody waits.
    assert answered(transcript.run("flushed 4")) == list(range(101, 101 + observers))
    for replica_id in range(101, 101 + observers):
        transcript.run(f"fetch request={replica_id} replica={replica_id} offset=4 hw=4")
    transcript.run("append 1")
    assert answered(transcript.run("flushed 5")) == []
    if interval_ms > 1:
        assert answered(transcript.run(f"sleep {interval_ms - 1}")) == []
    lines = transcript.run("sleep 1")
    assert answered(lines) == list(range(101, 101 + observers))
    assert set(re.findall(r"^  records (.*)", lines, re.MULTILINE)) == {"4-4"}


def test_without_an_interval_every_commit_wakes_all() -> None:
    """However many they are."""
    node = LoneNode(kraftctl_observer_fetch_interval_ms="0")
    node.settle()
    for broker_id in (1, 2, 3):
        observing = [node.send(observers_fetch(node, replica_id)) for replica_id in range(201, 221)]
        node.send(registration(broker_id))
        assert not set(observing) & set(node.answers)
        node.flush()
        assert set(observing) <= set(node.answers)
