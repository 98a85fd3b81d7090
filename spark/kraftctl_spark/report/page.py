"""Turns the sections into one HTML file that needs nothing else: no network, no other file.

Plotly's button that uploads a chart is removed. A policy in the page forbids every request of the browser,
and every script except two that it names by their digest: even a name from the log that was not escaped
correctly could not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape

from plotly.offline import get_plotlyjs

from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.period import shown_duration, shown_time
from kraftctl_spark.report.section import Section, Table
from kraftctl_spark.report.sections import ALL
from kraftctl_spark.report.style import STYLE

OPEN_ROWS_MAX = 12
"""Longer tables are folded."""

DRAW = """
const figures = JSON.parse(document.getElementById("figures").textContent);
const options = {responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
  modeBarButtonsToRemove: ["lasso2d", "select2d"]};
const draw = ([id, figure]) => Plotly.newPlot(id, figure.data, figure.layout, options);
Promise.all(Object.entries(figures).map(draw))
  .then(() => { document.documentElement.dataset.plots = "drawn"; });
"""

WHO = (
    "Kafka's log says what was changed and when, not <em>who</em> asked for it: no principal, client or "
    "address is in it. For that, look at the brokers' authorizer log at the times given here."
)


def render(contents: Contents, made: str) -> str:
    """The whole page; the same for the same arguments. `made` says when and by which program it was made."""
    sections = [section(contents) for section in ALL]
    title = f"Kafka metadata of cluster {contents.header.cluster_id}"
    plotly_js = get_plotlyjs()
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy((plotly_js, DRAW))}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(title)}</title>\n",
            '<link rel="icon" href="data:,">\n',
            f"<style>{STYLE}</style>\n</head>\n<body>\n",
            _header(contents, made),
            _navigation(sections),
            "<main>\n",
            *map(_section, sections),
            "</main>\n",
            f"<script>{plotly_js}</script>\n",
            f'<script type="application/json" id="figures">{_figures(sections)}</script>\n',
            f"<script>{DRAW}</script>\n</body>\n</html>\n",
        )
    )


def _policy(scripts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _header(contents: Contents, made: str) -> str:
    header, period = contents.header, contents.period
    span = shown_duration(period.end_ms - period.start_ms)
    numbers = (
        (f"{header.brokers:,}", "brokers"),
        (f"{header.topics:,}", "topics"),
        (f"{header.partitions:,}", "partitions"),
        (f"{sum(row.fenced for row in contents.fenced_brokers.rows):,}", "times fenced"),
        (f"{sum(row.elections for row in contents.elections):,}", "elections"),
        (f"{sum(row.elections for row in contents.elections if row.kind == 'unclean'):,}", "of them unclean"),
        (f"{contents.config_changes.total:,}", "config changes"),
    )
    facts = (
        ("Period", f"{shown_time(period.start_ms)} to {shown_time(period.end_ms)} UTC ({span})"),
        (
            "In the tables",
            (
                f"offsets {header.start_offset:,} to {header.end_offset - 1:,}, "
                f"{shown_time(header.start_ms)} to {shown_time(header.end_ms)} UTC, "
                f"{header.records:,} records: {header.unknown:,} unknown, "
                f"{header.undecodable:,} undecodable, {header.redacted:,} redacted, "
                f"{header.aborted:,} of aborted transactions"
            ),
        ),
        ("Cluster", header.cluster_id),
        ("Report", made),
    )
    cards = "".join(f"<li><b>{value}</b> {escape(name)}</li>" for value, name in numbers)
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    return (
        f"<header>\n<h1>What happened in this Kafka cluster</h1>\n<dl>{listed}</dl>\n"
        f'<ul class="numbers">{cards}</ul>\n<p class="who">{WHO}</p>\n'
        "<noscript><p>The plots need JavaScript, which is in this file. "
        "The words and tables do not.</p></noscript>\n"
        "</header>\n"
    )


def _navigation(sections: Sequence[Section]) -> str:
    links = "".join(f'<a href="#{section.name}">{escape(section.title)}</a>' for section in sections)
    return f'<nav aria-label="Sections">{links}</nav>\n'


def _section(section: Section) -> str:
    parts = [
        f'<section id="{section.name}" aria-labelledby="{section.name}-title">\n',
        f'<h2 id="{section.name}-title">{escape(section.title)}</h2>\n',
        f'<p class="summary">{escape(section.summary)}</p>\n',
        f'<p class="explanation">{escape(section.explanation)}</p>\n',
    ]
    for number, plot in enumerate(section.plots):
        parts.append(
            f'<figure><figcaption>{escape(plot.title)}</figcaption><div class="plot" role="img" '
            f'style="height:{plot.figure.layout.height:g}px" id="{plot_id(section, number)}" '
            f'aria-label="{escape(plot.title + ". " + section.summary)}"></div></figure>\n'
        )
    parts += [f'<p class="note">{escape(note)}</p>\n' for note in section.notes]
    parts += [_table(table) for table in section.tables if table.rows]
    return "".join((*parts, "</section>\n"))


def plot_id(section: Section, number: int) -> str:
    """Id of the element that contains the plot."""
    return f"plot-{section.name}-{number}"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in row)}</tr>\n" for row in table.rows
    )
    opened = " open" if len(table.rows) <= OPEN_ROWS_MAX else ""
    return (
        f"<details{opened}><summary>{escape(table.title)} "
        f'<span class="count">({len(table.rows):,})</span></summary><div class="scroll">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n"
    )


def _figures(sections: Sequence[Section]) -> str:
    """JSON that cannot close the HTML element around it."""
    figures = {
        plot_id(section, number): plot.figure.to_plotly_json()
        for section in sections
        for number, plot in enumerate(section.plots)
    }
    text = json.dumps(figures, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
