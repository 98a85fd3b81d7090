"""The scale of the heat map fits its values, and names in plots say nothing twice."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.uuids import ONE_UUID
from kraftctl_spark.report.contents import OTHERS, Churn, Contents, Listed
from kraftctl_spark.report.current_history import current_history
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.report.sections.churn import churn
from kraftctl_spark.report.sections.config_changes import config_changes
from tests.spark.made_history import Steps, made_tables
from tests.spark.report_contents import START_MS, busy, quiet

COUNTS = {"a-0": 1, "a-1": 10, "a-2": 60, OTHERS: 9_000}


def heat_map() -> dict:
    nothing = quiet()
    rows = tuple(Churn(name, START_MS, 0, count) for name, count in COUNTS.items())
    contents = Contents(nothing.header, nothing.present, nothing.period, churn=rows, churned=(70, "topics"))
    found: dict = churn(contents).plots[0].figure.to_plotly_json()["data"][0]
    return found


def test_no_count_is_beyond_the_scale_and_small_ones_differ() -> None:
    """A sum of the others must not make everything else pale, nor be as dark as what is less."""
    drawn = heat_map()
    places = sorted(max(z for z in row if z is not None) / drawn["zmax"] for row in drawn["z"])
    assert places[0] == 0
    assert places[-1] == 1
    assert min(after - before for before, after in pairwise(places)) > 0.15


def test_the_scale_has_counts_beside_it() -> None:
    bar = heat_map()["colorbar"]
    assert bar["ticktext"] == ["1", "3", "10", "30", "100", "300", "1,000", "3,000", "9,000"]
    assert [round(10**value) for value in bar["tickvals"]] == [1, 3, 10, 30, 100, 300, 1_000, 3_000, 9_000]


def test_a_plot_that_is_cut_is_below_one_of_everything(tmp_path: Path) -> None:
    contents = busy()
    assert len(config_changes(contents).plots) == 1
    cut = replace(contents, config_changes=Listed(contents.config_changes.rows, 61_462))
    whole, latest = config_changes(cut).plots
    assert sum(sum(bars.y) for bars in whole.figure.data) == 41
    assert whole.left_out == ""
    assert latest.left_out.startswith(
        "Shown are the latest 40 of 61,462 changes in the plot. All: config_audit"
    )


def test_a_topic_is_named_by_its_name_alone(tmp_path: Path) -> None:
    steps: Steps = [
        (1, TopicRecord("topic-1", ONE_UUID)),
        (2, ConfigRecord(2, "topic-1", "retention.ms", "7")),
        (3, ConfigRecord(4, "", "min.insync.replicas", "2")),
        (4, ConfigRecord(4, "7", "log.retention.ms", "2")),
    ]
    tables = made_tables(tmp_path / "tables", steps)
    contents = fetch(tables, current_history(tables, tables / "history", tmp_path), None, None)
    resources = [row.resource for row in contents.config_changes.rows]
    assert resources == ["broker 7", "broker (default)", "topic-1"]
    assert sum(row.changes for row in contents.config_over_time) == 3
    texts = [text for mark in contents.timeline for text in mark.texts]
    assert "config set topic-1 retention.ms: none → 7" in texts
