"""Long requests are freed in steps beside the loop, and never while something still uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftctl.server.loop.body_freeing import ELEMENTS_PER_PAUSE, FREED_AT_ONCE_BYTES_MAX, BodyFreeing, free
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions

LONG = FREED_AT_ONCE_BYTES_MAX + 1


class World:
    """Scheduler and inbox."""

    def __init__(self) -> None:
        self.running: list[Callable[[Callable[[], None]], object]] = []
        self.later: list[Callable[[], None]] = []
        self.ended = False
        this: Any = self
        self.freeing = BodyFreeing(this, this)

    def run_on_decoding_thread(self, call: Any, done: Callable[[Any], None]) -> None:
        self.running.append(call)

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> None:
        self.later.append(call)

    def guarded(self, action: Callable[[], None]) -> None:
        action()

    def look(self) -> None:
        (call,) = self.later
        self.later.clear()
        call()


def names(count: int) -> list[str]:
    return [f"t{number}" for number in range(count)]


def test_a_body_is_freed_once_nothing_else_refers_to_it() -> None:
    world = World()
    body = DeleteTopicsRequest(topic_names=names(3))
    world.freeing.hold(body, LONG)
    world.look()
    assert not world.running
    del body
    world.look()
    assert len(world.running) == 1
    assert not world.later


def test_short_ones_are_not_held() -> None:
    world = World()
    world.freeing.hold(DeleteTopicsRequest(), FREED_AT_ONCE_BYTES_MAX)
    assert not world.later


def test_nothing_is_begun_after_the_end() -> None:
    world = World()
    world.freeing.hold(DeleteTopicsRequest(), LONG)
    world.freeing.stop()
    world.look()
    assert not world.running
    assert not world.later
    world.freeing.hold(DeleteTopicsRequest(), LONG)
    assert not world.later


def test_others_run_meanwhile() -> None:
    pauses: list[None] = []
    body = DeleteTopicsRequest(topic_names=names(5 * ELEMENTS_PER_PAUSE))
    assert free(body, lambda: pauses.append(None)) == len(pauses) == 5
    assert body.topic_names == []


def test_a_long_list_in_a_short_one_is_freed_in_steps() -> None:
    topics = [
        TopicPartitions(topic="foo", partitions=list(range(each)))
        for each in (0, 3 * ELEMENTS_PER_PAUSE, ELEMENTS_PER_PAUSE)
    ]
    body = ElectLeadersRequest(topic_partitions=topics)
    del topics
    assert free(body, lambda: None) == 4
    assert free(ElectLeadersRequest(topic_partitions=None), lambda: None) == 0


def test_what_something_else_refers_to_is_left_alone() -> None:
    kept_names, kept_partitions = names(3), [1, 2, 3]
    body = DeleteTopicsRequest(topic_names=kept_names)
    free(body, lambda: None)
    assert body.topic_names == names(3)
    kept_topic = TopicPartitions(topic="foo", partitions=list(range(3)))
    topics = [kept_topic, TopicPartitions(topic="bar", partitions=kept_partitions)]
    election = ElectLeadersRequest(topic_partitions=topics)
    del topics
    free(election, lambda: None)
    assert election.topic_partitions == []
    assert kept_partitions == [1, 2, 3]
    assert kept_topic.partitions == [0, 1, 2]
