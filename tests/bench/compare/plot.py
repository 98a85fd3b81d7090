"""The main figure of each load as bars, in SVG: Java's controller without linger is 1, shorter is better."""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree as Xml

from tests.bench.compare.figures import FIGURES
from tests.bench.compare.markdown import BASE, LABELS, MEASURED, number
from tests.bench.compare.results import Results

MAIN_FIGURES: Final = (
    "processor_us",
    "total_ms",
    "failover_ms",
    "bytes_per_partition",
    "processor_percent",
    "processor_ms_per_mb",
    "start_s",
)
"""The first of these that a load has. Of all of them less is better."""

COLOURS: Final = {"java": "#b8b8b8", BASE: "#7f7f7f", MEASURED: "#1f6feb", "echo": "#2da44e"}
LABEL_PX, SCALE_PX, VALUE_PX, BAR_PX, GAP_PX, TOP_PX = 330, 260, 110, 9, 10, 56
RATIO_MAX: Final = 2.0
"""Longer bars end here; their value is beside them."""
FONT: Final = "font-family:sans-serif;font-size:11px"


def plot(results: Results) -> str:
    """A whole file."""
    body = Xml.Element("g", style=FONT)
    y = float(TOP_PX)
    for scenario, load in results.loads():
        y = _load(body, results, scenario, load, y)
    width, height = LABEL_PX + SCALE_PX + VALUE_PX, y + GAP_PX
    svg = Xml.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height:g}", width=f"{width}"
    )
    Xml.SubElement(svg, "rect", width=f"{width}", height=f"{height:g}", fill="white")
    _text(svg, 10, 18, "Processor time, or what the row names; Java, linger 0 = 1; shorter is better")
    _legend(svg, 10, 38)
    one = f"{LABEL_PX + SCALE_PX / RATIO_MAX:g}"
    Xml.SubElement(svg, "line", x1=one, x2=one, y1=f"{TOP_PX - 6}", y2=f"{y:g}", stroke="#bbbbbb")
    svg.append(body)
    Xml.indent(svg)
    return Xml.tostring(svg, encoding="unicode") + "\n"


def _load(body: Xml.Element, results: Results, scenario: str, load: str, y: float) -> float:
    """Draws the bars of a load; returns where the next begins."""
    medians = {name: results.medians(scenario, load, name) for name in results.subjects(scenario, load)}
    base = medians.get(BASE, {})
    figure = next((name for name in MAIN_FIGURES if base.get(name)), None)
    if figure is None:
        return y
    _text(body, 10, y + BAR_PX, f"{scenario}: {load}")
    _text(body, 10, y + 2 * BAR_PX + 4, FIGURES[figure].label, "#777777")
    for name, found in medians.items():
        length = min(found[figure] / base[figure], RATIO_MAX) / RATIO_MAX * SCALE_PX
        Xml.SubElement(
            body, "rect", x=f"{LABEL_PX}", y=f"{y:g}", height=f"{BAR_PX}", width=f"{length:.1f}",
            fill=COLOURS[name],
        )  # fmt: skip
        value = f"{number(found[figure])} {FIGURES[figure].unit}"
        _text(body, LABEL_PX + length + 4, y + BAR_PX - 1, value, "#333333", size=9)
        y += BAR_PX + 1
    return y + GAP_PX


def _legend(parent: Xml.Element, x: float, y: float) -> None:
    for name, colour in COLOURS.items():
        label = LABELS.get(name, "uvloop echo")
        Xml.SubElement(parent, "rect", x=f"{x:g}", y=f"{y - 9:g}", width="10", height="10", fill=colour)
        _text(parent, x + 14, y, label)
        x += 30 + 7 * len(label)


def _text(
    parent: Xml.Element, x: float, y: float, text: str, colour: str = "#111111", size: int = 11
) -> None:
    style = f"font-family:sans-serif;font-size:{size}px"
    Xml.SubElement(parent, "text", x=f"{x:g}", y=f"{y:g}", fill=colour, style=style).text = text
