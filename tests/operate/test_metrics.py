"""The text of /metrics, the table that it is made of, and the names that dashboards read."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kraftctl.operate.metric_page import page, text_table
from kraftctl.operate.metric_table import METRICS
from kraftctl.operate.window import BucketWindow, Second, Window
from kraftctl_security.exposition import (
    COUNTER,
    GAUGE,
    HISTOGRAM,
    LINES_PER_PART,
    SUMMARY,
    Buckets,
    Metric,
    Samples,
    Summary,
    parts,
)
from tests.operate.prometheus_text import parse

ROOT = Path(__file__).parents[2]
MUST_SERVE = (Path(__file__).parent / "testdata" / "must-serve.txt").read_text().split()
"""The 52 series of controllers that 342 expressions of published dashboards and alerts read."""

NAMES = [name for metric in METRICS for name in metric.names]


def test_all_names_that_dashboards_read_are_in_the_table() -> None:
    assert len(MUST_SERVE) == 52
    assert [name for name in MUST_SERVE if name not in NAMES] == []


def test_names_are_unique_and_no_jvm_is_invented() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert len({metric.key for metric in METRICS}) == len(METRICS)
    assert [name for name in NAMES if name.startswith("jvm_")] == []
    suffixes = ("_bucket", "_sum", "_count")
    taken = [f"{name}{suffix}" for name in NAMES for suffix in suffixes]
    assert set(taken).isdisjoint(NAMES)


def test_the_page_is_that_of_the_table() -> None:
    assert (ROOT / "docs" / "metrics.md").read_text() == page(METRICS), "run make generate"


def test_a_terminal_has_a_line_for_each_name() -> None:
    lines = text_table(METRICS).splitlines()
    assert [line.split()[0] for line in lines[1:]] == NAMES


ODD = 'a "b" \\ c\nd'


def metric(kind: str, labels: tuple[str, ...] = ()) -> Metric:
    return Metric("key", ("name",), kind, "help", labels)


def text_of(of: Metric, samples: Samples) -> str:
    return "".join(parts(samples, [of]))


@pytest.mark.parametrize("value", [0, 1, -1, 2**62, True, 0.5, 1e-9, 1e300, math.nan, math.inf, -math.inf])
def test_numbers(value: float) -> None:
    family = parse(text_of(metric(GAUGE), {"key": [((), value)]}))["name"]
    (found,) = family.samples.values()
    assert found == value or (math.isnan(found) and math.isnan(value))


def test_labels_are_escaped() -> None:
    text = text_of(metric(GAUGE, ("one", "two")), {"key": [((ODD, ""), 1)]})
    assert text.splitlines()[-1] == 'name{one="a \\"b\\" \\\\ c\\nd",two=""} 1'
    parse(text)


def test_histograms_and_summaries() -> None:
    buckets = Buckets((0.1, 1.0), (3, 0, 1), 7.5)
    family = parse(text_of(metric(HISTOGRAM, ("api",)), {"key": [(("Fetch",), buckets)]}))["name"]
    found = {name + dict(labels).get("le", ""): value for (name, labels), value in family.samples.items()}
    assert found == {
        "name_bucket0.1": 3,
        "name_bucket1.0": 3,
        "name_bucket+Inf": 4,
        "name_sum": 7.5,
        "name_count": 4,
    }
    summary = Summary(buckets, 10, 20.0)
    text = text_of(metric(SUMMARY), {"key": [((), summary)]})
    assert 'name{quantile="0.5"} 0.1' in text
    assert 'name{quantile="0.99"} 1.0' in text, "what is above has the last bound"
    assert "name_count 10" in text
    parse(text)
    assert math.isnan(Buckets((1.0,), (0, 0), 0.0).quantile(0.5))


def test_what_has_no_samples_is_left_out() -> None:
    assert text_of(metric(COUNTER), {"key": []}).strip() == ""
    assert text_of(metric(COUNTER), {}).strip() == ""


def test_many_series_come_in_parts() -> None:
    samples: Samples = {"key": [((str(broker),), broker) for broker in range(10_000)]}
    texts = list(parts(samples, [metric(GAUGE, ("broker",))]))
    assert max(text.count("\n") for text in texts) <= LINES_PER_PART + 1
    assert len(parse("".join(texts))["name"].samples) == 10_000


def test_a_window_forgets() -> None:
    window = Window()
    assert math.isnan(window.samples()["raft.commit_latency_avg"])
    nothing = (0, 0.0, 0.0)
    window.add(Second(1.0, 0.25, 100, 0, (2, 30.0, 20.0), nothing, nothing))
    window.add(Second(1.0, 0.25, 100, 50, (2, 10.0, 8.0), (1, 7.0, 7.0), nothing))
    found = window.samples()
    assert found["raft.commit_latency_avg"] == 10.0
    assert found["raft.commit_latency_max"] == 20.0
    assert found["raft.election_latency_max"] == 7.0
    assert found["raft.append_records_rate"] == 100.0
    assert found["raft.fetch_records_rate"] == 25.0
    assert found["raft.poll_idle_ratio_avg"] == 0.75
    for _ in range(30):
        window.add(Second(1.0, 0.0, 0, 0, nothing, nothing, nothing))
    assert window.samples()["raft.append_records_rate"] == 0.0
    assert math.isnan(window.samples()["raft.commit_latency_max"])


def test_quantiles_are_of_the_last_minute() -> None:
    window = BucketWindow((1.0, 10.0))
    window.add((0, 100, 0))
    summary = window.summary((5, 100, 0), 0.0)
    assert (summary.window.quantile(0.99), summary.count) == (1.0, 105)
