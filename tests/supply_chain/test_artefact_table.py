"""The page of artefacts has a row for each, and a run replaces only its own rows."""

from __future__ import annotations

from pathlib import Path

from tests.supply_chain.artefact_table import BEGIN, END, Artefact, write_rows
from tests.supply_chain.dist_check import NAMES
from tests.supply_chain.installed_use import USES
from tests.supply_chain.locked_distributions import ROOT

PAGE = ROOT / "docs/operations/artefacts.md"


def test_the_page_has_a_row_of_each_artefact() -> None:
    """Whatever `make dist-check` installs, with each extra, and the images that tests build."""
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    names = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]
    extras = {f"wheel with `{extra}`" for extra in USES}
    images = {"slim image, without its base", "drop-in image, without its base"}
    assert set(names) == {*NAMES.values(), *extras, *images}
    assert len(names) == len(set(names))


def test_rows_of_another_run_stay(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}{END}after\n")
    write_rows(page, [Artefact("wheel", "1", 2_500_000, 40_000_000, 3.21, 0.44)])
    write_rows(page, [Artefact("image", "2", 1, 2, 3, 4)])
    write_rows(page, [Artefact("wheel", "1", 2_600_000, 41_000_000, 3.21, 0.44)])
    text = page.read_text()
    assert text.startswith(f"before\n{BEGIN}| artefact |")
    assert text.endswith(
        "\n| wheel | 1 | 2.6 MB | 41 MB | 3.2 s | 0.4 s |\n| image | 2 | 0.0 MB | 0 MB | 3.0 s | 4.0 s |\n"
        f"{END}after\n"
    )
