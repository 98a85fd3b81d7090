"""The report's page without a browser: its text, its escaping, and its maximum size."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from kraftctl_spark.report.contents import (
    OTHERS,
    Acl,
    Availability,
    BrokerElections,
    BrokerState,
    Contents,
    ElectionCount,
    FencedBroker,
    Gap,
    Happened,
    KindCount,
    Listed,
    RecordCount,
    Size,
    Standing,
)
from kraftctl_spark.report.page import render
from kraftctl_spark.report.period import (
    BUCKETS_MAX,
    Period,
    parse_time,
    plot_time,
    shown_duration,
    shown_time,
)
from kraftctl_spark.report.section import NOTHING, count_axis
from kraftctl_spark.report.sections import ALL
from kraftctl_spark.report.sections.broker_states import NOT_KNOWN, NOT_SHOWN, blanks
from kraftctl_spark.report.sections.in_effect import NOT_KNOWN as STATE_NOT_KNOWN
from tests.spark.report_contents import HOSTILE, START_MS, busy, quiet

DAY_MS = 86_400_000
MADE = "made by a test"


def figures(page: str) -> dict:
    """The figures that the page passes to plotly.js."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def cells(page: str) -> str:
    """The page with its cells as plain as text is."""
    return re.sub(r"<td [^>]*>", "<td>", page)


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
        assert section.plots or any(table.rows for table in section.tables), section.name
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
    summaries = re.findall('<p class="summary">(.*?)</p>', page)
    assert len(summaries) == len(ALL)
    assert summaries.count(NOTHING) == len(ALL) - 5
    now, *others = summaries
    assert now.startswith("Nothing is wrong. ")
    assert [one for one in others if one != NOTHING and STATE_NOT_KNOWN not in one] == []


def test_the_page_says_that_the_log_does_not_name_users():
    assert "not who asked for it" in render(quiet(), MADE)


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


def test_letters_that_are_not_printable_are_shown_nowhere():
    """One that turns the direction of writing makes a name look like another."""
    name = "User:\u202eecila\x07\u2066"
    contents = busy()
    acls = replace(contents.acls, at_end=Listed((Acl(name, "ALLOW", "READ", "TOPIC t", "*"),), 1))
    change = replace(contents.config_changes.rows[0], new_value=name)
    header = replace(contents.header, cluster_id=name)
    changed = replace(contents, acls=acls, config_changes=Listed((change,), 1), header=header)
    page = render(changed, MADE)

    assert "<td>User: ecila  </td>" in cells(page)
    assert [letter for letter in without_scripts(page) if not letter.isprintable() and letter != "\n"] == []
    assert "\\u202e" not in json.dumps(figures(page))


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

    assert "123,456 changes: 10 gap, 10 removed, 10 set, 10 topic deleted." in page
    assert "Shown are the latest 40 of 123,456 changes in the plot." in page
    assert "Shown are the busiest 8 of 78 partitions; the row of others is the sum of the other 70." in page


def test_short_names_for_a_narrow_screen_keep_beginning_and_end():
    """Of topics that begin alike, nothing else would be left."""
    plot = figures(render(busy(), MADE))["plot-availability-1"]
    assert plot["layout"]["meta"]["short"] == plot["layout"]["yaxis"]["ticktext"]
    contents = replace(
        busy(), availability=Listed((Availability("payments.europe.refunds-17", 1_000, 2_000),), 1)
    )
    layout = figures(render(contents, MADE))["plot-availability-1"]["layout"]
    assert layout["meta"]["short"] == ["payment…funds-17"]


def test_rows_of_others_say_what_they_sum():
    contents = busy()
    kinds = tuple(RecordCount(START_MS, f"T{number}Record", 1) for number in range(12))
    elected = (*contents.broker_elections, BrokerElections(OTHERS, "clean", 3))
    brokers = Listed(contents.fenced_brokers.rows, 77)
    page = render(
        replace(contents, record_types=kinds, broker_elections=elected, fenced_brokers=brokers), MADE
    )

    assert "In the plot, others is the sum of the 5 rarest types; the table has all." in page
    assert "The 3 brokers that were elected most often have a row; others is the sum of all others." in page
    assert "Shown are the first 3 of 77 brokers, fenced longest." in page
    assert "; others is the sum" not in render(contents, MADE)


def test_time_that_is_not_in_the_log_is_a_gap_in_the_lines():
    contents = busy()
    sizes = tuple(
        Size(size.bucket_ms, None, None, None) if 10 <= place < 20 else size
        for place, size in enumerate(contents.growth)
    )
    drawn = figures(render(replace(contents, growth=sizes), MADE))

    lines = drawn["plot-growth-0"]["data"]
    assert all("fill" not in line for line in lines), "plotly.js fills across gaps"
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


@pytest.mark.parametrize(("most", "step"), [(0, 1), (1, 1), (4, 1), (5, 2), (20, 5), (21, None)])
def test_ticks_of_small_counts_are_whole_numbers(most: int, step: int | None):
    """plotly.js rounds the labels, not the ticks: 0, 0.2, 0.4 were shown as 0, 0, 0."""
    assert count_axis("elections", most).get("dtick") == step


def test_every_axis_of_counts_knows_its_largest_count():
    contents = busy()
    few = replace(contents, elections=(ElectionCount(START_MS, "clean", "failover", 2),))
    layout = figures(render(few, MADE))["plot-elections-0"]["layout"]
    assert layout["yaxis"]["dtick"] == 1
    layout = figures(render(contents, MADE))["plot-growth-0"]["layout"]
    assert layout["yaxis3"]["dtick"] == 1
    assert "dtick" not in layout["yaxis2"]


def test_a_fenced_broker_may_be_the_last_member_of_an_isr():
    """KIP-841."""
    assert "is in no ISR" not in render(busy(), MADE)
    assert "in an ISR only as its last member" in render(busy(), MADE)


def state(kind: str, start_ms: int, end_ms: int, started_by: str, ended_by: str) -> BrokerState:
    return BrokerState(1, kind, START_MS + start_ms, START_MS + end_ms, started_by, ended_by)


@pytest.mark.parametrize(
    ("states", "found"),
    [
        pytest.param(
            (state("fenced", 0, 10, "registered", "changed"), state("unfenced", 90, 100, "changed", "end")),
            [(NOT_SHOWN, 10, 90)],
            id="between-listed-ones",
        ),
        pytest.param(
            (state("unfenced", 40, 60, "changed", "changed"),),
            [(NOT_SHOWN, 0, 40), (NOT_SHOWN, 60, 100)],
            id="before-and-after",
        ),
        pytest.param(
            (state("unfenced", 0, 40, "changed", "gap"), state("unfenced", 70, 100, "snapshot", "end")),
            [(NOT_KNOWN, 40, 70)],
            id="gap-of-the-log",
        ),
        pytest.param(
            (
                state("unfenced", 0, 20, "registered", "unregistered"),
                state("unfenced", 70, 100, "snapshot", "end"),
            ),
            [(NOT_KNOWN, 40, 70)],
            id="not-registered-before-a-gap",
        ),
        pytest.param(
            (
                state("unfenced", 0, 40, "changed", "gap"),
                state("unfenced", 80, 100, "registered", "end"),
            ),
            [(NOT_KNOWN, 40, 70)],
            id="not-registered-after-a-gap",
        ),
        pytest.param(
            (state("unfenced", 0, 20, "changed", "changed"), state("fenced", 70, 100, "snapshot", "end")),
            [(NOT_SHOWN, 20, 40), (NOT_KNOWN, 40, 70)],
            id="between-listed-ones-and-a-gap",
        ),
        pytest.param(
            (
                state("fenced", 10, 40, "registered", "unregistered"),
                state("fenced", 70, 100, "registered", "end"),
            ),
            [],
            id="not-registered",
        ),
    ],
)
def test_only_a_broker_that_is_not_registered_has_no_color(
    states: tuple[BrokerState, ...], found: list[tuple[str, int, int]]
):
    """States that were cut from the list, and gaps of the log, looked like that too."""
    gaps = (Gap(1, 2, START_MS + 40, START_MS + 70),)
    drawn = blanks(states, Period(START_MS, START_MS + 100), gaps)
    assert [(one.state, one.start_ms - START_MS, one.end_ms - START_MS) for one in drawn] == found
    page = render(replace(busy(), fencing=Listed(states, len(states)), gaps=gaps), MADE)
    names = {trace["name"] for trace in figures(page)["plot-timeline-0"]["data"] if trace["y"]}
    assert {kind for kind, _, _ in found} <= names


def test_no_sum_over_partitions_is_shown_as_a_time():
    contents = busy()
    page = render(replace(contents, availability=Listed(contents.availability.rows, 4_321)), MADE)

    assert "summed over partitions" not in page
    assert "4,321 partitions. First on the list is orders-7: leaderless for 16 s" in page
    assert "Shown are the first 8 of 4,321 partitions; each has its own times." in page
    drawn = figures(page)
    assert OTHERS not in drawn["plot-availability-1"]["layout"]["yaxis"]["ticktext"]
    assert all("in all" not in trace["hovertemplate"] for trace in drawn["plot-availability-0"]["data"])


def test_sums_of_brokers_are_of_all_brokers_not_of_those_that_are_listed():
    contents = replace(
        busy(),
        fenced_brokers=Listed((FencedBroker(7, 2, 61_000, 0, 1),), 90),
        fenced_times=1_234,
        fenced_in_all=88,
        shutdowns=91,
    )
    page = render(contents, MADE)

    assert "<li><b>1,234</b> times fenced where known</li>" in page
    assert "88 brokers were fenced, 1,234 times in all" in page
    assert "91 controlled shutdowns" in page
    assert "Shown are the first 1 of 90 brokers." in page


def test_the_header_says_what_is_not_known():
    contents = busy()
    gaps = tuple(Gap(100 * n, 100 * n + 9, START_MS + n, START_MS + n + 1) for n in range(1, 8))
    header = replace(contents.header, start_offset=40, brokers=None, topics=None, partitions=None)
    page = render(replace(contents, gaps=gaps, header=header), MADE)

    assert "offsets 100 to 109 (2026-11-21 12:00:00 to 2026-11-21 12:00:00 UTC);" in page
    assert "What changed there is not known. Shown are the first 5 of 7 gaps. All: log_stretches" in page
    assert "a snapshot of everything before offset 40, then offsets 40 to 12,345" in page
    assert page.count("<li><b>not known</b>") == 3
    assert "none in this period" in render(replace(contents, gaps=()), MADE)
    assert "1 records of unknown types, 0 undecodable, 3 of aborted transactions; 2 have values" in page


def test_every_plot_over_time_has_the_same_axis_and_the_gaps():
    contents = busy()
    drawn = figures(render(contents, MADE)).values()

    timed = [figure["layout"] for figure in drawn if figure["layout"]["xaxis"].get("type") == "date"]
    assert len(timed) == 8
    assert len({str(layout["xaxis"]["range"]) for layout in timed}) == 1
    for layout in timed:
        assert {shape["x0"] for shape in layout["shapes"]} == {plot_time(contents.gaps[0].start_ms)}
        assert layout["yaxis"]["fixedrange"]
    assert len(next(layout for layout in timed if "xaxis3" in layout)["shapes"]) == 3


def test_the_timeline_has_a_row_for_each_thing_and_says_what_it_sums():
    contents = busy()
    page = render(contents, MADE)
    plot = figures(page)["plot-timeline-0"]

    rows = plot["layout"]["yaxis"]["ticktext"]
    assert rows[:3] == ["unclean elections", "leader lost", "elections"]
    assert rows[-4:] == ["quorum leader", "broker 1", "broker 2", "broker 3"]
    kinds = {trace["name"]: trace["type"] for trace in plot["data"]}
    assert (kinds["ISR shrinks"], kinds["elections"]) == ("bar", "scatter")
    assert "Each part of the rows ISR shrinks is the sum of 30 s" in page
    quiet_rows = tuple(mark for mark in contents.timeline if mark.row != "quotas")
    less = render(replace(contents, timeline=quiet_rows), MADE)
    assert "None: quotas." in less
    assert "quotas" not in figures(less)["plot-timeline-0"]["layout"]["yaxis"]["ticktext"]


def test_a_mark_says_how_much_it_does_not_list():
    contents = busy()
    texts = [
        text
        for trace in figures(render(contents, MADE))["plot-timeline-0"]["data"]
        for text in trace["customdata"]
    ]
    summed = next(mark for mark in contents.timeline if mark.events > 100)
    assert any(f"<br>and {summed.events - 1:,} more" in text for text in texts)


def test_what_is_in_effect_is_listed_with_what_changed():
    contents = busy()
    page = cells(render(contents, MADE))

    assert "<td>User:alice</td><td>ALLOW</td><td>READ</td>" in page
    assert "<td>user alice</td><td>producer_byte_rate</td><td>1,048,576</td>" in page
    assert "<td>alice</td><td>SCRAM-SHA-256</td><td>4,096</td>" in page
    assert "<td>metadata.version</td><td>25</td><td>before the exported log</td>" in page
    assert "1 ACL at the end. Changes in this period: 9 ACL added." in page
    many = Listed((Happened(START_MS, 1, "ACL added", "it", None, "x", None),), 700)
    cut = Standing(Listed(contents.acls.at_end.rows, 900), many, (KindCount("ACL added", 700),))
    page = render(replace(contents, acls=cut), MADE)
    assert "Shown are the first 1 of 900 in effect at the end." in page
    assert "Shown are the latest 1 of 700 changes." in page
    page = render(replace(contents, acls=Standing(None, many)), MADE)
    assert f"{STATE_NOT_KNOWN}. Changes in this period" in page


def test_colors_are_those_of_the_style_sheet_in_light_and_dark():
    page = render(busy(), MADE)
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", json.dumps(figures(page))))
    light, _, dark = page.partition("</style>")[0].partition("prefers-color-scheme: dark")

    assert {"--surface", "--text", "--grid", "--blue", "--gap"} <= used
    for name in used:
        assert f"{name}:" in light, name
        assert f"{name}:" in dark, name
    assert not re.search(r'"#[0-9a-fA-F]{3,6}"|"white"|"black"', json.dumps(figures(page)))
