"""The report's page without a browser: its text, its escaping, and its maximum size."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from kraftctl_spark.report.contents import Contents, Listed, Size
from kraftctl_spark.report.page import render
from kraftctl_spark.report.period import (
    BUCKETS_MAX,
    Period,
    parse_time,
    plot_time,
    shown_duration,
    shown_time,
)
from kraftctl_spark.report.section import NOTHING
from kraftctl_spark.report.sections import ALL
from tests.spark.report_contents import HOSTILE, START_MS, busy, quiet

DAY_MS = 86_400_000
MADE = "made by a test"


def figures(page: str) -> dict:
    """The figures that the page passes to plotly.js."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def without_scripts(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("span_ms", "bucket_ms"),
    [
        pytest.param(1, 1_000, id="a-moment"),
        pytest.param(90_000, 1_000, id="as-many-buckets-as-fit"),
        pytest.param(90_001, 2_000, id="one-too-many"),
        pytest.param(DAY_MS, 30 * 60_000, id="a-day"),
        pytest.param(30 * DAY_MS, 12 * 3_600_000, id="a-month"),
        pytest.param(20 * 365 * DAY_MS, 84 * DAY_MS, id="twenty-years"),
    ],
)
def test_buckets_are_few_and_their_width_is_a_handy_one(span_ms: int, bucket_ms: int):
    period = Period(START_MS + 123, START_MS + 123 + span_ms)

    assert period.bucket_ms == bucket_ms
    buckets = period.buckets()
    assert len(buckets) <= BUCKETS_MAX + 1
    assert buckets[0] <= period.start_ms
    assert buckets[-1] + bucket_ms >= period.end_ms


@pytest.mark.parametrize(
    ("duration_ms", "shown"),
    [(0, "0 s"), (9_240, "9.24 s"), (61_500, "1 min 2 s"), (3_600_000, "1 h"), (90_061_000, "1 d 1 h")],
)
def test_durations_have_two_units_at_most(duration_ms: int, shown: str):
    assert shown_duration(duration_ms) == shown


def test_times_are_utc():
    assert parse_time("2026-11-21T12:00:00Z") == START_MS
    assert parse_time("2026-11-21T14:00:00.250+02:00") == START_MS + 250
    assert shown_time(START_MS) == "2026-11-21 12:00:00"
    assert plot_time(START_MS + 7) == "2026-11-21 12:00:00.007"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("yesterday", "'yesterday' is not a time"), ("2026-11-21T12:00:00", "has no zone: add Z for UTC")],
)
def test_other_times_are_refused(text: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        parse_time(text)


def test_the_same_contents_make_the_same_page():
    assert render(busy(), MADE) == render(busy(), MADE)
    assert render(busy(), MADE) != render(busy(seed=2), MADE)


def test_every_section_has_titled_plots_with_named_axes():
    page = render(busy(), MADE)

    drawn = figures(page)
    for section in (make(busy()) for make in ALL):
        assert section.plots, section.name
        assert section.summary != NOTHING
        for number, plot in enumerate(section.plots):
            layout = drawn[f"plot-{section.name}-{number}"]["layout"]
            assert f"<figcaption>{plot.title}</figcaption>" in page
            titles = [layout[axis].get("title") for axis in layout if axis.startswith(("xaxis", "yaxis"))]
            named_rows = any("ticktext" in layout[axis] for axis in layout if axis.startswith("yaxis"))
            assert sum(title is not None for title in titles) + named_rows >= 2, plot.title


def test_a_period_in_which_nothing_happened_has_words_instead_of_empty_plots():
    page = render(quiet(), MADE)

    assert figures(page) == {}
    assert page.count(f'<p class="summary">{NOTHING}</p>') == len(ALL)


def test_the_page_says_that_the_log_does_not_name_users():
    assert "not <em>who</em> asked for it" in render(quiet(), MADE)


def test_nothing_in_the_page_is_fetched_from_elsewhere():
    page = render(busy(), MADE)

    assert re.findall(r'(?:src|href)="(?!#|data:)', without_scripts(page)) == []
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy.group(1).startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.group(1).partition("script-src")[2].partition(";")[0]


def test_values_from_the_log_are_text_wherever_they_stand():
    page = render(busy(), MADE)

    assert "document.title='taken'" not in without_scripts(page)
    assert "&lt;script&gt;document.title=&#x27;taken&#x27;&lt;/script&gt;" in without_scripts(page)
    assert page.count("<script") == page.count("</script>") == 3
    texts = json.dumps(figures(page)["plot-config-changes-0"]["data"])
    assert "&lt;script&gt;" in texts
    assert HOSTILE not in texts


def test_a_name_may_not_leave_its_place_in_a_plot_either():
    contents = busy()
    change = replace(contents.config_changes.rows[0], resource="<b>" + "x" * 200, name="a\nb<i>")
    page = render(replace(contents, config_changes=Listed((change,), 1)), MADE)

    plot = figures(page)["plot-config-changes-0"]
    (label,) = plot["layout"]["yaxis"]["ticktext"]
    assert label.startswith("&lt;b&gt;xxx")
    assert label.endswith("x…")
    assert len(label) < 60
    assert "<b>a b&lt;i&gt;</b>" in plot["data"][0]["customdata"][0]


def test_lists_that_were_cut_say_so():
    contents = busy()
    cut = Listed(contents.config_changes.rows, 123_456)
    page = render(replace(contents, config_changes=cut), MADE)

    assert "123,456 changes." in page
    assert "Shown are the latest 40 of 123,456 changes." in page


def test_time_that_is_not_in_the_log_is_a_gap_in_the_lines():
    contents = busy()
    sizes = tuple(
        Size(size.bucket_ms, None, None, None) if 10 <= place < 20 else size
        for place, size in enumerate(contents.growth)
    )
    drawn = figures(render(replace(contents, growth=sizes), MADE))

    lines = drawn["plot-growth-0"]["data"]
    assert [line["y"][9:21].count(None) for line in lines] == [10, 10, 10]


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param(busy(span_ms=365 * DAY_MS, brokers=40, rows=30), id="a-year-of-forty-brokers"),
        pytest.param(busy(span_ms=1_500), id="a-second-and-a-half"),
    ],
)
def test_pages_stay_small_whatever_the_period(contents: Contents):
    from plotly.offline import get_plotlyjs

    page = render(contents, MADE)

    assert len(page.encode()) < len(get_plotlyjs().encode()) + 1_500_000
