"""Simulated quorums with random faults, one history per seed, for a time or a number of histories.

`PYTHONPATH=.:protocol:spark python tests/soak/raft_chaos.py --seed 1 --minutes 5` (or `--runs 5000`) runs the
seeds from 1 on: 1 to 7 voters, static, dynamic, and some whose voters change. What must not happen is a find:
it is printed immediately with the command that repeats it and shows its history, and the status is 1.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.support.simulator.raft_chaos import Chaos

PROGRESS_SECONDS = 60

SHOWN_LINES = 60
"""How many last lines to print of a history that ended in a find."""


class Soak:
    """The totals of all histories."""

    def __init__(self) -> None:
        self.runs = 0
        self.finds = 0
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    def run(self, seed: int, shown_lines: int) -> None:
        """Run one more history. Every exception is a find, which is printed and counted."""
        chaos = Chaos(seed)
        try:
            chaos.run()
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            self.finds += 1
            what = str(error) if isinstance(error, AssertionError) and str(error) else traceback.format_exc()
            for line in chaos.cluster.lines[-shown_lines:] if shown_lines else []:
                print(line)
            command = f"python tests/soak/raft_chaos.py --seed {seed} --runs 1 --show {SHOWN_LINES}"
            print(f"FIND {what}\n  {command}", flush=True)
        self.runs += 1
        self.kinds[chaos.kind] += 1
        cluster = chaos.cluster
        self.counts["committed"] += len(cluster.committed)
        self.counts["elections"] += len(cluster.leaders)
        for _, _, entry in cluster.history:
            if isinstance(entry, str):
                self.counts[entry] += 1

    def report(self, first_seed: int, elapsed_s: float) -> None:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
        kinds = ", ".join(f"{count} {name}" for name, count in sorted(self.kinds.items()))
        print(
            f"seeds {first_seed} to {first_seed + self.runs - 1}: {self.runs} histories ({kinds}) in"
            f" {elapsed_s:.0f} s with {counts}; {self.finds} finds"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first history; each history has the next seed"
    )
    parser.add_argument("--minutes", type=float, default=0.0, help="begin histories for that long")
    parser.add_argument("--runs", type=int, default=0, help="how many histories; by default 100")
    parser.add_argument(
        "--show", type=int, default=0, help="how many last lines to print of a history with a find"
    )
    args = parser.parse_args()
    gc.set_threshold(100_000)  # a history is one heap of cycles, and short
    soak = Soak()
    wanted = args.runs or (0 if args.minutes else 100)
    began = shown = time.monotonic()
    while time.monotonic() - began < args.minutes * 60 or soak.runs < wanted:
        soak.run(args.seed + soak.runs, args.show)
        if time.monotonic() - shown >= PROGRESS_SECONDS:
            shown = time.monotonic()
            last = args.seed + soak.runs - 1
            print(f"up to seed {last}: {soak.runs} histories, {soak.finds} finds", flush=True)
    soak.report(args.seed, time.monotonic() - began)
    return 1 if soak.finds else 0


if __name__ == "__main__":
    sys.exit(main())
