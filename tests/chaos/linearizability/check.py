"""Checks a history that a run of chaos has kept: `tests/chaos/linearizability/check.py history.jsonl`."""

from __future__ import annotations

import sys
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[3]))

from tests.chaos.linearizability.history import load


def main() -> int:
    history = load(Path(sys.argv[1]))
    verdict = history.judge()
    print(*verdict.violations, *verdict.undecided, history.figures(), sep="\n")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
