"""The tables of a run as Markdown: a row for each load, figure by figure, the subjects side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tests.bench.compare.figures import FIGURES
from tests.bench.compare.results import Results
from tests.bench.compare.subjects import SUBJECTS

LABELS = {subject.name: subject.label for subject in SUBJECTS}
BASE, MEASURED = "java-linger-0", "kraftctl"


def table(results: Results, scenario: str, left_out: Collection[str] = ()) -> str:
    """Medians of one scenario over the rounds, and kraftctl divided by Java without linger."""
    loads = [load for name, load in results.loads() if name == scenario]
    names = list(dict.fromkeys(subject for load in loads for subject in results.subjects(scenario, load)))
    with_ratio = {BASE, MEASURED} <= set(names)
    rows = [["load", "figure", *[LABELS.get(name, name) for name in names], *["ratio"] * with_ratio]]
    for load in loads:
        medians = {name: results.medians(scenario, load, name) for name in names}
        for figure in FIGURES:
            if figure in left_out or not any(figure in found for found in medians.values()):
                continue
            row = [load, _label(figure), *[number(medians[name].get(figure)) for name in names]]
            if with_ratio:
                row.append(ratio(medians[MEASURED].get(figure), medians[BASE].get(figure)))
            rows.append(row)
    return render(rows)


def render(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the heading."""
    heading, *body = rows
    return "\n".join([_line(heading), _line(["---"] * len(heading)), *[_line(row) for row in body]])


def number(value: float | None) -> str:
    """Three digits that matter."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(one: float | None, other: float | None) -> str:
    return f"{one / other:.2f}" if one is not None and other else ""


def _label(figure: str) -> str:
    unit = FIGURES[figure].unit
    return f"{FIGURES[figure].label} ({unit})" if unit else FIGURES[figure].label


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
