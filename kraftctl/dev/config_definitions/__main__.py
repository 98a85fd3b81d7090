"""`python -m kraftctl.dev.config_definitions [--check]`: writes the data modules, or compares them."""

from __future__ import annotations

import sys
from pathlib import Path

from kraftctl.dev.config_definitions.dump import dump_config_definitions
from kraftctl.dev.config_definitions.render import render_modules
from kraftctl.dev.kafka_distribution import resolve_kafka

TARGET = Path(__file__).parents[2] / "metadata" / "config_definitions" / "generated"


def main(arguments: list[str]) -> int:
    """The exit code: 1 when `--check` found a module that differs."""
    modules = render_modules(dump_config_definitions(resolve_kafka()))
    stale = [name for name, text in modules.items() if _current(TARGET / name) != text]
    if "--check" in arguments:
        for name in stale:
            print(f"not what Kafka's jars say: {TARGET / name}")
        return 1 if stale else 0
    for name in stale:
        (TARGET / name).write_text(modules[name])
        print(f"wrote {TARGET / name}")
    return 0


def _current(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
