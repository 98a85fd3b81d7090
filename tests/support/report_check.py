"""Checks of a report that a browser has opened."""

from __future__ import annotations

from pathlib import Path

from tests.support.processes.browser import Browser

PNG = b"\x89PNG\r\n\x1a\n"

DRAWN = """new Promise((resolve, reject) => {
  const began = performance.now();
  const look = () => {
    if (document.documentElement.dataset.plots === "drawn") resolve(true);
    else if (performance.now() - began > 30000) reject(new Error("the plots were not drawn"));
    else requestAnimationFrame(look);
  };
  look();
})"""

MARKS = """Object.fromEntries([...document.querySelectorAll("section")].map(section => [section.id,
  [...section.querySelectorAll(".plot")].map(plot =>
    plot.querySelectorAll(".bars .point path, .scatterlayer .point, .scatterlayer .js-line, "
      + ".heatmaplayer image").length)]))"""

FIRST_MARK = """(() => {
  const mark = document.querySelector("#SECTION .bars .point path, #SECTION .scatterlayer .point");
  mark.scrollIntoView({block: "center"});
  const box = mark.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""

HOVER_TEXT = """new Promise((resolve, reject) => {
  const began = performance.now();
  const look = () => {
    const found = document.querySelector("#SECTION .hoverlayer .hovertext");
    if (found) resolve(found.textContent);
    else if (performance.now() - began > 10000) reject(new Error("no text appeared"));
    else requestAnimationFrame(look);
  };
  look();
})"""


WITH_TIME = """[...document.querySelectorAll(".plot")].filter(plot => plot.layout.xaxis.type === "date")"""

ZOOM = """Plotly.relayout("PLOT", {"xaxis.range": ["FROM", "TO"]}).then(() => new Promise(resolve => {
  const began = performance.now();
  const look = () => {
    const ranges = WITH_TIME.map(plot => plot.layout.xaxis.range.map(String));
    const same = new Set(ranges.map(String)).size === 1;
    if (same || performance.now() - began > 10000) resolve(ranges);
    else requestAnimationFrame(look);
  };
  look();
}))""".replace("WITH_TIME", WITH_TIME)

SHOW_ALL = """new Promise(resolve => {
  document.querySelector("#zoom button").click();
  const began = performance.now();
  const look = () => {
    const ranges = WITH_TIME.map(plot => plot.layout.xaxis.range.map(String));
    const same = new Set(ranges.map(String)).size === 1;
    if (same || performance.now() - began > 10000) resolve(ranges);
    else requestAnimationFrame(look);
  };
  look();
})""".replace("WITH_TIME", WITH_TIME)


def open_report(browser: Browser, page: Path) -> dict[str, list[int]]:
    """Opens it, awaits the plots; returns how many marks each plot of each section has.

    Fails for an error in the console, and for a request beyond the file itself. (Data that is in the page may
    have an address too: `data:`.)
    """
    browser.open(page.as_uri())
    assert browser.evaluate(DRAWN) is True
    marks = browser.evaluate(MARKS)
    assert isinstance(marks, dict)
    assert browser.seen.errors == []
    assert [address for address in browser.seen.requests if not address.startswith("data:")] == [
        page.as_uri()
    ]
    return marks


def hover_text(browser: Browser, section: str) -> str:
    """The tooltip of the first mark of a section."""
    place = browser.evaluate(FIRST_MARK.replace("SECTION", section))
    assert isinstance(place, list)
    browser.move_mouse(place[0] - 1, place[1])
    browser.move_mouse(place[0], place[1])
    return str(browser.evaluate(HOVER_TEXT.replace("SECTION", section)))


def zoom(browser: Browser, plot: str, start: str, end: str) -> list[list[str]]:
    """Zooms one plot; returns the ranges of all plots over time, once they are the same."""
    script = ZOOM.replace("PLOT", plot).replace("FROM", start).replace("TO", end)
    ranges = browser.evaluate(script)
    assert isinstance(ranges, list)
    return ranges


def show_all(browser: Browser) -> list[list[str]]:
    """Presses the button that ends a zoom; returns the same."""
    ranges = browser.evaluate(SHOW_ALL)
    assert isinstance(ranges, list)
    return ranges


def picture(browser: Browser, path: Path) -> int:
    """Takes one of the whole page; returns its bytes."""
    browser.screenshot(path)
    content = path.read_bytes()
    assert content.startswith(PNG)
    return len(content)
