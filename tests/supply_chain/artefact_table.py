"""The table of artefacts in the docs: rows of what a run has installed, beside those of earlier runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- begin: artefacts -->\n", "<!-- end: artefacts -->\n"
HEADING = (
    "| artefact | kraftctl | file | installed | time to install | from the start to the first leader |\n"
    "|---|---|---|---|---|---|\n"
)
MEGABYTE = 1e6


@dataclass(frozen=True)
class Artefact:
    """What was installed and used. Sizes are in bytes; that of a file is the one that is copied."""

    name: str
    kraftctl: str
    """Version, and whether it is compiled."""
    file_size: int
    installed_size: int
    install_seconds: float
    leader_seconds: float

    def line(self) -> str:
        sizes = f"{self.file_size / MEGABYTE:.1f} MB | {self.installed_size / MEGABYTE:.0f} MB"
        times = f"{self.install_seconds:.1f} s | {self.leader_seconds:.1f} s"
        return f"| {self.name} | {self.kraftctl} | {sizes} | {times} |"


def write_rows(page: Path, artefacts: Sequence[Artefact]) -> None:
    """Replaces the rows of these artefacts, and keeps the others: those of images are of another run."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = {re.split(r" *\| *", line)[1]: line for line in table.splitlines()[2:]}
    rows |= {artefact.name: artefact.line() for artefact in artefacts}
    lines = "".join(f"{line}\n" for line in rows.values())
    page.write_text(f"{before}{BEGIN}{HEADING}{lines}{END}{after}")
