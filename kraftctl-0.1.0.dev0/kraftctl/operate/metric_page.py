"""The table of metrics as text for a terminal, as JSON, and as the page docs/metrics.md."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from kraftctl.operate.metric_table import CONTROLLER, OWN, PROCESS, RAFT
from kraftctl_security.exposition import Metric, markdown_rows

SECTIONS: Final = (
    ("Raft, and connections to other controllers", RAFT),
    ("The controller", CONTROLLER),
    ("What Kafka has no metric for", OWN),
    ("The process", PROCESS),
)

HEAD: Final = """# Metrics

`kraftctl inspect metrics` prints this table, and `make generate` writes this page. How they are served:
[operations/probes-and-metrics.md](operations/probes-and-metrics.md).

A metric has the same value under each of its names. Those of Kafka are spelled as published dashboards and
alerts read them: with Strimzi's and Confluent's configurations of the JMX exporter, and with Strimzi's
metrics reporter. The column *series* says how many there are of a name; nothing else makes more of them.
Counts of topics, partitions and brokers are of committed metadata. A name that ends with `_max_total`
is a gauge: take no rate of it.

There is no JVM, so there are no `jvm_` metrics: panels of heap and garbage collection stay empty.
"""


def text_table(metrics: Iterable[Metric]) -> str:
    """Returns a line for each name: name, type, labels, how many series, meaning."""
    rows = [
        (name, metric.kind, ",".join(metric.labels) or "-", metric.cardinality, metric.help)
        for metric in metrics
        for name in metric.names
    ]
    head = ("NAME", "TYPE", "LABELS", "SERIES", "HELP")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(4)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:4], widths, strict=True)), row[4]])
        for row in (head, *rows)
    )


def json_table(metrics: Iterable[Metric]) -> str:
    """Returns an array with an object for each metric."""
    return json.dumps(
        [
            {
                "names": metric.names,
                "type": metric.kind,
                "labels": metric.labels,
                "series": metric.cardinality,
                "help": metric.help,
            }
            for metric in metrics
        ],
        indent=2,
    )


def page(metrics: Iterable[Metric]) -> str:
    """Returns the page as Markdown."""
    shown = list(metrics)
    parts = [HEAD]
    for title, of_section in SECTIONS:
        rows = markdown_rows(metric for metric in of_section if metric in shown)
        parts.append("\n".join([f"## {title}", "", *rows, ""]))
    return "\n".join(parts)
