"""Records that fence a fenced broker again are set apart, and nothing else is."""

from __future__ import annotations

from tests.differential.codec import Body
from tests.differential.metadata_log import LoggedRecord
from tests.differential.picture import Partition, Picture, without_repeated_fencing


def change(broker: int, fenced: int, directories: list[str] | None = None) -> LoggedRecord:
    body: Body = {
        "BrokerId": broker,
        "Fenced": fenced,
        "InControlledShutdown": 0,
        "LogDirs": directories or [],
    }
    return LoggedRecord("BrokerRegistrationChangeRecord", 0, body, 0)


def test_only_what_fences_a_fenced_broker_again_is_left_out() -> None:
    first, again = change(1, 1), change(1, 1)
    unfenced, other, of_a_directory = change(2, -1), change(2, 1), change(1, 1, ["d"])
    logged = [first, again, unfenced, other, of_a_directory]
    assert without_repeated_fencing(logged, {2}) == ([first, unfenced, other, of_a_directory], [1])


def test_records_of_old_levels_fence_too() -> None:
    fence = LoggedRecord("FenceBrokerRecord", 0, {"Id": 1, "Epoch": 5}, 0)
    assert without_repeated_fencing([fence, fence], set()) == ([fence], [1])


def test_brokers_of_elrs_that_were_cleared_are_kept() -> None:
    picture = Picture()
    for name, elr in (("a", [1]), ("b", [2])):
        picture.topics[name] = {0: Partition([1, 2], [], [], [], -1, 0, 0, elr)}
    picture.replay(LoggedRecord("ClearElrRecord", 0, {"TopicName": "a"}, 0))
    assert picture.of_cleared_elrs == {1}
    picture.replay(LoggedRecord("ClearElrRecord", 0, {"TopicName": ""}, 0))
    assert picture.of_cleared_elrs == {1, 2}
