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
from html import unescape
from typing import Any

from plotly.offline import get_plotlyjs

from kraftctl_spark.report.contents import Contents
from kraftctl_spark.report.draw import DRAW
from kraftctl_spark.report.header import page_header, page_title
from kraftctl_spark.report.section import Point, Section, Table, escaped, label
from kraftctl_spark.report.sections import ALL
from kraftctl_spark.report.sections.known_part import with_unknown
from kraftctl_spark.report.style import STYLE

OPEN_ROWS_MAX = 12
"""A table with more rows is folded."""

SHORT_MAX = 24
"""The cells of a column of shorter texts are not broken into lines."""

NARROW_COLUMNS_MAX = 3
"""On a narrow screen, the rows of a table with more columns are lists."""

NARROW_LABEL_MAX = 17


def render(contents: Contents, made: str) -> str:
    """The whole page; the same for the same arguments. `made` says when and by which program it was made."""
    present, *sections = (with_unknown(section(contents), contents) for section in ALL)
    title = f"Kafka metadata of cluster {contents.header.cluster_id}"
    plotly_js = get_plotlyjs()
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy((plotly_js, DRAW))}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escaped(title)}</title>\n",
            '<link rel="icon" href="data:,">\n',
            f"<style>{STYLE}</style>\n</head>\n<body>\n",
            page_title(contents),
            _navigation([present, *sections]),
            "<main>\n",
            _section(present),
            page_header(contents, made),
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


def _navigation(sections: Sequence[Section]) -> str:
    links = "".join(f'<a href="#{section.name}">{escaped(section.title)}</a>' for section in sections)
    zoom = (
        '<span id="zoom" hidden>Shown: <output></output> '
        '<button type="button">show the whole period</button></span>'
    )
    return f'<nav aria-label="Sections"><span class="links">{links}</span>{zoom}</nav>\n'


def _section(section: Section) -> str:
    parts = [
        f'<section id="{section.name}" aria-labelledby="{section.name}-title">\n',
        f'<h2 id="{section.name}-title">{escaped(section.title)}</h2>\n',
        f'<p class="summary">{escaped(section.summary)}</p>\n',
        _points(section.points),
        f'<p class="explanation">{escaped(section.explanation)}</p>\n',
    ]
    for number, plot in enumerate(section.plots):
        parts.append(
            f'<figure><figcaption>{escaped(plot.title)}</figcaption><div class="plot" role="img" '
            f'style="height:{plot.figure.layout.height:g}px" id="{plot_id(section, number)}" '
            f'aria-label="{escaped(plot.title + ". " + section.summary)}"></div>'
            f"{_note(plot.left_out)}</figure>\n"
        )
    parts += map(_note, section.notes)
    parts += [_table(table) for table in section.tables if table.rows]
    return "".join((*parts, "</section>\n"))


def _points(points: Sequence[Point]) -> str:
    lines = "".join(
        f'<li class="{point.urgency}"><b>{escaped(point.head)}:</b> {escaped(point.text)}</li>\n'
        for point in points
    )
    return f'<ul class="points">\n{lines}</ul>\n' if points else ""


def _note(text: str) -> str:
    return f'<p class="note">{escaped(text)}</p>\n' if text else ""


def plot_id(section: Section, number: int) -> str:
    """Returns the id of the element that contains the plot."""
    return f"plot-{section.name}-{number}"


def _table(table: Table) -> str:
    """Returns the table; each cell knows its column, because on a phone a row can be a list."""
    head = "".join(f'<th scope="col">{escaped(column)}</th>' for column in table.columns)
    short = [all(len(row[place]) <= SHORT_MAX for row in table.rows) for place in range(len(table.columns))]
    opening = [
        f'<td{" class=short" if is_short else ""} data-column="{escaped(column)}">'
        for column, is_short in zip(table.columns, short, strict=True)
    ]
    rows = "".join(
        f"<tr>{''.join(f'{td}{escaped(value)}</td>' for td, value in zip(opening, row, strict=True))}</tr>\n"
        for row in table.rows
    )
    wide = " class=wide" if len(table.columns) > NARROW_COLUMNS_MAX else ""
    opened = " open" if len(table.rows) <= OPEN_ROWS_MAX else ""
    return (
        f"<details{opened}><summary>{escaped(table.title)} "
        f'<span class="count">({len(table.rows):,})</span></summary>{_note(table.left_out)}'
        f'<div class="scroll"><table{wide}><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div></details>\n"
    )


def _figures(sections: Sequence[Section]) -> str:
    """Returns JSON that cannot close the HTML element around it."""
    figures = {
        plot_id(section, number): _with_short_labels(plot.figure.to_plotly_json())
        for section in sections
        for number, plot in enumerate(section.plots)
    }
    text = json.dumps(figures, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _with_short_labels(figure: dict[str, Any]) -> dict[str, Any]:
    """Adds shorter names beside a plot for a narrow screen, as `meta` of the figure."""
    names = figure["layout"].get("yaxis", {}).get("ticktext", ())
    short = [label(_without_middle(unescape(name)), NARROW_LABEL_MAX) for name in names]
    return {**figure, "layout": {**figure["layout"], "meta": {"short": short}}}


def _without_middle(name: str) -> str:
    """Shortens a name in its middle: names of many topics begin alike, and end with the number of the
    partition.
    """
    if len(name) <= NARROW_LABEL_MAX:
        return name
    kept = NARROW_LABEL_MAX // 2
    return f"{name[: kept - 1]}…{name[-kept:]}"
