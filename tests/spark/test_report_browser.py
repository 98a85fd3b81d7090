"""The report as an operator sees it: opened from a file, by a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_spark.report.page import render
from kraftctl_spark.report.sections import ALL
from tests.spark.report_contents import HOSTILE, busy, quiet
from tests.support.processes.browser import Browser
from tests.support.report_check import hover_text, open_report, picture

pytestmark = pytest.mark.browser

BUTTONS = {"Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Autoscale", "Reset axes"}
"""All buttons work locally. Plotly would add one that uploads the chart."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def busy_page(tmp_path: Path) -> Path:
    page = tmp_path / "busy.html"
    page.write_text(render(busy(), "made by a test"))
    return page


def test_every_plot_of_every_section_has_marks_and_nothing_is_fetched(browser: Browser, busy_page: Path):
    marks = open_report(browser, busy_page)

    assert list(marks) == [make(busy()).name for make in ALL]
    assert all(plots and min(plots) > 0 for plots in marks.values()), marks


def test_no_button_sends_a_plot_anywhere(browser: Browser, busy_page: Path):
    open_report(browser, busy_page)

    titles = browser.evaluate('[...document.querySelectorAll(".modebar-btn")].map(one => one.dataset.title)')
    assert isinstance(titles, list)
    assert set(titles) == BUTTONS


@pytest.mark.parametrize(
    ("section", "text"),
    [
        pytest.param("fencing", "broker 1: unfenced", id="a-state-of-a-broker"),
        pytest.param("elections", "clean:", id="elections-in-a-bucket"),
        pytest.param("config-changes", "→", id="values-before-and-after"),
    ],
)
def test_marks_show_details_on_hover(browser: Browser, busy_page: Path, section: str, text: str):
    open_report(browser, busy_page)

    assert text in hover_text(browser, section)


def test_a_hostile_value_is_shown_and_does_nothing(browser: Browser, busy_page: Path):
    open_report(browser, busy_page)

    assert browser.evaluate("document.title") == "Kafka metadata of cluster 4L6g3nShT-eMCtK--X86sw"
    cells = browser.evaluate('[...document.querySelectorAll("#config-changes td")].map(td => td.textContent)')
    assert isinstance(cells, list)
    assert HOSTILE in cells
    shown = hover_text(browser, "config-changes")
    assert "<script>document.title='taken'</script>" in shown


def test_a_script_that_got_into_the_page_would_not_run(browser: Browser, tmp_path: Path):
    """As if a value were not escaped: the page's policy is the second protection."""
    page = tmp_path / "injected.html"
    injected = "<script>document.title='taken'</script><img src=\"http://127.0.0.1:9/x\">"
    page.write_text(render(quiet(), "made by a test").replace("<main>", f"<main>{injected}"))
    browser.open(page.as_uri())

    assert browser.evaluate("document.title") != "taken"
    assert len(browser.seen.errors) == 2
    assert all("Content Security Policy" in error for error in browser.seen.errors), browser.seen.errors


def test_a_quiet_page_has_no_plots_and_no_errors(browser: Browser, tmp_path: Path):
    page = tmp_path / "quiet.html"
    page.write_text(render(quiet(), "made by a test"))

    assert set(map(tuple, open_report(browser, page).values())) == {()}


def test_the_page_fits_a_laptop(browser: Browser, busy_page: Path, tmp_path: Path):
    open_report(browser, busy_page)

    width = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.evaluate(width) == 0
    assert picture(browser, tmp_path / "busy.png") > 100_000
