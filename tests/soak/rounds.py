"""Runs tests that take seeds repeatedly, with new seeds, for a time.

`rounds.py --seed 7 --minutes 5 tests/raft`. Prints one line at the end; at the first failure pytest's
output and the command that repeats it, with status 1. At least one round is run.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SEEDS_PER_ROUND = 1_000
"""The distance of the first seeds of two rounds: more than any test uses in a round."""

ROUNDS_PER_SEED = 1_000
"""The distance of runs, so that runs with consecutive seeds have no history in common."""

SHOWN_LINES = 80


def first_seed(seed: int, number: int) -> int:
    """The first seed of round `number`, from 0. Seed 0 begins with the seeds of `make test`."""
    return (seed * ROUNDS_PER_SEED + number) * SEEDS_PER_ROUND


def repeat_line(variables: dict[str, str], command: list[str], output: str) -> str:
    """A command that runs only what failed, with the same seeds."""
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
    options = [word for word in command if word.startswith("-")]
    words = [f"{name}={value}" for name, value in variables.items()]
    return shlex.join([*words, ".venv/bin/pytest", *options, *(failed or command[1:])])


def run_round(tests: list[str], seed: int, effort: float) -> tuple[int, str]:
    """How many tests passed, and the command to repeat a failure or ""."""
    variables = {"KRAFTCTL_TEST_SEED": str(seed), "KRAFTCTL_TEST_EFFORT": f"{effort:g}"}
    command = ["-p", "no:cacheprovider", "-q", f"--hypothesis-seed={seed}", *tests]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *command],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    passed = re.search(r"^(?:.* )?(\d+) passed", ran.stdout, re.MULTILINE)
    if ran.returncode == 0 and passed:
        return int(passed[1]), ""
    print("\n".join(ran.stdout.splitlines()[-SHOWN_LINES:]), flush=True)
    return 0, repeat_line(variables, [f"--hypothesis-seed={seed}", *tests], ran.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--effort", type=float, default=2.0, help="of a round; `make test` has 1")
    parser.add_argument("tests", nargs="+", metavar="TEST", help="as pytest takes them")
    options = parser.parse_args()
    began = time.monotonic()
    rounds = passed = 0
    while not rounds or time.monotonic() - began < options.minutes * 60:
        count, repeat = run_round(options.tests, first_seed(options.seed, rounds), options.effort)
        if repeat:
            print(f"failed in round {rounds + 1} of seed {options.seed}; again: {repeat}")
            return 1
        rounds += 1
        passed += count
    first, last = first_seed(options.seed, 0), first_seed(options.seed, rounds) - 1
    print(f"{passed} tests in {rounds} rounds, seeds {first} to {last}: nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
