"""What is listed as trouble, in which order, with the causes that `kraftctl explain` has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kraftctl.console.event_stream import EventStream
from kraftctl.console.found_partitions import FOUND_MAX
from kraftctl.console.node_status import CertificateDate, NodeStatus
from kraftctl.console.picture import picture_of
from kraftctl.console.quorum_reading import LogReading, QuorumReading
from kraftctl.console.troubles import (
    BROKERS_MAX,
    CRITICAL,
    NOTE,
    STUCK_MS,
    WARNING,
    Trouble,
    troubles_of,
)
from kraftctl.explain.evidence import ClusterEvidence, NoLeaderView
from kraftctl.explain.mark import DAY_MS
from kraftctl.explain.why_broker import explain_broker
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_partition import explain_partition
from tests.support import explained_situations as situations
from tests.support.explained_log import ExplainedLog, change, partition

Make = Callable[[ExplainedLog], None]


def found(make: Make, after_ms: int = 10_000) -> tuple[ClusterEvidence, list[Trouble]]:
    log = ExplainedLog()
    make(log)
    evidence = log.evidence(after_ms)
    return evidence, troubles_of(evidence)


UNDER = "min.insync.replicas is 2 (topic): acks=all is refused"

CASES = [
    pytest.param(
        situations.only_replica_fenced,
        [(CRITICAL, "solo-0 has no leader"), (WARNING, "Broker 3 is fenced")],
        id="leaderless-before-its-broker",
    ),
    pytest.param(situations.directory_lost, [
        (CRITICAL, "orders-0 has no leader"),
        (WARNING, "Broker 1 serves, but 1 of its 2 log directories failed"),
    ], id="lost-directory"),
    pytest.param(
        situations.unclean_election,
        [(WARNING, "orders-0 recovers from an unclean election: records may be lost")],
        id="unclean",
    ),
    pytest.param(
        situations.under_min_isr,
        [
            (WARNING, "Broker 2 is fenced"),
            (WARNING, f"orders-0 has 1 of 2 replicas in sync, and {UNDER}"),
        ],
        id="under-min-isr",
    ),
    pytest.param(
        situations.under_replicated_leaving,
        [
            (NOTE, "Broker 2 is in controlled shutdown"),
            (NOTE, "orders-0 has 1 of 2 replicas in sync"),
        ],
        id="leaving",
    ),
    pytest.param(
        situations.adding_is_fenced,
        [
            (WARNING, "Broker 2 is fenced"),
            (WARNING, "The reassignment of orders-0 is stuck: adding [2] and removing [1],"),
        ],
        id="stuck-reassignment",
    ),
    pytest.param(situations.reassigning, [(NOTE, "1 partition is being reassigned")], id="reassigning"),
    pytest.param(situations.silent_voter, [
        (WARNING, "Controller 2 is a voter, and does not run or does not reach the leader"),
    ], id="silent-voter"),
    pytest.param(
        situations.lagging_voter, [(WARNING, "Controller 2 is a voter, and lags")], id="lagging-voter"
    ),
    pytest.param(
        situations.known_ghost_limits, [(WARNING, "Controller 9 is a ghost")], id="ghost"
    ),
    pytest.param(situations.running_observer, [], id="an-observer-is-no-ghost"),
    pytest.param(situations.preferred_in_sync, [], id="not-on-the-preferred-leader-is-no-trouble"),
    pytest.param(situations.healthy, [], id="healthy"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), CASES)
def test_what_is_wrong_is_listed(make: Make, expected: list[tuple[str, str]]) -> None:
    _, troubles = found(make)
    assert [(each.level, each.explanation.statement.text) for each in troubles] == expected


def test_the_page_has_the_causes_of_explain() -> None:
    evidence, (leaderless, fenced) = found(situations.only_replica_fenced)
    assert leaderless.explanation == explain_partition(evidence, "solo", 0)
    assert leaderless.path == "/partition/solo-0"
    broker = explain_broker(evidence, 3)
    assert (fenced.explanation.statement, fenced.explanation.causes) == (broker.statement, broker.causes)
    assert fenced.explanation.next_step == broker.next_step
    evidence, (ghost,) = found(situations.known_ghost_limits)
    assert ghost.explanation == explain_controller(evidence, 9)
    assert (ghost.kind, ghost.path) == ("ghost", "/controller/9")


def test_a_long_reassignment_is_stuck_without_a_cause() -> None:
    _, (trouble,) = found(situations.reassigning, after_ms=STUCK_MS + 1)
    assert trouble.explanation.statement.text.startswith("The reassignment of orders-0 is stuck")


def test_partitions_with_the_same_causes_are_one_trouble() -> None:
    def broker_of_all(log: ExplainedLog) -> None:
        log.brokers(1, 2)
        log.topic("orders", *[partition([1]) for _ in range(7)])
        log.topic("solo", partition([2]))
        lost = [change("orders", index, leader=-1) for index in range(7)]
        log.fence(1, *lost)

    _, (leaderless, _) = found(broker_of_all)
    assert leaderless.count == 7
    assert leaderless.explanation.statement.text == (
        "7 partitions have no leader: orders-0, orders-1, orders-2, orders-3, orders-4 and 2 more"
    )
    assert leaderless.explanation.causes[0].text == "its only replica, broker 1, is fenced"


def test_what_is_not_looked_at_is_counted() -> None:
    def many(log: ExplainedLog) -> None:
        log.brokers(1)
        log.topic("orders", *[partition([1], leader=-1) for _ in range(FOUND_MAX + 30)])

    _, troubles = found(many)
    assert [each.count for each in troubles] == [FOUND_MAX, 30]
    assert troubles[1].explanation.statement.text == "30 more partitions have no leader"


def test_many_fenced_brokers_are_counted() -> None:
    def many(log: ExplainedLog) -> None:
        log.register(*range(1, BROKERS_MAX + 5))

    _, troubles = found(many)
    assert len(troubles) == BROKERS_MAX + 1
    assert troubles[-1].explanation.statement.text == "4 more brokers are fenced or leave"


def test_without_a_leader_nothing_is_said_of_voters_and_ghosts() -> None:
    log = ExplainedLog()
    situations.silent_voter(log)
    log.controllers(9)
    view = NoLeaderView(3, 1, ["controller-1:9093 knows no leader of epoch 7"])
    evidence = replace(log.evidence(), quorum=None)
    (trouble,) = troubles_of(evidence, no_leader=view)
    assert (trouble.level, trouble.explanation.statement.text) == (
        CRITICAL,
        "The quorum has no leader that answers",
    )


@pytest.mark.parametrize(
    ("view", "level", "badge"),
    [
        pytest.param(NoLeaderView(3, 2, []), CRITICAL, ("no leader", CRITICAL), id="none-of-those-reached"),
        pytest.param(NoLeaderView(3, 0, []), WARNING, ("not known", WARNING), id="none-is-reached"),
        pytest.param(NoLeaderView(3, 2, [], 3), WARNING, ("not known", WARNING), id="one-is-not-reached"),
    ],
)
def test_a_leader_that_may_be_there_is_not_critical(
    view: NoLeaderView, level: str, badge: tuple[str, str]
) -> None:
    evidence = ExplainedLog().evidence()
    (trouble,) = troubles_of(evidence, no_leader=view)
    assert trouble.level == level
    found = picture_of(evidence, QuorumReading(no_leader=view), LogReading(), EventStream())["badges"][0]
    assert (found["value"], found["level"]) == badge


@pytest.mark.parametrize(("uncommitted_ms", "is_shown"), [(1_999, False), (2_000, True)])
def test_a_leader_that_commits_nothing_is_the_first_trouble(uncommitted_ms: int, is_shown: bool) -> None:
    """Partitions and brokers are then as they were, so that nothing else on the page says so."""
    log = ExplainedLog()
    log.fetched(1, 0, voter=True, end=log.offset + 1)
    log.uncommitted_ms = uncommitted_ms
    evidence = log.evidence()
    troubles = [(each.level, each.explanation.statement.text) for each in troubles_of(evidence)]
    assert troubles == ([(CRITICAL, "Nothing is committed")] if is_shown else [])
    badge = picture_of(evidence, QuorumReading(evidence.quorum), LogReading(), EventStream())["badges"][0]
    assert (badge["value"] == "commits nothing") == is_shown


STATUSES = [
    pytest.param({"certificates": (CertificateDate("CONTROLLER", 15 * DAY_MS),)}, [], id="15-days"),
    pytest.param({"certificates": (CertificateDate("CONTROLLER", 13 * DAY_MS),)}, [
        (WARNING, "The certificate of CONTROLLER of controller 1 expires in 13.0 days"),
    ], id="13-days"),
    pytest.param({"certificates": (CertificateDate("CONTROLLER", DAY_MS),)}, [
        (CRITICAL, "The certificate of CONTROLLER of controller 1 expires in 1.0 days"),
    ], id="one-day"),
    pytest.param({"certificates": (CertificateDate("CONTROLLER", -1),)}, [
        (CRITICAL, "The certificate of CONTROLLER of controller 1 has expired"),
    ], id="expired"),
    pytest.param({"waits_ms": 9_000}, [(WARNING, "Controller 1 waits for its disk for 9 s")], id="disk"),
    pytest.param({"is_ready": False, "reasons": ("No leader",)}, [
        (WARNING, "Controller 1 is not ready"),
    ], id="not-ready"),
    pytest.param({"problem": "refused"}, [
        (NOTE, "The status at http://c1:9099 is not read"),
    ], id="not-read"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "expected"), STATUSES)
def test_what_controllers_say_of_themselves_is_listed(
    fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    evidence = replace(ExplainedLog().evidence(), now_ms=0)
    status = replace(NodeStatus("http://c1:9099", node_id=1), **fields)
    troubles = troubles_of(evidence, statuses=[status])
    assert [(each.level, each.explanation.statement.text) for each in troubles] == expected
