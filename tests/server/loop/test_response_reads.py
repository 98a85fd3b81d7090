"""Answers that are read from files: few at a time, and no address waits for all requests of another."""

from __future__ import annotations

import pytest

from kraftctl.raft import effects
from kraftctl.server.loop.executor_protocols import RetentionDue
from kraftctl.server.loop.response_reads import (
    CONTENDED_READ_BYTES_MAX,
    KEPT_IN_A_ROW_MAX,
    READS_MAX,
    ResponseRead,
    ResponseReads,
)
from kraftctl_protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.server.executing import World


class Reads:
    """Records what is begun and skipped."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int]] = []
        self.skipped: list[int] = []
        self.found: list[int] = []
        self.kept: set[int] = set()
        """The requests whose answers are in memory."""
        self.next_of: dict[int, int] = {}
        """What the client of a request asks for while it is answered."""
        self.gone: set[int] = set()
        self.room = True
        self.looks = 0
        self.pauses = 0
        self.queue = ResponseReads(lambda request_id: request_id not in self.gone, self.look, self.pause)

    def look(self) -> bool:
        self.looks += 1
        return self.room

    def pause(self) -> None:
        self.pauses += 1

    def submit(self, address: str, request_id: int, *, of_voter: bool = False) -> None:
        read = ResponseRead(
            request_id,
            lambda bytes_max: self.find(request_id),
            lambda bytes_max: self.begun.append((request_id, bytes_max)),
            lambda: self.skipped.append(request_id),
            of_voter=of_voter,
        )
        self.queue.submit(address.encode(), read)

    def find(self, request_id: int) -> bool:
        if request_id not in self.kept:
            return False
        self.found.append(request_id)
        if request_id in self.next_of:
            self.submit("a", self.next_of[request_id])
        return True

    @property
    def order(self) -> list[int]:
        return [request_id for request_id, _ in self.begun]


def test_few_reads_run_at_a_time() -> None:
    reads = Reads()
    for request_id in range(100):
        reads.submit("a", request_id)
    assert reads.order == list(range(READS_MAX))
    for done in range(98):
        reads.queue.ended()
        assert len(reads.begun) == READS_MAX + done + 1
    assert reads.order == list(range(100))


def test_the_addresses_take_turns() -> None:
    reads = Reads()
    for request_id in range(300):
        reads.submit("greedy", request_id)
    reads.submit("voter", 1_000)
    reads.submit("broker", 1_001)
    for _ in range(4):
        reads.queue.ended()
    assert reads.order == [0, 1, 2, 1_000, 1_001, 3]


def test_a_read_is_short_only_while_others_wait() -> None:
    reads = Reads()
    for request_id in range(READS_MAX + 2):
        reads.submit("a", request_id)
    reads.queue.ended()
    reads.queue.ended()
    short = [bytes_max <= CONTENDED_READ_BYTES_MAX for _, bytes_max in reads.begun]
    assert short == [False] * READS_MAX + [True, False]


def test_what_is_in_memory_is_not_read() -> None:
    reads = Reads()
    reads.kept = {2, 3}
    for request_id in range(READS_MAX + 3):
        reads.submit("a", request_id)
    assert (reads.order, reads.found) == ([0, 1], [])
    reads.queue.ended()
    assert (reads.order, reads.found) == ([0, 1, 4], [2, 3])


def test_what_is_in_memory_waits_for_its_turn_and_for_room() -> None:
    reads = Reads()
    reads.kept = {1}
    reads.room = False
    reads.submit("a", 0)
    reads.submit("a", 1)
    assert (reads.order, reads.found) == ([], [])
    reads.room = True
    reads.queue.resume()
    assert (reads.order, reads.found) == ([0], [1])


def test_many_answers_from_memory_let_others_have_a_turn() -> None:
    reads = Reads()
    reads.kept = set(range(READS_MAX, 100))
    for request_id in range(100):
        reads.submit("a", request_id)
    reads.queue.ended()
    assert len(reads.found) == KEPT_IN_A_ROW_MAX
    assert reads.order == [0, 1, READS_MAX + KEPT_IN_A_ROW_MAX]
    reads.queue.ended()
    assert len(reads.found) == 2 * KEPT_IN_A_ROW_MAX


def test_a_client_that_asks_on_while_it_is_answered_makes_no_deep_stack() -> None:
    reads = Reads()
    reads.kept = set(range(READS_MAX, 10_000))
    reads.next_of = {request_id: request_id + 1 for request_id in reads.kept}
    for request_id in range(READS_MAX + 1):
        reads.submit("a", request_id)
    reads.queue.ended()
    assert len(reads.found) == KEPT_IN_A_ROW_MAX


def test_nothing_is_read_for_clients_that_are_gone() -> None:
    reads = Reads()
    for request_id in range(READS_MAX + 3):
        reads.submit("a", request_id)
    reads.gone = {READS_MAX, READS_MAX + 1}
    reads.queue.ended()
    assert reads.order == [*range(READS_MAX), READS_MAX + 2]


def test_what_waits_is_skipped_before_files_are_cut() -> None:
    reads = Reads()
    for request_id in range(READS_MAX + 2):
        reads.submit("a", request_id)
    reads.queue.skip_all()
    assert reads.skipped == [READS_MAX, READS_MAX + 1]
    reads.queue.ended()
    assert reads.order == list(range(READS_MAX))
    reads.submit("a", 99)
    assert reads.order[-1] == 99


def test_while_clients_have_answers_to_read_a_pause_precedes_each_further_read() -> None:
    reads = Reads()
    reads.room = False
    for request_id in range(3):
        reads.submit("a", request_id)
    assert (reads.order, reads.pauses) == ([], 1)
    reads.queue.resume()
    assert (reads.order, reads.pauses) == ([0], 2)
    reads.queue.ended()
    assert (reads.order, reads.pauses) == ([0], 2), "one pause at a time"
    reads.room = True
    reads.queue.resume()
    assert (reads.order, reads.pauses) == ([0, 1, 2], 2)


def test_voters_do_not_wait_for_what_others_have_not_read() -> None:
    reads = Reads()
    reads.room = False
    reads.submit("a", 0)
    reads.submit("b", 1, of_voter=True)
    assert reads.order == [1]


def test_a_voter_does_not_wait_for_a_broker_of_the_same_address() -> None:
    reads = Reads()
    reads.room = False
    reads.submit("a", 0)
    reads.submit("a", 1, of_voter=True)
    assert reads.order == [1]


def test_clients_that_leave_during_a_pause_are_forgotten_and_take_no_turn() -> None:
    reads = Reads()
    reads.room = False
    for request_id in range(100):
        reads.submit("a", request_id)
    reads.gone = set(range(99))
    reads.queue.resume()
    assert (reads.order, reads.pauses) == ([99], 1), "nothing waits any more"


def test_requests_during_a_pause_do_not_look_for_room() -> None:
    reads = Reads()
    reads.room = False
    for request_id in range(100):
        reads.submit("a", request_id)
    assert (reads.order, reads.looks) == ([], 1)
    reads.room = True
    reads.queue.resume()
    assert reads.order == [0, 1]


def test_an_unused_pause_does_not_let_a_later_read_pass() -> None:
    reads = Reads()
    reads.room = False
    reads.submit("a", 0)
    reads.queue.skip_all()
    reads.queue.resume()
    reads.submit("a", 1)
    assert (reads.order, reads.pauses) == ([], 2)


def test_the_executor_ends_the_pause() -> None:
    world = World()
    world.room = False
    world.executor.execute(fetch(1))
    assert world.waiting == []
    (resume,) = world.timers
    resume()
    assert [thread for thread, _, _ in world.waiting] == ["storage"]


def fetch(request_id: int, max_bytes: int = 8 << 20) -> effects.RespondFetch:
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=[PartitionData()])])
    return effects.RespondFetch([request_id], response, 100, 200, max_bytes)


CUTS = [
    pytest.param(effects.TruncateLog(90), id="truncation"),
    pytest.param(effects.StartOver(OffsetAndEpoch(300, 2)), id="a-downloaded-snapshot"),
    pytest.param(RetentionDue(), id="retention"),
]


@pytest.mark.parametrize("cut", CUTS)
def test_no_fetch_is_answered_with_what_was_written_after_a_cut(
    cut: effects.TruncateLog | effects.StartOver | RetentionDue,
) -> None:
    """LogMatching: the response names the epoch before the cut; the log may have other records now."""
    world = World()
    for request_id in range(READS_MAX + 3):
        world.executor.execute(fetch(request_id))
    world.executor.execute(cut)
    world.run_all()
    names = [call[0] for call in world.calls]
    assert names[:READS_MAX] == ["read"] * READS_MAX
    assert "read" not in names[READS_MAX:]
    empty = [records_of(world, request_id) for request_id in range(READS_MAX, READS_MAX + 3)]
    assert empty == [b""] * 3, "the replica asks again"


def test_waiting_fetches_are_read_in_turn_and_shortly() -> None:
    world = World()
    for request_id in range(10):
        world.executor.execute(fetch(request_id))
    assert len(world.waiting) == READS_MAX, "a vote waits for no more"
    world.run_all()
    assert [records_of(world, request_id) for request_id in range(10)] == [b"records"] * 10
    assert {call[2] for call in world.calls[READS_MAX:-1]} == {CONTENDED_READ_BYTES_MAX}


def test_a_client_that_leaves_does_not_make_room_for_another_read_before_its_own_ends() -> None:
    world = World()
    for request_id in range(READS_MAX):
        world.executor.execute(fetch(request_id))
        world.responses[request_id] = None
    world.executor.execute(fetch(99))
    assert len(world.waiting) == READS_MAX


def records_of(world: World, request_id: int) -> bytes | None:
    response = world.responses[request_id]
    assert isinstance(response, FetchResponse)
    return response.responses[0].partitions[0].records
