"""`python -m kraftctl_codegen.commands`: writes the reference of commands, and their pages of `man`."""

from __future__ import annotations

from pathlib import Path

from kraftctl_codegen.commands.command import documented_commands
from kraftctl_codegen.commands.man_page import man_page
from kraftctl_codegen.commands.markdown import page

REPOSITORY = Path(__file__).resolve().parents[2]


def rendered() -> dict[Path, str]:
    """Returns the text of each file by its path, relative to the repository."""
    programs = documented_commands()
    manuals = {Path(f"man/{program.words}.1"): man_page(program) for program in programs}
    return {Path("docs/reference/commands.md"): page(programs), **manuals}


if __name__ == "__main__":
    for path, text in rendered().items():
        (REPOSITORY / path).write_text(text, encoding="utf-8")
