"""The board and the alerts in `deploy/` read series that a real quorum of three has."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from tests.operate.operated_quorum import OperatedQuorum, get
from tests.operate.prometheus_text import Labels, parse
from tests.operate.queries import (
    ALERTS,
    BOARD,
    OF_PROMETHEUS,
    RULE_TESTS,
    RULES,
    SERIES_OF_PROMETHEUS,
    Query,
    queries,
    read,
)
from tests.support.certificates import Authority, properties_of

Series = dict[str, list[dict[str, str]]]


def series_of(port: int) -> Series | None:
    """The labels of all samples by their names."""
    status, text = get(port, "/metrics")
    if status != 200:
        return None
    found: Series = {}
    for family in parse(text).values():
        for name, labels in family.samples:
            found.setdefault(name, []).append(dict(labels))
    return found


def problems(query: Query, series: Series) -> list[str]:
    """What the query asks for in vain."""
    found = []
    for selector in query.selectors:
        if selector.name in SERIES_OF_PROMETHEUS:
            continue
        samples = series.get(selector.name, [])
        for label, how, value in selector.matchers:
            if label not in OF_PROMETHEUS:
                samples = [
                    each for each in samples if label in each and (each[label] == value) == (how == "=")
                ]
        if not samples:
            found.append(f"no series for {selector}")
    known = set(OF_PROMETHEUS)
    for selector in query.selectors:
        known.update(*series.get(selector.name, []))
    return found + [f"no label {label}" for label in sorted(query.labels - known)]


@pytest.mark.long
def test_each_query_has_its_series_in_a_real_quorum(tmp_path: Path) -> None:
    authority = Authority()
    stores = tmp_path / "stores"
    identity = authority.issue("CN=controller")

    def use_ssl(properties: dict[str, str]) -> None:
        properties.update(properties_of(identity, authority, stores))
        properties["listener.security.protocol.map"] = "CONTROLLER:SSL"

    with OperatedQuorum(tmp_path, change=use_ssl) as quorum:
        quorum.await_ready()
        leader = quorum.leader()

        def all_voters() -> Series | None:
            found = series_of(leader.operate_port)
            return found if found and len(found.get("kraftctl_replica_lag_records", [])) == 2 else None

        series = await_result(all_voters, "both followers fetch", 30.0)
        found = {name: problems(read(text), series) for name, text in queries().items()}
        assert {name: each for name, each in found.items() if each} == {}
        labels = {label for query in queries().values() for label in read(query).labels}
        assert labels <= {label for each in series.values() for sample in each for label in sample} | {
            *OF_PROMETHEUS
        }


def test_a_query_is_read() -> None:
    query = read('sum by (le, job) (rate(kraftctl_a_bucket{what="a } b", job!="c"}[5m])) > 0 and time() < 2')
    (selector,) = query.selectors
    assert selector.name == "kraftctl_a_bucket"
    assert selector.matchers == (("what", "=", "a } b"), ("job", "!=", "c"))
    assert query.labels == {"le", "job"}
    assert problems(query, {"kraftctl_a_bucket": [{"what": "a } b", "le": "1"}]}) == []
    assert len(problems(query, {"kraftctl_a_bucket": [{"what": "other"}]})) == 2
    with pytest.raises(ValueError, match="kafak_typo"):
        read("sum(kafak_typo)")


def test_trouble_is_first_on_the_board() -> None:
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(set(ids)) == len(ids)
    assert BOARD["panels"][0]["title"] == "Trouble"
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
        assert panel["type"] == "row" or panel["description"].endswith("."), panel["title"]


def test_each_alert_says_what_to_do() -> None:
    for name, rule in ALERTS.items():
        assert name.startswith("Kraftctl")
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert rule["annotations"].keys() == {"summary", "description"}
        query = read(rule["expr"])
        named = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        lost = named - query.labels if "sum by" in rule["expr"] or "max by" in rule["expr"] else set()
        assert lost == set(), f"{name} loses a label that its text needs"


def sample_of(text: str) -> tuple[str, Labels]:
    """The name and labels of an input series."""
    (selector,) = read(text).selectors
    return selector.name, tuple((label, value) for label, _, value in selector.matchers)


def test_the_tests_of_the_rules_are_of_these_rules() -> None:
    """Where there is no promtool, this is all that is checked of them."""
    assert RULE_TESTS["rule_files"] == [RULES.name]
    for case in RULE_TESTS["tests"]:
        named = {sample_of(each["series"])[0] for each in case["input_series"]}
        for expected in case["alert_rule_test"]:
            rule = ALERTS[expected["alertname"]]
            assert not named or named & {each.name for each in read(rule["expr"]).selectors}, expected[
                "alertname"
            ]
            for alert in expected["exp_alerts"]:
                assert alert["exp_labels"]["severity"] == rule["labels"]["severity"]
                assert alert["exp_annotations"]["description"] == rule["annotations"]["description"]


def test_silence_is_an_alert() -> None:
    """Other rules have no result when their series are gone."""
    assert ALERTS["KraftctlNotScraped"]["expr"].startswith("absent(up{")
    assert ALERTS["KraftctlAllDown"]["labels"]["severity"] == "critical"
    assert (
        RULE_TESTS["tests"][[each["name"] for each in RULE_TESTS["tests"]].index("no controller is scraped")][
            "input_series"
        ]
        == []
    )


def test_controllers_that_all_hang_are_an_alert() -> None:
    """They say that they are not ready, and nothing of who is active. Java's may have other names for all."""
    assert {each.name for each in read(ALERTS["KraftctlNoActiveController"]["expr"]).selectors} == {
        "kafka_controller_kafkacontroller_activecontrollercount",
        "kraftctl_ready",
    }
    (case,) = [each for each in RULE_TESTS["tests"] if each["name"].startswith("controllers that all hang")]
    assert {sample_of(each["series"])[0] for each in case["input_series"]} == {"up", "kraftctl_ready"}


def test_promtool_agrees_where_it_is_installed() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        return
    for arguments in (("check", "rules", RULES.name), ("test", "rules", "kraftctl-alerts-test.yml")):
        ran = subprocess.run(
            [promtool, *arguments], cwd=RULES.parent, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
