"""`make bench-core`: codec and image in a process, without a controller; fails when a target is missed.

`core.py codec` and `core.py replay` run a part of it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.bench import codec, replay
from tests.bench.table import render

PARTS = {"codec": codec.run, "replay": replay.run}


def main(names: list[str]) -> int:
    if not codec.compiled():
        print("These are the sources, uncompiled: the numbers say little. `make bench-core` compiles first.")
    rows = []
    for name in names or list(PARTS):
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        measured = PARTS[name]()
        print(render(measured), flush=True)
        rows += measured
    missed = [row for row in rows if row.met is False]
    print(f"\n{len(missed)} of {sum(row.met is not None for row in rows)} targets missed")
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Codec and image in a process, without a controller.")
    parser.add_argument("names", metavar="PART", nargs="*", help=f"of {', '.join(PARTS)}; all without one")
    sys.exit(main(parser.parse_args().names))
