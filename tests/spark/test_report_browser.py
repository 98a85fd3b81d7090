"""The report as an operator sees it: opened from a file, by a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_spark.report.page import render
from kraftctl_spark.report.sections import ALL
from tests.spark.report_contents import HOSTILE, busy, quiet
from tests.support.processes.browser import Browser
from tests.support.report_check import WITH_TIME, hover_text, open_report, picture, show_all, zoom

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

    sections = [make(busy()) for make in ALL]
    assert [len(plots) for plots in marks.values()] == [len(section.plots) for section in sections]
    assert list(marks) == [section.name for section in sections]
    assert all(count > 0 for plots in marks.values() for count in plots), marks


def test_no_button_sends_a_plot_anywhere(browser: Browser, busy_page: Path):
    open_report(browser, busy_page)

    titles = browser.evaluate('[...document.querySelectorAll(".modebar-btn")].map(one => one.dataset.title)')
    assert isinstance(titles, list)
    assert set(titles) == BUTTONS


@pytest.mark.parametrize(
    ("section", "text"),
    [
        pytest.param("timeline", "ISR shrinks", id="events-of-the-timeline"),
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


START, END = "2026-11-21 12:30:00", "2026-11-21 12:45:00"
SHOWN = '(one => one.hidden ? "" : one.textContent)(document.getElementById("zoom"))'
WIDER_BY = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FOLDED = '[...document.querySelectorAll("details")].forEach(one => { one.open = true; })'
CUT_OFF = """[...document.querySelectorAll("main *")].filter(one => !one.closest(".plot")
  && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible"
  && one.clientWidth > 0).map(one => one.className + " " + one.textContent.slice(0, 60))"""
BROKEN_UP = """[...document.querySelectorAll("td, dd, p, .points li")].filter(one => {
  const text = document.createRange();
  text.selectNodeContents(one);
  const lines = new Set([...text.getClientRects()].map(line => Math.round(line.bottom))).size;
  return lines > 2 && one.textContent.length / lines < 8;
}).map(one => one.textContent)"""
FIRST = """[...document.querySelectorAll("#now .summary, #now .points li")].filter(
  one => one.getBoundingClientRect().bottom <= 800).map(one => one.textContent)"""


@pytest.mark.parametrize("plot", ["plot-timeline-0", pytest.param("plot-growth-0", marks=pytest.mark.long)])
def test_a_zoom_of_one_plot_is_that_of_all(browser: Browser, busy_page: Path, plot: str):
    open_report(browser, busy_page)
    assert browser.evaluate(SHOWN) == ""

    ranges = zoom(browser, plot, START, END)
    assert len(ranges) == 8
    assert all([one[:19] for one in each] == [START, END] for each in ranges), ranges
    assert f"Shown: {START} to {END} UTC" in str(browser.evaluate(SHOWN))

    ranges = show_all(browser)
    whole = ["2026-11-21 12:00:00", "2026-11-21 14:00:00"]
    assert all([one[:19] for one in each] == whole for each in ranges), ranges
    assert browser.evaluate(SHOWN) == ""


AREAS = f"""{WITH_TIME}.map(plot => {{
  return Math.round(plot._fullLayout._size.l) + ":" + Math.round(plot._fullLayout._size.r);
}})"""


def test_the_same_time_is_at_the_same_place_in_all_plots(browser: Browser, busy_page: Path):
    open_report(browser, busy_page)

    areas = browser.evaluate(AREAS)
    assert isinstance(areas, list)
    assert len(areas) == 8
    assert len(set(areas)) == 1, areas


PAPER = 'document.querySelector("#plot-elections-0 .main-svg").style.background'


def test_it_follows_the_colors_of_the_system_and_keeps_the_zoom(browser: Browser, busy_page: Path):
    browser.prefer("light")
    open_report(browser, busy_page)
    light = browser.evaluate(PAPER)
    zoom(browser, "plot-timeline-0", START, END)
    try:
        browser.prefer("dark")
        dark = browser.evaluate(f"""new Promise(resolve => {{
          const began = performance.now();
          const look = () => {{
            const found = {PAPER};
            if (found !== "{light}" || performance.now() - began > 10000) resolve(found);
            else requestAnimationFrame(look);
          }};
          look();
        }})""")
    finally:
        browser.prefer("light")
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(27, 33, 40)")
    assert START in str(browser.evaluate('document.getElementById("plot-elections-0").layout.xaxis.range'))
    assert browser.seen.errors == []


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1600, "light"),
        (400, "dark"),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in ((1600, "dark"), (1366, "light"), (400, "light"))
        ),
    ],
)
def test_the_page_fits_desktop_laptop_and_phone(busy_page: Path, tmp_path: Path, width: int, scheme: str):
    with Browser(tmp_path / "profile", width=width) as browser:
        browser.prefer(scheme)
        open_report(browser, busy_page)
        assert picture(browser, tmp_path / "busy.png") > 100_000
        browser.evaluate(FOLDED)
        assert browser.evaluate(WIDER_BY) == 0
        assert browser.evaluate(CUT_OFF) == []
        assert browser.evaluate(BROKEN_UP) == []


@pytest.mark.parametrize("width", [1600, 400])
def test_what_is_wrong_is_named_before_anyone_scrolls(busy_page: Path, tmp_path: Path, width: int):
    with Browser(tmp_path / "profile", width=width) as browser:
        open_report(browser, busy_page)
        found = browser.evaluate(FIRST)
        assert isinstance(found, list)
        text = " ".join(found)
        for name in ("have no leader", "minimum ISR", "broker is fenced", "under-replicated", "orders-0"):
            assert name in text


def test_names_beside_a_plot_are_short_on_a_phone(busy_page: Path, tmp_path: Path):
    """A third of the width is enough for them."""
    with Browser(tmp_path / "profile", width=400) as browser:
        open_report(browser, busy_page)
        names = '[...document.querySelectorAll(".plot .ytick text")]'
        widths = browser.evaluate(f"{names}.map(one => one.getBoundingClientRect().width)")
        assert isinstance(widths, list)
        assert max(widths) < 400 / 3
