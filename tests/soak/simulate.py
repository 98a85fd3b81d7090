"""`make simulate`: whole controllers, brokers and admins on one virtual clock, with faults, one seed per run.

`make simulate RUNS=1000 SEED=7 PROFILE=mixed` runs the seeds from 7 on. A find is printed immediately: the
invariant, the line that repeats it, the fewest faults that still cause it, and the end of its trace. The last
lines count the faults that were injected, the records that were committed, and the responses. Status 1 after
a find, or if a long series of mixed runs has not reached what it has to (`coverage.py`).
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import logging
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.storage.errors import StorageError
from kraftctl_protocol.primitives import DecodeError
from tests.support.simulator.coverage import RARE, RARE_RUNS_MIN, RUNS_MIN, missing
from tests.support.simulator.faults.plan import PROFILES, SETTINGS, Plan, draw_plan
from tests.support.simulator.faults.shrink import Reduced, shrink
from tests.support.simulator.simulation import Simulation

PROGRESS_SECONDS = 15
SHRINK_SECONDS = 60
TRACE_LINES = 60

RUNS_PER_COLLECTION = 50
"""Each run is one heap of cycles, which the collector would leave for long."""

FINDS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    DecodeError,
    LookupError,
    OSError,
    RuntimeError,
    StorageError,
    TypeError,
    ValueError,
)
"""Everything that a run may raise is a find."""


def complaint(simulation: Simulation) -> str:
    """Runs it; what went wrong, or nothing."""
    try:
        simulation.run()
    except FINDS as error:
        named = isinstance(error, AssertionError) and str(error)
        return named or traceback.format_exc()
    return ""


PROMISED = (
    "lose power",
    "lose power everywhere",
    "lost power in a flush",
    "directories cordoned",
    "removals refused while voters are down",
    "removals allowed while voters are down",
    "removals forced while voters are down",
    "votes that controllers without pre-votes ask for",
)
"""A long series of mixed runs fails without one of these."""

FAULTS = (
    "messages lost",
    "messages delayed",
    "messages duplicated",
    "messages that overtook another",
    "messages cut off",
    "separate",
    "cut one way",
    "bridge",
    "messages over slow links",
    "messages to machines without power",
    "connections refused or reset",
    "disk calls of a second or more",
    "unforced bytes lost",
    "writes torn",
    "writes reordered",
    "calls ended halfway",
    "bit rot",
    "writes to a full disk",
    "failed fsyncs",
    "failed reads",
    "log lost",
    "votes lost",
    "quorum-states deleted",
    "directory lost",
    "old log restored",
    "old votes restored",
    "quorum-state of a later release",
    "file lost",
    "end of log lost",
    "stop and lose end of log",
    "directory adopted",
    "downloads damaged",
    "ended twice",
    "ended between effects",
    "kill",
    "stop",
    "freeze",
    "resumed",
    "drifting clocks",
    "wall clocks apart",
    "wall clock jumps",
    "monotonic clock jumps",
    "voters changed",
    "snapshots written",
    "snapshots downloaded",
    "logs trimmed",
    "controllers of a static quorum that know no voters",
    "controllers of an older release",
    "brokers of an older release",
    "requests that an older peer does not know",
    *PROMISED,
)
"""What a long series of mixed runs injects; the summary says what did not occur."""

SLICED = (
    "slices of BrokerFencing",
    "slices of SessionFencing",
    "slices of BrokerUnfencing",
    "slices of BrokerRegistering",
    "slices of BrokerUnregistration",
    "slices of ControlledShutdown",
    "slices of LeaderElections",
    "slices of OfflineDirectories",
    "slices beside other work",
    "slices while several brokers leave",
    "turns of loading",
    "failovers during SessionFencing",
    "failovers during BrokerUnfencing",
    "failovers during BrokerRegistering",
    "failovers during ControlledShutdown",
    "kill while a first broker returns",
)
"""What a long series of runs with large brokers reaches."""

EXPECTED = {"slices": SLICED}


class SimulationRuns:
    """A series of runs with one seed after the other, and their totals."""

    def __init__(self, profile: str, *, shrinks: bool = True, reduced: Reduced | None = None) -> None:
        self.profile = profile
        self.runs = 0
        self.finds = 0
        self.events = 0
        self.kinds: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self._shrinks = shrinks
        self._reduced = reduced
        self._began = self._shown = time.monotonic()

    def run_for(self, first_seed: int, *, runs: int = 0, minutes: float = 0.0) -> None:
        """At least so many, and for so long; progress is printed now and then."""
        gc.set_threshold(100_000)
        logging.disable(logging.CRITICAL)
        self._began = self._shown = time.monotonic()
        while self.runs < runs or time.monotonic() - self._began < minutes * 60:
            plan = draw_plan(first_seed + self.runs, self.profile)
            self._run(plan if self._reduced is None else self._reduced.of(plan))
            if time.monotonic() - self._shown >= PROGRESS_SECONDS:
                self._shown = time.monotonic()
                print(f"{self.runs} runs, {self._rate()}, {self.finds} finds", flush=True)
        logging.disable(logging.NOTSET)

    def _run(self, plan: Plan) -> None:
        simulation = Simulation(plan)
        found = complaint(simulation)
        self.runs += 1
        if self.runs % RUNS_PER_COLLECTION == 0:
            gc.collect()
        self.events += simulation.cluster.time.happened
        self.kinds[plan.kind] += 1
        self.counts.update(simulation.counts)
        if found:
            self.finds += 1
            self._show(plan, found)

    def _rate(self) -> str:
        seconds = max(0.001, time.monotonic() - self._began)
        return f"{self.events} events in {seconds:.0f} s, {self.events / seconds:.0f} per second"

    def _show(self, plan: Plan, found: str) -> None:
        repeat = f"make simulate RUNS=1 SEED={plan.seed} PROFILE={self.profile}"
        if self._reduced is not None:
            repeat = f"{repeat} {words_of(self._reduced)}"
        print(f"FIND {found}\n  again: {repeat}", flush=True)
        if not self._shrinks or self._reduced is not None:
            return
        reduced = shrink(plan, lambda other: bool(complaint(Simulation(other))), SHRINK_SECONDS)
        smaller = reduced.of(plan)
        simulation = Simulation(smaller, traced=True)
        still = complaint(simulation)
        for line in (simulation.trace or [])[-TRACE_LINES:]:
            print(f"  | {line[:400]}")
        print(f"  shrunk to {len(smaller.happenings)} happenings: {', '.join(map(str, smaller.happenings))}")
        print(f"  which end in: {still.splitlines()[-1] if still else 'nothing'}")
        print(f"  again: {repeat} {words_of(reduced)}", flush=True)

    def not_reached(self) -> list[str]:
        """What a long series of mixed runs has to reach, and this one did not."""
        if self.profile != "mixed" or self.runs < RUNS_MIN or self._reduced is not None:
            return []
        may_lack = RARE if self.runs < RARE_RUNS_MIN else ()
        lacked = [name for name in missing(self.counts) if name not in may_lack]
        return [*lacked, *[name for name in PROMISED if not self.counts[name]]]

    def rare_and_not_reached(self) -> list[str]:
        """What a long series reaches, and a short one may not."""
        if self.profile != "mixed" or not RUNS_MIN <= self.runs < RARE_RUNS_MIN:
            return []
        return [name for name in missing(self.counts) if name in RARE]

    def report(self, first_seed: int) -> None:
        """The totals; the last line sums up."""
        print("\ninjected and seen:")
        for name, count in sorted(self.counts.items()):
            print(f"  {count:9} {name}")
        missing = [name for name in EXPECTED.get(self.profile, FAULTS) if not self.counts[name]]
        if missing:
            print(f"not injected: {', '.join(missing)}")
        kinds = ", ".join(f"{count} {name}" for name, count in sorted(self.kinds.items()))
        last_seed = first_seed + self.runs - 1
        print(
            f"{self.profile}: seeds {first_seed} to {last_seed}: {self.runs} runs ({kinds}), {self._rate()};"
            f" {self.finds} finds",
            flush=True,
        )


def words_of(reduced: Reduced) -> str:
    """The variables of `make simulate` that reduce a plan in the same way."""
    kept = "" if reduced.kept is None else ",".join(map(str, reduced.kept)) or "none"
    calm = f" CALM={','.join(sorted(reduced.calm))}" if reduced.calm else ""
    return (f"KEEP={kept}" if kept else "") + calm


def print_transcript(seed: int, profile: str) -> None:
    """How many lines a run has, and a checksum of them: equal for equal runs."""
    simulation = Simulation(draw_plan(seed, profile), traced=True)
    print(complaint(simulation) or "nothing found")
    lines = simulation.trace or []
    print(len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--seed", type=int, default=None, help="of the first run; by default random, and printed"
    )
    parser.add_argument("--runs", type=int, default=0, help="how many; by default 100")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin runs for that long")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="mixed")
    parser.add_argument("--keep", default="", help="the indexes of the happenings to keep, or none")
    parser.add_argument("--calm", default="", help=f"settings without faults: {','.join(SETTINGS)}")
    parser.add_argument("--no-shrink", action="store_true", help="do not look for fewer faults")
    parser.add_argument("--transcript", action="store_true", help="one run: a checksum of all that happens")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    if options.transcript:
        print_transcript(seed, options.profile)
        return 0
    reduced: Reduced | None = None
    if options.keep or options.calm:
        kept = None
        if options.keep:
            kept = tuple(int(index) for index in options.keep.split(",") if index != "none")
        reduced = Reduced(kept, frozenset(name for name in options.calm.split(",") if name))
    runs = SimulationRuns(options.profile, shrinks=not options.no_shrink, reduced=reduced)
    print(f"first seed {seed}", flush=True)
    runs.run_for(seed, runs=options.runs or (0 if options.minutes else 100), minutes=options.minutes)
    runs.report(seed)
    stayed_at_0 = runs.not_reached()
    for what in runs.rare_and_not_reached():
        print(f"rare, and not reached: {what}")
    for what in stayed_at_0:
        print(f"not reached in {runs.runs} runs (tests/support/simulator/coverage.py): {what}")
    return 1 if runs.finds or stayed_at_0 else 0


if __name__ == "__main__":
    sys.exit(main())
