"""What the picture has beside troubles: controllers, mixed quorums, brokers, upgrades, limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kraftctl.console.event_stream import EventStream
from kraftctl.console.node_status import NodeStatus
from kraftctl.console.page_drawing import PageDrawing
from kraftctl.console.picture import BROKERS_MAX, TROUBLES_MAX, empty_picture, picture_of
from kraftctl.console.quorum_reading import LogReading, QuorumReading
from kraftctl.explain.evidence import NoLeaderView
from tests.support import explained_situations as situations
from tests.support.explained_log import ExplainedLog, partition


def picture(log: ExplainedLog, *statuses: NodeStatus, problem: str = "") -> dict[str, Any]:
    evidence = log.evidence()
    reading = QuorumReading(evidence.quorum, addresses={1: "c1:9093"}, statuses=statuses, problem=problem)
    found = picture_of(evidence, reading, LogReading(False, 7, 2), EventStream())
    assert json.loads(json.dumps(found)) == found
    return found


def controllers(found: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {each["id"]: each for each in found["quorum"]["controllers"]}


def test_a_controller_has_its_role_and_lag() -> None:
    log = ExplainedLog()
    situations.silent_voter(log)
    log.controllers(9)
    log.fetched(7, 200, end=90)
    found = controllers(picture(log))
    assert {each: row["role"] for each, row in found.items()} == {
        1: "leader", 2: "voter", 3: "voter", 7: "observer", 9: "ghost",
    }  # fmt: skip
    assert (found[1]["lag"], found[1]["address"]) == ("0 records, 0.0 s", "c1:9093")
    assert (found[2]["lag"], found[2]["fetch"], found[2]["level"]) == (
        "55 records, 60 s",
        "60 s ago",
        "warning",
    )
    assert found[3]["lag"] == "1 record, 0.0 s"
    assert (found[9]["lag"], found[9]["level"], found[9]["supports"]) == ("", "warning", "4.3-IV0")


def two_voters(*levels: tuple[int, int]) -> ExplainedLog:
    log = ExplainedLog()
    log.feature("metadata.version", 30)
    log.voters(1, 2)
    for controller_id, each in enumerate(levels, 1):
        log.controllers(controller_id, levels=each)
        log.fetched(controller_id, 0, voter=True, end=104)
    return log


VERSIONS = [NodeStatus("a", node_id=1, version="0.1.0"), NodeStatus("b", node_id=2, version="0.2.0")]


@pytest.mark.parametrize(
    ("levels", "statuses", "expected"),
    [
        pytest.param([(7, 30), (7, 30)], [], "", id="the-same"),
        pytest.param(
            [(7, 30), (7, 33)],
            [],
            "1: metadata.version up to 4.3-IV0; 2: metadata.version up to 4.4-IV2",
            id="levels",
        ),
        pytest.param([(7, 30), (7, 30)], VERSIONS, "1: kraftctl 0.1.0; 2: kraftctl 0.2.0", id="releases"),
        pytest.param([(7, 30), (7, 30)], VERSIONS[:1], "", id="one-that-is-known"),
    ],
)
def test_a_mixed_quorum_is_named(
    levels: list[tuple[int, int]], statuses: list[NodeStatus], expected: str
) -> None:
    quorum = picture(two_voters(*levels), *statuses)["quorum"]
    assert (quorum["mixed"], quorum["is_mixed"]) == (expected, bool(expected))


def test_a_broker_that_serves_nothing_is_first_and_says_why() -> None:
    log = ExplainedLog()
    situations.session_expired(log)
    first, second = picture(log)["brokers"]
    assert (first["id"], first["state"], first["level"]) == (1, "fenced", "warning")
    assert first["why"] == (
        "since 08:00:06 (10 s): its session seems to have expired (broker.session.timeout.ms): it lost"
        " leaderships at the time of its fencing"
    )
    assert (second["state"], second["why"], second["leads"], second["in_isr"]) == ("active", "", 1, 1)


def test_a_broker_that_starts_has_the_detail_of_it() -> None:
    log = ExplainedLog()
    situations.not_caught_up(log)
    (broker,) = picture(log)["brokers"]
    assert broker["why"].startswith("since 08:00:01 (10 s): not unfenced yet, registered; it has read")


def test_an_upgrade_has_who_blocks_it() -> None:
    log = ExplainedLog()
    situations.known_ghost_limits(log)
    (level,) = picture(log)["upgrade"]
    assert (level["is_blocked"], level["can_rise"]) == (True, False)
    assert "controller 9 supports levels 7 to 30" in level["because"][0]
    raised = ExplainedLog()
    situations.can_be_raised(raised)
    (level,) = picture(raised)["upgrade"]
    assert (level["is_blocked"], level["can_rise"]) == (False, True)


def test_each_list_ends_with_how_many_more_there_are() -> None:
    log = ExplainedLog()
    log.brokers(*range(1, BROKERS_MAX + 4))
    for number in range(TROUBLES_MAX + 20):
        log.topic(f"topic-{number}", partition([1 + number], leader=-1))
    found = picture(log)
    assert (len(found["brokers"]), found["brokers_left_out"]) == (BROKERS_MAX, 3)
    assert len(found["troubles"]) + found["troubles_left_out"] <= TROUBLES_MAX
    assert sum(each["count"] for each in found["troubles"]) == TROUBLES_MAX + 20


def test_problems_of_reading_are_named() -> None:
    found = picture(ExplainedLog(), problem="no right")
    assert found["problems"] == ["no right"]
    reading = LogReading(True, 12, 0, "no leader")
    empty = empty_picture(reading, QuorumReading(), 0)
    assert (empty["problems"], empty["log"]["records_count"]) == (["no leader"], 12)
    assert "troubles" not in empty


def test_records_of_a_newer_release_are_named() -> None:
    log = ExplainedLog()
    assert picture(log)["unknown_records"] == {}
    log.log.unknown_records.update([200, 200, 31])
    found = picture(log)
    assert found["problems"] == ["3 records of types [31, 200], which a newer release wrote, are left out"]
    assert found["unknown_records"] == {"31": 1, "200": 2}
    assert "types [31, 200], which a newer release wrote" in PageDrawing().parts(found).decode()


def test_without_a_leader_the_first_page_says_so() -> None:
    view = NoLeaderView(3, 1, ["c1:9093 knows no leader of epoch 7"])
    empty = empty_picture(LogReading(), QuorumReading(no_leader=view), 0)
    assert empty["no_leader"]["text"] == "The quorum has no leader that answers"
    page = PageDrawing().parts(empty).decode()
    assert "c1:9093 knows no leader of epoch 7" in page
    assert "start the controllers that are not reached" in page
