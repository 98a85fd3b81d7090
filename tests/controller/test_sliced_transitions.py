"""Transitions of brokers in slices: wherever they are cut, they end in the same state."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.controller.cluster_control.unregister_broker import BrokerUnregistration
from kraftctl.controller.replication_control.broker_transitions import BrokerFencing, ControlledShutdown
from kraftctl.controller.replication_control.leader_elections import (
    BrokerUnfencing,
    leaderless_elections,
    preferred_elections,
    unclean_elections,
)
from kraftctl.controller.replication_control.memberships import TOPICS_PER_PLAN_MAX
from kraftctl.controller.replication_control.offline_directories import OfflineDirectories
from kraftctl.controller.results.controller_result import SlicedWork
from kraftctl.controller.results.moment import Moment
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from tests.support.metadata_state import (
    BROKER_EPOCH,
    UNLIMITED,
    MetadataState,
    directory,
    partition_record,
    uuid,
)
from tests.support.record_sequences import fingerprint
from tests.support.transitions import next_slice, registering, run

BROKER = 1
EPOCH = BROKER_EPOCH + BROKER
UNITS = (1, 2, 3, 7)

Begin = Callable[[MetadataState], SlicedWork]


def every_place_of_a_broker(*, elr: bool) -> MetadataState:
    """Broker 1 leads, follows, is alone, is away, and moves away; broker 4 is fenced and has all it can."""
    state = MetadataState(elr=elr)
    state.broker(BROKER, directories=2)
    state.brokers(2, 3)
    state.broker(4, fenced=True)
    first, second = directory(BROKER, 0), directory(BROKER, 1)
    for number in (5, 3, 9, 1):
        state.config(TOPIC, f"t{number}", min__insync__replicas="2")
        state.topic(
            f"t{number}",
            partition_record([1, 2, 3], directories=[first, directory(2), directory(3)]),
            partition_record([2, 1, 3], directories=[directory(2), second, directory(3)]),
            partition_record([2, 3]),
            partition_record([1], directories=[second]),
            partition_record([1, 4], [4], leader=-1, directories=[first, directory(4)]),
            partition_record([3, 1], [1, 3], leader=1, directories=[directory(3), first]),
            partition_record([2, 1, 3], [2], elr=[1] if elr else None),
            partition_record([4], [] if elr else [4], elr=[4] if elr else None, leader=-1),
            partition_record([1, 2, 3], [1, 2], removing=[1], adding=[3]),
            number=number,
        )
    state.config(TOPIC, "t9", unclean__leader__election__enable="true")
    return state


TRANSITIONS: dict[str, Begin] = {
    "fencing": lambda state: BrokerFencing(state.controller, BROKER, EPOCH),
    "shutdown": lambda state: ControlledShutdown(state.controller, BROKER, EPOCH),
    "unregistration": lambda state: BrokerUnregistration(state.controller, BROKER, EPOCH),
    "unfencing": lambda state: BrokerUnfencing(state.controller, 4, BROKER_EPOCH + 4),
    "clean-restart": lambda state: registering(state.controller, BROKER, clean_shutdown=True),
    "unclean-restart": lambda state: registering(state.controller, BROKER, clean_shutdown=False),
    "directory": lambda state: OfflineDirectories(state.controller, BROKER, EPOCH, [directory(BROKER)]),
    "preferred": lambda state: preferred_elections(state.controller),
    "unclean": lambda state: unclean_elections(state.controller),
    "leaderless": lambda state: leaderless_elections(state.controller),
}

LAST_RECORDS = {
    "fencing": BrokerRegistrationChangeRecord,
    "unregistration": UnregisterBrokerRecord,
    "clean-restart": RegisterBrokerRecord,
    "unclean-restart": RegisterBrokerRecord,
    "directory": BrokerRegistrationChangeRecord,
}


def outcome(state: MetadataState) -> dict[str, object]:
    """Without the offsets, which slices do not keep, and broker epochs, which are offsets."""
    found = fingerprint(state.image)
    del found["registration offsets"]
    found["brokers"] = [
        (broker.id, broker.incarnation_id, broker.fenced, broker.in_controlled_shutdown, broker.directories)
        for broker in state.image.cluster.brokers.values()
    ]
    return found


@pytest.mark.parametrize("elr", [False, True])
@pytest.mark.parametrize("name", TRANSITIONS)
def test_slices_end_in_the_same_state(name: str, elr: bool) -> None:
    whole = every_place_of_a_broker(elr=elr)
    expected = run(whole, TRANSITIONS[name](whole), UNLIMITED)
    assert len(expected) == 1
    for units in UNITS:
        state = every_place_of_a_broker(elr=elr)
        results = run(state, TRANSITIONS[name](state), units)
        assert outcome(state) == outcome(whole), f"{units} units"
        changes = [entry.record for result in results for entry in result.records]
        assert len(changes) == len(expected[0].records)
        if name in LAST_RECORDS:
            assert isinstance(results[-1].records[-1].record, LAST_RECORDS[name])
        assert all(result.response is None for result in results[:-1])
        assert type(results[-1].response) is type(expected[0].response)
        assert not state.controller.heartbeats.leaving.has(BROKER, EPOCH)


@pytest.mark.parametrize("elr", [False, True])
def test_a_whole_transition_takes_topics_in_the_order_of_their_ids(elr: bool) -> None:
    """Whatever was created first."""
    state = every_place_of_a_broker(elr=elr)
    records = run(state, TRANSITIONS["fencing"](state), UNLIMITED)[0].records[:-1]
    topic_ids = [entry.record.topic_id for entry in records]  # type: ignore[attr-defined]
    assert list(dict.fromkeys(topic_ids)) == [uuid(number) for number in (1, 3, 5, 9)]


def test_what_appears_behind_the_place_is_found() -> None:
    """A topic that was passed already gets the broker back: the index has it, and the work continues."""
    state = every_place_of_a_broker(elr=False)
    work = TRANSITIONS["fencing"](state)
    while BROKER in state.partition(1, uuid(1)).isr:
        assert next_slice(state, work, 3).rest is not None
    state.topic("late", partition_record([1, 2, 3]), number=20)
    before = state.partition(1, uuid(1))
    assert BROKER not in before.isr
    run(state, work, 3)
    assert BROKER not in state.partition(0, uuid(20)).isr
    assert BROKER not in state.image.topics.isr_counts


def test_a_topic_that_is_deleted_in_the_middle_is_passed_over() -> None:
    state = every_place_of_a_broker(elr=False)
    work = TRANSITIONS["fencing"](state)
    next_slice(state, work, 2)
    state.append(RemoveTopicRecord(topic_id=uuid(1)))
    state.append(RemoveTopicRecord(topic_id=uuid(5)))
    run(state, work, 2)
    assert not state.image.cluster.active(BROKER)
    assert BROKER not in state.image.topics.isr_counts


@pytest.mark.parametrize("name", ["fencing", "shutdown", "unregistration"])
def test_a_broker_that_registered_anew_in_the_middle_is_left_alone(name: str) -> None:
    state = every_place_of_a_broker(elr=False)
    work = TRANSITIONS[name](state)
    next_slice(state, work, 3)
    run(state, registering(state.controller, BROKER, clean_shutdown=True), UNLIMITED)
    state.change_broker_of(BROKER, fenced=-1)
    result = next_slice(state, work, 3)
    assert (result.records, result.rest) == ([], None)
    assert state.image.cluster.active(BROKER)
    assert not state.controller.heartbeats.leaving.has(BROKER, EPOCH)
    if isinstance(result.response, UnregisterBrokerResponse):
        assert result.response.error_code == Errors.BROKER_ID_NOT_REGISTERED
        assert "registered again" in (result.response.error_message or "")


def test_two_unregistrations_end_once() -> None:
    state = every_place_of_a_broker(elr=False)
    first, second = TRANSITIONS["unregistration"](state), TRANSITIONS["unregistration"](state)
    next_slice(state, first, 3)
    next_slice(state, second, 3)
    done = run(state, first, 3)[-1].response
    assert isinstance(done, UnregisterBrokerResponse)
    assert done.error_code == 0
    too_late = run(state, second, 3)
    assert isinstance(too_late[-1].response, UnregisterBrokerResponse)
    assert too_late[-1].response.error_code == Errors.BROKER_ID_NOT_REGISTERED
    assert [result.records for result in too_late] == [[]]


def test_a_repeated_registration_keeps_the_epoch() -> None:
    state = every_place_of_a_broker(elr=True)
    first = registering(state.controller, BROKER, clean_shutdown=False)
    again = registering(state.controller, BROKER, clean_shutdown=False)
    next_slice(state, first, 3)
    next_slice(state, again, 3)
    done = run(state, again, 3)[-1]
    assert isinstance(done.response, BrokerRegistrationResponse)
    epoch = done.response.broker_epoch
    assert epoch == state.image.cluster.brokers[BROKER].epoch
    late = run(state, first, 3)[-1]
    assert isinstance(late.response, BrokerRegistrationResponse)
    assert (late.response.error_code, late.response.broker_epoch) == (0, epoch)
    assert state.image.cluster.brokers[BROKER].epoch == epoch


def test_the_checks_of_a_registration_are_made_again() -> None:
    """The former process sends a heartbeat: it is alive after all."""
    state = every_place_of_a_broker(elr=False)
    work = registering(state.controller, BROKER, clean_shutdown=True)
    next_slice(state, work, 3)
    leaving = state.controller.heartbeats.leaving
    assert leaving.has(BROKER, EPOCH)
    state.controller.heartbeats.register(BROKER, EPOCH, False)
    state.controller.heartbeats.update_contact_time(BROKER, EPOCH, 0)
    result = next_slice(state, work, 3)
    assert isinstance(result.response, BrokerRegistrationResponse)
    assert result.response.error_code == Errors.DUPLICATE_BROKER_REGISTRATION
    assert (result.records, result.rest) == ([], None)
    assert not leaving.has(BROKER, EPOCH)
    assert leaving.elections_are_due


def test_a_directory_of_another_broker_is_found_out_at_the_end() -> None:
    state = every_place_of_a_broker(elr=False)
    work = registering(state.controller, BROKER, clean_shutdown=True, directories=[directory(77)])
    next_slice(state, work, 3)
    run(
        state,
        registering(state.controller, 2, clean_shutdown=True, directories=[directory(77)]),
        UNLIMITED,
    )
    result = run(state, work, 3)[-1]
    assert isinstance(result.response, BrokerRegistrationResponse)
    assert result.response.error_code == Errors.INVALID_REGISTRATION


def test_the_epoch_is_that_of_the_last_slice() -> None:
    """As if everything before it had been another request."""
    state = every_place_of_a_broker(elr=False)
    results = run(state, registering(state.controller, BROKER, clean_shutdown=True), 3)
    last = results[-1].records
    assert isinstance(last[-1].record, RegisterBrokerRecord)
    assert last[-1].record.broker_epoch == state.next_offset - len(last)


def test_nobody_is_elected_in_a_directory_that_fails() -> None:
    state = every_place_of_a_broker(elr=False)
    work = TRANSITIONS["directory"](state)
    next_slice(state, work, 1)
    assert state.partition(0, uuid(1)).leader == 2
    # Its replica in the directory would be preferred, and is still in sync elsewhere.
    records = preferred_elections(state.controller).next_slice(state.moment()).records
    failed = {(uuid(number), index) for number in (1, 3, 5, 9) for index in (0, 4)}
    assert all(
        (entry.record.topic_id, entry.record.partition_id) not in failed  # type: ignore[attr-defined]
        for entry in records
    )


@pytest.mark.parametrize("name", ["fencing", "unregistration", "clean-restart", "unclean-restart"])
def test_a_slice_that_fails_ends_the_leaving(name: str) -> None:
    """Then partitions may have no leader because the broker was not elected: that is due."""
    state = every_place_of_a_broker(elr=True)
    work = TRANSITIONS[name](state)
    next_slice(state, work, 3)
    leaving = state.controller.heartbeats.leaving
    assert leaving.has(BROKER, EPOCH)
    work.failed(Moment(0, 0, state.next_offset))
    assert not leaving.has(BROKER, EPOCH)
    assert leaving.elections_are_due


def test_a_directory_work_that_fails_ends_the_leaving() -> None:
    state = every_place_of_a_broker(elr=False)
    work = TRANSITIONS["directory"](state)
    next_slice(state, work, 1)
    assert state.controller.heartbeats.leaving.has_directory(directory(BROKER))
    work.failed(Moment(0, 0, state.next_offset))
    assert not state.controller.heartbeats.leaving.has_directory(directory(BROKER))


def test_few_of_very_many_partitions_cost_few_looks() -> None:
    """A topic is not looked through again for each slice."""
    state = MetadataState()
    state.brokers(1, 2)
    state.topic("t", *[partition_record([1, 2] if index % 100 == 0 else [2]) for index in range(3_200)])
    results = run(state, BrokerFencing(state.controller, 1, EPOCH), 10)
    # 32 memberships and 3,168 other partitions, 16 of which count as one unit; and a last look at the index.
    assert len(results) in (24, 25)


def test_more_topics_than_are_planned_together() -> None:
    """Then one slice does not take all of them, however much it may do."""
    state = MetadataState(elr=True)
    state.brokers(1, 2)
    count = TOPICS_PER_PLAN_MAX + 10
    for number in range(count):
        alone = number >= TOPICS_PER_PLAN_MAX
        record = partition_record([1], leader=-1) if alone else partition_record([1, 2])
        state.topic(f"t{number}", record, number=number)
    results = run(state, BrokerFencing(state.controller, 1, EPOCH), UNLIMITED)
    assert [len(result.records) for result in results] == [TOPICS_PER_PLAN_MAX, 11]
    assert {1} & {*state.image.topics.isr_counts, *state.image.topics.last_member_counts} == set()


def test_with_elr_the_last_member_leaves_too() -> None:
    """It was fenced before ELR was enabled, or its directory is offline: the ISR has it, without a leader."""
    for elr in (False, True):
        state = MetadataState(elr=elr)
        state.brokers(1, 2)
        state.topic("t", *[partition_record([1], [1], leader=-1) for _ in range(5)])
        results = run(state, BrokerFencing(state.controller, 1, EPOCH), 2)
        assert len(results) == (4 if elr else 1)
        assert {partition.isr for partition in state.image.topics.topics[uuid(1)].partitions.values()} == {
            () if elr else (1,)
        }
