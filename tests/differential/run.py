"""`make differential`: seeded random calls on Kafka's controller and on kraftctl; what differs is printed.

`run.py --seed 7 --calls 20000 --kafka 4.3.1`; a find is shrunk and printed with the lines that repeat it.
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
from tests.differential.known import KnownDifferences
from tests.differential.rounds import Find, Judge, run_round
from tests.differential.schemas import read_schemas
from tests.differential.sides import Setting
from tests.support.processes.kafka import kafka, run_java_source

CALLS_PER_ROUND = 1500


def judge_of(version: str, itself: bool = False) -> Judge:
    distribution = kafka(version)
    if itself:
        return Judge(None, read_schemas(distribution.classpath), {}, KnownDifferences(version))
    source = Path(__file__).with_name("ErrorTexts.java")
    lines = run_java_source(source, version=version).splitlines()
    texts = {int(code): text for code, _, text in (line.partition("\t") for line in lines)}
    return Judge(distribution, read_schemas(distribution.classpath), texts, KnownDifferences(version))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--calls", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--kafka", default="4.3.1")
    parser.add_argument("--release", default=None)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--without", default="", help="APIs that are not called: A,B")
    parser.add_argument("--itself", action="store_true", help="compare kraftctl with itself, to test this")
    options = parser.parse_args()
    if "KRAFTCTL_TEST_PORTS" in os.environ:
        first, last = map(int, os.environ["KRAFTCTL_TEST_PORTS"].split("-"))
        ports.CANDIDATES = range(first, last)
    judge = judge_of(options.kafka, options.itself)
    wanted = options.calls or (10**9 if options.minutes else 5000)
    began = time.monotonic()
    made = 0
    rounds = 0
    signatures: Counter[str] = Counter()
    while made < wanted and not (options.minutes and time.monotonic() - began > options.minutes * 60):
        chance = random.Random(f"{options.seed} {rounds}")
        rounds += 1
        setting = Setting.random(options.kafka, chance, options.release)
        outcome = run_round(judge, setting, chance, min(CALLS_PER_ROUND, wanted - made), frozenset(options.without.split(",")))
        made += len(outcome.calls)
        for find in outcome.finds:
            for difference in find.differences:
                if not signatures[difference.signature]:
                    print_find(find)
                signatures[difference.signature] += 1
        elapsed = time.monotonic() - began
        print(f"round {rounds}: {setting}: {len(outcome.calls)} calls, {outcome.ended_by or 'complete'}; "
              f"{made} calls in {elapsed:.0f} s", flush=True)  # fmt: skip
    for signature, count in signatures.most_common():
        print(f"{count:6} x {signature}")
    print(f"differential: seed {options.seed}, {made} calls, {len(signatures)} kinds of differences")
    return 1 if signatures else 0


def print_find(find: Find) -> None:
    call = find.calls[-1] if find.calls else None
    print("-" * 30)
    for difference in find.differences:
        print("  ", difference.signature)
    if call is not None:
        pprint.pprint(call, width=140, compact=True)


if __name__ == "__main__":
    sys.exit(main())
