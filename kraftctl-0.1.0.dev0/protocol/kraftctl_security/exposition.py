"""Writes samples in Prometheus' text format, in parts that take a fraction of a millisecond each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

GAUGE: Final = "gauge"
COUNTER: Final = "counter"
HISTOGRAM: Final = "histogram"
SUMMARY: Final = "summary"

ONE: Final = "1"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

LINES_PER_PART: Final = 200

QUANTILES: Final = (0.50, 0.75, 0.95, 0.98, 0.99, 0.999)
"""Those that Kafka's histograms have in JMX."""


@dataclass(frozen=True)
class Metric:
    """One value, or one for each combination of `labels`, under each of its names."""

    key: str
    names: tuple[str, ...]
    kind: str
    help: str
    labels: tuple[str, ...] = ()
    cardinality: str = ONE


@dataclass(frozen=True)
class Buckets:
    """Counts by upper bound, inclusive; `counts` has one entry more than `bounds`."""

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float

    @property
    def count(self) -> int:
        return sum(self.counts)

    def quantile(self, quantile: float) -> float:
        """Returns the bound of the bucket with the quantile; NaN without samples."""
        wanted = quantile * self.count
        if not wanted:
            return math.nan
        reached = 0
        for bound, count in zip(self.bounds, self.counts, strict=False):
            reached += count
            if reached >= wanted:
                return bound
        return self.bounds[-1]


@dataclass(frozen=True)
class Summary:
    """A window for quantiles, with count and sum since the start."""

    window: Buckets
    count: int
    total: float


Value = int | float | Buckets | Summary
Labels = tuple[str, ...]
Samples = dict[str, list[tuple[Labels, Value]]]
"""By the key of the metric: the values of its labels, and the value."""


def parts(samples: Samples, metrics: Iterable[Metric]) -> Iterator[str]:
    """Yields the text of all metrics that have samples."""
    lines: list[str] = []
    for metric in metrics:
        of_metric = samples.get(metric.key)
        if not of_metric:
            continue
        for name in metric.names:
            lines.append(f"# HELP {name} {metric.help}")
            lines.append(f"# TYPE {name} {metric.kind}")
            for labels, value in of_metric:
                lines += _lines(name, metric, labels, value)
                if len(lines) >= LINES_PER_PART:
                    yield "\n".join([*lines, ""])
                    lines = []
    yield "\n".join([*lines, ""])


def markdown_rows(metrics: Iterable[Metric]) -> list[str]:
    """Returns the lines of a table in Markdown."""
    return [
        "| names | type | labels | series | meaning |",
        "|---|---|---|---|---|",
        *map(_markdown_row, metrics),
    ]


def _markdown_row(metric: Metric) -> str:
    names = "<br>".join(f"`{name}`" for name in metric.names)
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| {names} | {metric.kind} | {labels} | {metric.cardinality} | {metric.help} |"


def _lines(name: str, metric: Metric, values: Labels, value: Value) -> list[str]:
    labels = [_label(label, text) for label, text in zip(metric.labels, values, strict=True)]
    if isinstance(value, Summary):
        assert metric.kind == SUMMARY, "nothing else has quantiles"
        lines = [
            f"{name}{_braced([*labels, _label('quantile', f'{quantile:g}')])}"
            f" {_number(value.window.quantile(quantile))}"
            for quantile in QUANTILES
        ]
    elif isinstance(value, Buckets):
        assert metric.kind == HISTOGRAM, "nothing else has buckets"
        lines, reached = [], 0
        for bound, count in zip((*value.bounds, math.inf), value.counts, strict=True):
            reached += count
            lines.append(f"{name}_bucket{_braced([*labels, _label('le', _number(bound))])} {reached}")
    else:
        return [f"{name}{_braced(labels)} {_number(value)}"]
    return [
        *lines,
        f"{name}_sum{_braced(labels)} {_number(value.total)}",
        f"{name}_count{_braced(labels)} {value.count}",
    ]


def _braced(labels: list[str]) -> str:
    return f"{{{','.join(labels)}}}" if labels else ""


def _label(name: str, text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'


def _number(value: int | float) -> str:
    if isinstance(value, int):
        return str(int(value))
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)
