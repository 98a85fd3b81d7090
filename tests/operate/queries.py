"""The queries of the board and the alerts in `deploy/`, and which series and labels each reads."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
BOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "kraftctl.json").read_text())
RULES = DEPLOY / "prometheus" / "kraftctl-alerts.yml"
ALERTS: dict[str, dict[str, Any]] = {
    rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
}
RULE_TESTS: dict[str, Any] = yaml.safe_load((RULES.parent / "kraftctl-alerts-test.yml").read_text())

WORDS = frozenset(
    ("sum", "max", "min", "count", "absent", "by", "on", "and", "or", "rate", "increase")
    + ("histogram_quantile", "time")
)
"""The functions and operators of PromQL that are used here."""

OF_PROMETHEUS = frozenset(("job", "instance"))
"""Labels that a scrape adds."""

SERIES_OF_PROMETHEUS = frozenset(("up",))
"""Series that a scrape adds."""

STRING = r'"[^"]*"'
SELECTOR = re.compile(rf"(\b[a-z_]\w*)\s*(\{{(?:[^\"}}]|{STRING})*\}})?")
MATCHER = re.compile(rf"(\w+)\s*(!=|=~|=)\s*({STRING})")
GROUPING = re.compile(r"\b(?:by|on) \(([\w, ]*)\)")


@dataclass(frozen=True)
class Selector:
    """A series by its name, and what its labels have to be or not to be."""

    name: str
    matchers: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Query:
    """What one query reads; `labels` are those by which it groups or joins."""

    selectors: tuple[Selector, ...]
    labels: frozenset[str]


def read(text: str) -> Query:
    """Returns what the query reads. Raises ValueError for a word that is neither PromQL's nor a series."""
    labels = {name.strip() for found in GROUPING.findall(text) for name in found.split(",")}
    rest = re.sub(r"\[\w+\]", "", GROUPING.sub("", text))
    selectors = []
    for name, braces in SELECTOR.findall(rest):
        if name in WORDS:
            continue
        if name not in SERIES_OF_PROMETHEUS and not name.startswith(("kafka_", "kraftctl_", "process_")):
            raise ValueError(f"{name} in {text!r}")
        matchers = tuple((label, how, value.strip('"')) for label, how, value in MATCHER.findall(braces))
        selectors.append(Selector(name, matchers))
    return Query(tuple(selectors), frozenset(labels))


def board_queries() -> dict[str, str]:
    return {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in BOARD["panels"]
        for target in panel.get("targets", ())
    }


def queries() -> dict[str, str]:
    """All of them, by the panel or the alert that has them."""
    return {**board_queries(), **{name: rule["expr"] for name, rule in ALERTS.items()}}
