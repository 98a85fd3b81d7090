"""`make differential`: seeded random calls on Kafka's controller and on kraftctl; what differs is printed.

`run.py --seed 7 --calls 20000 --kafka 4.4.0`, or `--minutes 30`. A find is repeated on fresh controllers with
as few calls as it needs, and printed with its seed. Status 1 if anything differs that
known_differences.toml does not have, or if a long run did not meet something that it has.
"""

from __future__ import annotations

import argparse
import os
import pprint
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftctl.dev import ports
from tests.differential.compare import Difference
from tests.differential.known import KnownDifferences
from tests.differential.rounds import Find, Judge, Outcome, run_round
from tests.differential.schemas import read_schemas
from tests.differential.shrink import shrunk
from tests.differential.sides import Setting
from tests.support.processes.class_archive import with_archive
from tests.support.processes.kafka import kafka, run_java_source

CALLS_PER_ROUND = 1500
CALLS_OF_A_LONG_RUN = 50_000
SHOWN_MAX = 20
"""Of a find with more calls, the last one is printed."""

SHRUNK_MAX = 10
"""A run with more kinds of finds shrinks the first ones: each takes a minute or more."""


def judge_of(version: str, itself: bool = False) -> Judge:
    """Returns what rounds need; `itself` compares kraftctl with kraftctl, and starts no JVM."""
    if itself:
        return Judge(None, read_schemas(kafka(version).classpath), {}, KnownDifferences(version))
    distribution = with_archive(version)
    source = Path(__file__).with_name("ErrorTexts.java")
    lines = run_java_source(source, version=version).splitlines()
    texts = {int(code): text for code, _, text in (line.partition("\t") for line in lines)}
    return Judge(distribution, read_schemas(distribution.classpath), texts, KnownDifferences(version))


class Run:
    """Rounds until there are enough calls, or no time is left."""

    def __init__(self, judge: Judge, options: argparse.Namespace) -> None:
        self._judge = judge
        self._options = options
        self._began = time.monotonic()
        self.calls = 0
        self.rounds = 0
        self.kinds: Counter[str] = Counter()
        self._shrunk = 0

    def run(self) -> None:
        while self._has_time():
            chance = random.Random(f"{self._options.seed} {self.rounds}")
            setting = Setting.random(self._options.kafka, chance, self._options.release)
            most = min(CALLS_PER_ROUND, self._options.calls - self.calls)
            until = None if self._options.minutes is None else self._began + self._options.minutes * 60
            self.rounds += 1
            if self.rounds < self._options.first_round:
                continue
            outcome = run_round(self._judge, setting, chance, most, until, self._without())
            self.calls += len(outcome.calls)
            self._report(outcome)

    def _has_time(self) -> bool:
        if self._options.minutes is not None and self._elapsed_s() >= self._options.minutes * 60:
            return False
        return self.calls < self._options.calls

    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began

    def _without(self) -> frozenset[str]:
        return frozenset(self._options.without.split(","))

    def _report(self, outcome: Outcome) -> None:
        for find in outcome.finds:
            new = [each for each in find.differences if not self.kinds[kind_of(each)]]
            for difference in find.differences:
                self.kinds[kind_of(difference)] += 1
            if new:
                self._report_find(Find(find.setting, find.calls, new))
        end = outcome.ended_by or "complete"
        print(f"round {self.rounds}: {outcome.setting}: {len(outcome.calls)} calls, {end}; "
              f"{self.calls} calls in {self._elapsed_s():.0f} s", flush=True)  # fmt: skip

    def _report_find(self, find: Find) -> None:
        """A find that does not repeat with the same calls is one of time, and not counted."""
        if find.calls and not self._options.no_shrink and self._shrunk < SHRUNK_MAX:
            self._shrunk += 1
            print("to be shrunk:", *(each.signature for each in find.differences), find.calls[-1], flush=True)
            smaller = shrunk(self._judge, find)
            if smaller is None:
                print(f"it did not repeat: {[each.signature for each in find.differences]}")
                for difference in find.differences:
                    self.kinds.pop(kind_of(difference))
                return
            find = smaller
        print_find(find, self._options.seed, self.rounds)


def kind_of(difference: Difference) -> str:
    """The same for differences that most likely have one cause."""
    if difference.in_the_log:
        return f"{difference.api} {difference.place}"
    return difference.signature


def print_find(find: Find, seed: int, number: int) -> None:
    print("-" * 30)
    print(f"seed {seed}, round {number}, {find.setting}")
    for difference in find.differences:
        print("  ", difference.signature)
    for call in find.calls if len(find.calls) <= SHOWN_MAX else find.calls[-1:]:
        pprint.pprint(call, width=140, compact=True)
    sys.stdout.flush()


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--calls", type=int, default=None, help="how many in all [5000]")
    parser.add_argument("--minutes", type=float, default=None, help="instead of a number of calls")
    parser.add_argument("--first-round", type=int, default=1, help="leave out the rounds before it")
    parser.add_argument("--kafka", default="4.3.1", help="the release of Kafka [4.3.1]")
    parser.add_argument("--release", default=None, help="the metadata.version of every round, as 4.3-IV0")
    parser.add_argument("--without", default="", help="APIs that are not called: A,B")
    parser.add_argument("--no-shrink", action="store_true", help="print finds as they are")
    parser.add_argument("--itself", action="store_true", help="compare kraftctl with itself")
    options = parser.parse_args(arguments)
    if options.calls is None:
        options.calls = 5000 if options.minutes is None else 10**9
    return options


def main(arguments: list[str]) -> int:
    options = options_of(arguments)
    if "KRAFTCTL_TEST_PORTS" in os.environ:
        first, last = map(int, os.environ["KRAFTCTL_TEST_PORTS"].split("-"))
        ports.CANDIDATES = range(first, last)
    judge = judge_of(options.kafka, options.itself)
    run = Run(judge, options)
    run.run()
    for kind, count in run.kinds.most_common():
        print(f"{count:6} x {kind}")
    stale = judge.known.stale() if run.calls >= CALLS_OF_A_LONG_RUN and not options.without else []
    for entry in stale:
        print(f"known_differences.toml: '{entry.name}' did not occur in {run.calls} calls: remove it")
    print(
        f"differential: Kafka {options.kafka}, seed {options.seed}, "
        f"{run.calls} calls in {run.rounds} rounds, {len(run.kinds)} kinds of differences, {len(stale)} stale"
    )
    return 1 if run.kinds or stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
