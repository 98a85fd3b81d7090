"""ElectLeaders and the two election timers (KIP-183, KIP-460, KIP-704)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.elect_leaders import (
    LISTED_TOPICS_MAX,
    PREFERRED,
    UNCLEAN,
    elect_leaders,
)
from kraftctl.controller.replication_control.leader_elections import preferred_elections, unclean_elections
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.elect_leaders_response import ElectLeadersResponse
from tests.support.metadata_state import MetadataState, partition_record, uuid
from tests.support.transitions import run

VERSIONS = (0, 1, 2)


def ask(
    state: MetadataState, election_type: int, partitions: dict[str, list[int]] | None, version: int = 2
) -> ControllerResult:
    asked = None
    if partitions is not None:
        asked = [TopicPartitions(topic=name, partitions=indexes) for name, indexes in partitions.items()]
    request = ElectLeadersRequest(election_type=election_type, topic_partitions=asked)
    request = ElectLeadersRequest.decode(request.encode(version), version)
    result = elect_leaders(state.controller, state.context(43, version), request, state.moment())
    assert isinstance(result.response, ElectLeadersResponse)
    result.response.encode(version)
    return result


def codes(result: ControllerResult) -> dict[tuple[str, int], Errors]:
    assert isinstance(result.response, ElectLeadersResponse)
    return {
        (topic.topic, partition.partition_id): Errors(partition.error_code)
        for topic in result.response.replica_election_results
        for partition in topic.partition_result
    }


def electable_partitions() -> MetadataState:
    """foo: preferred leads; could lead; out of sync; no leader and one replica alive; none alive."""
    state = MetadataState()
    state.brokers(1, 2)
    state.broker(3, fenced=True)
    state.topic(
        "foo",
        partition_record([1, 2]),
        partition_record([2, 1], leader=1),
        partition_record([2, 1], [1], leader=1),
        partition_record([1, 3], [3], leader=-1),
        partition_record([3], [3], leader=-1),
    )
    return state


@pytest.mark.parametrize("version", VERSIONS)
def test_preferred_elections(version: int) -> None:
    state = electable_partitions()
    result = state.apply(ask(state, PREFERRED, {"foo": [0, 1, 2, 3, 9], "bar": [0]}, version))
    assert codes(result) == {
        ("foo", 0): Errors.ELECTION_NOT_NEEDED,
        ("foo", 1): Errors.NONE,
        ("foo", 2): Errors.PREFERRED_LEADER_NOT_AVAILABLE,
        ("foo", 3): Errors.PREFERRED_LEADER_NOT_AVAILABLE,
        ("foo", 9): Errors.UNKNOWN_TOPIC_OR_PARTITION,
        ("bar", 0): Errors.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert len(result.records) == 1
    assert state.partition(1).leader == 2
    assert state.partition(1).leader_epoch == 6


@pytest.mark.parametrize("version", [1, 2])
def test_unclean_elections_are_for_partitions_without_leader(version: int) -> None:
    """KIP-460: an operator may request it, whatever unclean.leader.election.enable is."""
    state = electable_partitions()
    result = state.apply(ask(state, UNCLEAN, {"foo": [0, 2, 3, 4]}, version))
    assert codes(result) == {
        ("foo", 0): Errors.ELECTION_NOT_NEEDED,
        ("foo", 2): Errors.ELECTION_NOT_NEEDED,
        ("foo", 3): Errors.NONE,
        ("foo", 4): Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE,
    }
    partition = state.partition(3)
    assert (partition.leader, partition.isr, partition.leader_recovery_state) == (1, (1,), 1)


def test_all_partitions_and_silence_about_those_in_order() -> None:
    result = ask(electable_partitions(), PREFERRED, None)
    assert codes(result) == {
        ("foo", 1): Errors.NONE,
        ("foo", 2): Errors.PREFERRED_LEADER_NOT_AVAILABLE,
        ("foo", 3): Errors.PREFERRED_LEADER_NOT_AVAILABLE,
        ("foo", 4): Errors.PREFERRED_LEADER_NOT_AVAILABLE,
    }


def test_partitions_in_order_are_not_listed_among_all() -> None:
    state = electable_partitions()
    state.topic("in-order", partition_record([1, 2]), number=2)
    for election_type in (PREFERRED, UNCLEAN):
        response = ask(state, election_type, None).response
        assert isinstance(response, ElectLeadersResponse)
        listed = {topic.topic: topic.partition_result for topic in response.replica_election_results}
        assert listed.keys() == {"foo", "in-order"}
        assert listed["foo"]
        assert not listed["in-order"]


def test_among_very_many_topics_those_in_order_are_not_listed() -> None:
    state = electable_partitions()
    for number in range(2, LISTED_TOPICS_MAX + 2):
        state.topic(f"in-order-{number}", partition_record([1, 2]), number=number)
    response = ask(state, PREFERRED, None).response
    assert isinstance(response, ElectLeadersResponse)
    assert [topic.topic for topic in response.replica_election_results] == ["foo"]


@pytest.mark.parametrize("named", [True, False])
def test_more_elections_than_a_batch_has_records_are_refused(named: bool) -> None:
    """As in Kafka: POLICY_VIOLATION, and no leader is elected."""
    state = MetadataState()
    state.brokers(1, 2)
    state.topic("foo", *[partition_record([2, 1], leader=1) for _ in range(RECORDS_PER_BATCH_MAX + 1)])
    most = {"foo": list(range(RECORDS_PER_BATCH_MAX))}
    assert len(ask(state, PREFERRED, most).records) == RECORDS_PER_BATCH_MAX
    more = {"foo": list(range(RECORDS_PER_BATCH_MAX + 1))}
    result = ask(state, PREFERRED, more if named else None)
    assert isinstance(result.response, ElectLeadersResponse)
    assert (result.response.error_code, result.records) == (Errors.POLICY_VIOLATION, [])


def test_an_unknown_election_type_fails_every_partition() -> None:
    result = ask(electable_partitions(), 7, {"foo": [0, 1]})
    assert isinstance(result.response, ElectLeadersResponse)
    assert result.response.error_code == Errors.INVALID_REQUEST
    assert set(codes(result).values()) == {Errors.INVALID_REQUEST}
    assert result.records == []


def test_the_rebalance_timer_elects_preferred_replicas_in_sync() -> None:
    state = electable_partitions()
    result = preferred_elections(state.controller).next_slice(state.moment())
    assert [entry.record.partition_id for entry in result.records] == [1]  # type: ignore[attr-defined]
    assert result.rest is None


def test_the_rebalance_timer_goes_on_where_it_stopped() -> None:
    state = MetadataState()
    state.brokers(1, 2)
    for number in (1, 2):
        state.topic(f"t{number}", *[partition_record([2, 1], leader=1) for _ in range(70)], number=number)
    results = run(state, preferred_elections(state.controller), 50)
    assert [len(result.records) for result in results] == [50, 50, 40]
    assert preferred_elections(state.controller).next_slice(state.moment()).records == []
    assert state.image.topics.imbalanced_counts == {}


def test_partitions_that_are_in_order_are_passed_over_in_slices_too() -> None:
    state = MetadataState()
    state.brokers(1, 2)
    partitions = [partition_record([1, 2]) for _ in range(1_000)]
    state.topic("t", *partitions, partition_record([2, 1], leader=1))
    results = run(state, preferred_elections(state.controller), 10)
    assert [len(result.records) for result in results] == [0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("allowed", [True, False])
def test_the_unclean_timer_obeys_the_topic(allowed: bool) -> None:
    """Changing the config does not elect by itself; the timer picks the topic up."""
    state = electable_partitions()
    state.config(TOPIC, "foo", unclean__leader__election__enable=str(allowed).lower())
    result = unclean_elections(state.controller).next_slice(state.moment())
    assert [entry.record.partition_id for entry in result.records] == ([3] if allowed else [])  # type: ignore[attr-defined]
    assert result.rest is None
    state.apply(result)
    assert state.partition(3, uuid(1)).has_leader is allowed
