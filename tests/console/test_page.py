"""The page in a real browser: what the first screen shows, the keyboard, and what stays when it changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.dev.polling import await_result
from kraftctl.explain.evidence import NoLeaderView
from tests.support.console_screen import check_screens, open_page, statements_on_screen
from tests.support.console_stage import Console, StagedLog, five_troubles, statuses
from tests.support.processes.browser import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FOCUSED = "document.activeElement.closest('details')?.dataset.key ?? document.activeElement.id"


class Stage:
    """A console whose leader's words a test may change."""

    def __init__(self, log: StagedLog) -> None:
        self.log = log
        self.reading: QuorumReading = log.reading(*statuses())
        self.console = Console(log.path, lambda: self.reading)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    log = StagedLog(tmp_path_factory.mktemp("stage") / "data")
    five_troubles(log)
    stage = Stage(log)
    with closing(log), stage.console:
        yield stage


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile"), 1600, 800) as opened:
        yield opened


def press(browser: Browser, key: str) -> None:
    """Presses a key where the focus is."""
    browser.evaluate(
        f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
    )


def test_the_first_screen_names_all_troubles(stage: Stage, tmp_path: Path) -> None:
    wanted = ["solo-0 has no leader", "Broker 3 is fenced", "The reassignment of orders-0 is stuck",
              "Controller 3002 is a voter, and lags", "Controller 3009 is a ghost"]  # fmt: skip
    check_screens(stage.console.url, tmp_path, wanted)


def test_keys_lead_to_search_and_through_the_troubles(stage: Stage, browser: Browser) -> None:
    open_page(browser, stage.console.url)
    press(browser, "/")
    assert browser.evaluate(FOCUSED) == "q"
    press(browser, "j")
    assert browser.evaluate(FOCUSED) == "q"
    press(browser, "Escape")
    press(browser, "j")
    assert browser.evaluate(FOCUSED) == "no-leader partition solo-0"
    press(browser, "j")
    assert browser.evaluate(FOCUSED) == "fenced broker 3"
    press(browser, "k")
    assert browser.evaluate(FOCUSED) == "no-leader partition solo-0"


def test_what_is_open_and_focused_stays_so_when_the_page_changes(stage: Stage, browser: Browser) -> None:
    open_page(browser, stage.console.url)
    press(browser, "j")
    browser.evaluate("document.activeElement.click(); document.activeElement.id = 'old'")
    assert browser.evaluate("document.activeElement.closest('details').open") is True
    gone = "document.getElementById('old') === null"
    await_result(lambda: browser.evaluate(gone) is True, "the list is another one", 20.0)
    assert browser.evaluate(FOCUSED) == "no-leader partition solo-0"
    assert browser.evaluate("document.activeElement.closest('details').open") is True
    assert browser.seen.errors == []


def test_the_page_follows_what_happens(stage: Stage, browser: Browser) -> None:
    open_page(browser, stage.console.url)
    before = stage.reading
    view = NoLeaderView(3, 1, ["controller-1.example:9093 knows no leader of epoch 7"])
    stage.reading = replace(before, view=None, no_leader=view)
    try:
        shown = lambda text: any(text in each for each in statements_on_screen(browser))  # noqa: E731
        await_result(lambda: shown("The quorum has no leader that answers"), "the page says so", 20.0)
        assert not shown("ghost")
        stage.reading = before
        await_result(lambda: shown("Controller 3009 is a ghost"), "the leader is back", 20.0)
    finally:
        stage.reading = before


@pytest.mark.parametrize(
    "path", ["/partition/orders-0", "/broker/3", "/topic/payments", "/search?q=o", "/none/1"]
)
def test_other_pages_have_no_errors(stage: Stage, browser: Browser, path: str) -> None:
    browser.open(stage.console.url + path)
    assert browser.evaluate("document.querySelector('h1').textContent.length > 3") is True
    errors = [each for each in browser.seen.errors if "404" not in each]
    assert errors == []
