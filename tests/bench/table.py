"""One line per measurement: what, how much, compared with what, and whether the target is met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Row:
    """Smaller is better for `measured`.

    With `at_least` the target is a factor by which `compared` is larger. With `at_most` it is a bound on
    `measured` itself.
    """

    what: str
    measured: float
    unit: str
    compared_with: str = ""
    compared: float = 0.0
    at_least: float | None = None
    at_most: float | None = None

    @property
    def ratio(self) -> float:
        return self.compared / self.measured

    @property
    def met(self) -> bool | None:
        """None for a row that is only information."""
        if self.at_least is not None:
            return self.ratio >= self.at_least
        if self.at_most is not None:
            return self.measured <= self.at_most
        return None

    def cells(self) -> list[str]:
        target = ""
        if self.at_least is not None:
            target = f">= {self.at_least:g} x"
        elif self.at_most is not None:
            target = f"<= {self.at_most:g} {self.unit}"
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        compared = f"{self.compared_with} {self.compared:.3g} {self.unit}" if self.compared else ""
        ratio = f"{self.ratio:.2f} x" if self.compared else ""
        return [self.what, f"{self.measured:.3g} {self.unit}", compared, ratio, target, verdict]


HEADINGS = ["what", "kraftctl", "compared with", "ratio", "target", ""]


def render(rows: list[Row]) -> str:
    """The rows as text, columns aligned."""
    lines = [HEADINGS, *[row.cells() for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    text.insert(1, "-" * max(len(line) for line in text))
    return "\n".join(text)
