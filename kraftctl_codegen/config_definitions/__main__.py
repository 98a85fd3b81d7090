"""`python -m kraftctl_codegen.config_definitions [--check]`: writes the modules, or compares them."""

from __future__ import annotations

import sys
from pathlib import Path

import kraftctl_protocol
from kraftctl.dev.kafka_distribution import resolve_kafka
from kraftctl_codegen.config_definitions.config_names import render_name_files
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION, dump_config_definitions
from kraftctl_codegen.config_definitions.render import render_modules, render_readable_names

DEFINITIONS = Path(__file__).parents[2] / "kraftctl" / "metadata" / "config_definitions" / "generated"
READABLE_NAMES = Path(kraftctl_protocol.__path__[0]) / "readable_config_names.py"


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 when `--check` found a module that differs."""
    files = {**render_files(dump_config_definitions(resolve_kafka(KAFKA_VERSION))), **render_name_files()}
    stale = [path for path, text in files.items() if _current(path) != text]
    if "--check" in arguments:
        for path in stale:
            print(f"differs from Kafka's jars: {path}")
        return 1 if stale else 0
    for path in stale:
        path.write_text(files[path])
        print(f"wrote {path}")
    return 0


def render_files(facts: list[list[str]]) -> dict[Path, str]:
    """Returns every generated file and its text."""
    files = {DEFINITIONS / name: text for name, text in render_modules(facts).items()}
    return {**files, READABLE_NAMES: render_readable_names(facts)}


def _current(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
