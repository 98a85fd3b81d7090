"""Transcripts as tests: a command, `----`, and exactly what it prints. REWRITE=1 accepts what it prints now.

A file is a list of blocks, separated by empty lines. Lines that begin with `#` are comments.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

SEPARATOR = "----"


def run_file(path: Path, run_command: Callable[[str], str]) -> None:
    """Run all commands of a file in order and compare, or rewrite, what they print."""
    actual = "\n\n".join(_run_block(block, run_command) for block in _blocks(path)) + "\n"
    if os.environ.get("REWRITE") == "1":
        path.write_text(actual)
    expected = path.read_text()
    assert actual.splitlines() == expected.splitlines(), f"{path.name}: read the difference, then REWRITE=1"


def _blocks(path: Path) -> list[str]:
    return [block.strip("\n") for block in path.read_text().split("\n\n") if block.strip()]


def _run_block(block: str, run_command: Callable[[str], str]) -> str:
    head, separator, _ = block.partition(f"\n{SEPARATOR}")
    commands = [line for line in head.splitlines() if not line.startswith("#")]
    if not separator and not commands:
        return block
    printed = "\n".join(filter(None, (run_command(command) for command in commands)))
    return f"{head}\n{SEPARATOR}\n{printed}".rstrip()
