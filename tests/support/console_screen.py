"""What a browser shows of the console without scrolling."""

from __future__ import annotations

import json
from pathlib import Path

from kraftctl.dev.polling import await_result
from tests.support.processes.browser import Browser

WIDTHS = (1600, 400)
HEIGHT = 800

IS_LIVE = "document.getElementById('live').textContent === 'live'"

VISIBLE = """
JSON.stringify([...document.querySelectorAll('.trouble .what')]
  .filter((each) => each.getBoundingClientRect().bottom <= innerHeight)
  .map((each) => each.textContent.trim().replace(/\\s+/g, ' ')))
"""
"""The statements of troubles that are on the screen as a whole."""

SECONDS_MAX = 30.0


def open_page(browser: Browser, url: str) -> None:
    """Opens the page, and returns when it is live."""
    browser.open(url)
    await_result(lambda: browser.evaluate(IS_LIVE) is True, "the page is live", SECONDS_MAX)


def statements_on_screen(browser: Browser) -> list[str]:
    found: list[str] = json.loads(str(browser.evaluate(VISIBLE)))
    return found


def check_screens(url: str, directory: Path, wanted: list[str], pictures: Path | None = None) -> None:
    """Checks that each width shows all of `wanted` without scrolling, in both directions."""
    for width in WIDTHS:
        profile = directory / f"profile-{width}"
        profile.mkdir()
        with Browser(profile, width, HEIGHT) as browser:
            open_page(browser, url)
            shown = statements_on_screen(browser)
            missing = [each for each in wanted if not any(each in statement for statement in shown)]
            assert missing == [], (width, shown)
            assert browser.evaluate("document.documentElement.scrollWidth") == width
            assert browser.seen.errors == []
            assert all(each.startswith((url, "data:")) for each in browser.seen.requests)
            if pictures is not None:
                for scheme in ("light", "dark"):
                    browser.prefer(scheme)
                    browser.screenshot(pictures / f"console-{width}-{scheme}.png", whole_page=False)
