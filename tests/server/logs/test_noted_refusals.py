"""Lines about refusals that an operator has to know of: their rate is limited, for each kind and sender."""

from __future__ import annotations

import logging

import pytest

from kraftctl.controller.results.noted_refusal import ENVELOPE, KINDS, NODE, TOKEN, NotedRefusal
from kraftctl.server.logs.notice_log import LoggedNotices


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds


@pytest.fixture
def clock(caplog: pytest.LogCaptureFixture) -> Clock:
    caplog.set_level(logging.INFO)
    return Clock()


def logged(clock: Clock) -> LoggedNotices:
    return LoggedNotices(clock.now, lambda _, __: None, None)


def refused(kind: str, sender: str, *, is_warning: bool = True) -> NotedRefusal:
    return NotedRefusal(kind, sender, f"refused {sender}", is_warning=is_warning)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sender_that_tries_again_has_a_line_now_and_then(
    kind: str, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    lines = logged(clock)
    for _ in range(1_000):
        lines.refusal_noted(refused(kind, "a"))
        clock.seconds += 1
    # After 0, 60, 180, 420 and 900 s.
    assert caplog.messages == ["refused a"] * 5
    assert {record.levelname for record in caplog.records} == {"WARNING"}


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_senders_has_few_lines(
    kind: str, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    lines = logged(clock)
    for number in range(10_000):
        lines.refusal_noted(refused(kind, f"{number}"))
    assert len(caplog.messages) == 10
    clock.seconds += 10
    lines.refusal_noted(refused(kind, "last"))
    assert caplog.messages[10:] == ["9990 similar lines were left out", "refused last"]


def test_a_flood_of_one_kind_hides_no_other(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Every user may be refused a token; few have a broker's key."""
    lines = logged(clock)
    for number in range(1_000):
        lines.refusal_noted(refused(TOKEN, f"{number}"))
        lines.refusal_noted(refused(NODE, f"{number}"))
    lines.refusal_noted(refused(ENVELOPE, "a stolen key"))
    assert caplog.messages[-1] == "refused a stolen key"


def test_refusals_that_concern_a_client_alone_have_level_info(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    logged(clock).refusal_noted(refused(TOKEN, "a", is_warning=False))
    assert [record.levelname for record in caplog.records] == ["INFO"]
