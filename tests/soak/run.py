"""`make soak`: long-running tests, one after the other, each with a seed and its share of the time.

`run.py --seed 7 --minutes 30` for all, `run.py --seed 7 --minutes 30 raft export` for some. A line per soak
as it ends, one line for all at the end; status 1 if something was found, or a soak could not be run.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = "tests/soak/rounds.py"
SIMULATE = "tests/soak/simulate.py"


@dataclass(frozen=True)
class Soak:
    """A program that takes --seed and --minutes, and ends with one line and a status."""

    name: str
    what: str
    command: tuple[str, ...]
    sources: bool = False
    """Run from the sources: planted exceptions need interpreted code."""


SOAKS = (
    Soak("mixed", "whole controllers, brokers and admins with all kinds of faults, a seed each",
         (SIMULATE, "--profile", "mixed")),
    Soak("raft", "quorums of 1 to 5 voters that lose messages, processes, power and disks, a seed each",
         (SIMULATE, "--profile", "quorum")),
    Soak("voters", "the same while voters are added and removed", (SIMULATE, "--profile", "membership")),
    Soak("power", "the same while power fails in flushes of the log", (SIMULATE, "--profile", "power")),
    Soak("raft-tests", "the tests of raft that take seeds",
         (ROUNDS, "tests/raft/test_promises.py", "tests/raft/test_lost_memory.py",
          "tests/raft/test_single_voter_properties.py", "tests/kips/test_kip_853.py")),
    Soak("node", "three whole nodes in one process: nothing acknowledged is lost, all images are the same",
         (ROUNDS, "tests/node")),
    Soak("controller", "any request to one controller, and the invariants of replication",
         (ROUNDS, "tests/controller/test_any_request.py",
          "tests/controller/test_replication_invariants.py", "tests/image")),
    Soak("protocol", "any message, and bytes that are damaged",
         (ROUNDS, "--effort", "1", "tests/protocol/test_round_trip.py", "tests/protocol/test_primitives.py",
          "tests/protocol/test_record_columns.py", "tests/protocol/test_record_batch.py")),
    Soak("storage", "the power fails at every call",
         (ROUNDS, "tests/storage/test_power_failure.py", "tests/storage/test_metadata_log.py",
          "tests/protocol/test_batch_framing.py")),
    Soak("processes", "three controllers as processes, whose leaders are killed",
         (ROUNDS, "tests/server/controllers/test_quorum.py")),
    Soak("disk", "controllers as processes, whose disks forget what was not forced when the power fails",
         (ROUNDS, "tests/server/controllers/test_lying_disk.py")),
    Soak("chaos", "real controllers and brokers that are killed, paused, cut off, without space or power",
         ("tests/chaos/run.py",)),
    Soak("hostile", "hostile requests to a whole controller",
         (ROUNDS, "--effort", "20", "tests/server/connections/test_hostile_requests.py"), sources=True),
    Soak("fuzz", "damaged and dense frames, batches and directories, with limits of time and memory",
         ("tests/soak/fuzz.py",)),
    Soak("differential", "random calls on a controller of Kafka 4.3.1 and on kraftctl",
         ("tests/differential/run.py", "--kafka", "4.3.1")),
    Soak("differential-4.4", "the same with Kafka 4.4.0", ("tests/differential/run.py", "--kafka", "4.4.0")),
    Soak("export", "kills of an export while the log of a controller grows", ("tests/spark/soak/run.py",)),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The result of one soak: its last line, and whether nothing was found."""

    name: str
    line: str
    sound: bool
    minutes: float


def environment(sources: bool) -> dict[str, str]:
    """The environment that selects the code, with a check of that for soaks that are tests."""
    if sources:
        return {**os.environ, "PYTHONPATH": ".:protocol:spark", "KRAFTCTL_UNDER_TEST": "sources"}
    return {**os.environ, "PYTHONSAFEPATH": "1", "KRAFTCTL_UNDER_TEST": "compiled"}


def run(soak: Soak, seed: int, minutes: float) -> Outcome:
    """Passes on what the soak prints, line by line."""
    began = time.monotonic()
    script, *arguments = soak.command
    if not (ROOT / script).is_file():
        return Outcome(soak.name, f"there is no {script}", False, 0.0)
    command = [sys.executable, script, "--seed", str(seed), "--minutes", f"{minutes:g}", *arguments]
    line = ""
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(soak.sources), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for printed in process.stdout:
            line = printed.strip() or line
            print(f"{soak.name:>10} | {printed}", end="", flush=True)
    return Outcome(soak.name, line, process.returncode == 0, (time.monotonic() - began) / 60)


def chosen(names: list[str]) -> list[Soak]:
    """The chosen soaks in the order of the table; all if none is named."""
    unknown = set(names) - {soak.name for soak in SOAKS}
    if unknown:
        raise SystemExit(f"no such soak: {', '.join(sorted(unknown))}")
    return [soak for soak in SOAKS if not names or soak.name in names]


def main() -> int:
    lines = "\n".join(f"  {soak.name:12}{soak.what}" for soak in SOAKS)
    parser = argparse.ArgumentParser(
        description=f"{(__doc__ or '').splitlines()[0]}\n\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--minutes", type=float, default=30.0, help="of all together [30]")
    parser.add_argument("names", nargs="*", metavar="SOAK")
    options = parser.parse_args()
    soaks = chosen(options.names)
    share = options.minutes / len(soaks)
    print(
        f"seed {options.seed}, {share:.1f} minutes each: {', '.join(one.name for one in soaks)}", flush=True
    )
    outcomes = [run(soak, options.seed, share) for soak in soaks]
    print()
    for outcome in outcomes:
        verdict = "sound " if outcome.sound else "FAILED"
        print(f"{outcome.name:>10}  {verdict}  {outcome.minutes:5.1f} min  {outcome.line}")
    found = [outcome.name for outcome in outcomes if not outcome.sound]
    minutes = sum(outcome.minutes for outcome in outcomes)
    verdict = f"FAILED: {', '.join(found)}" if found else "nothing found"
    print(f"soak: {len(outcomes)} soaks, seed {options.seed}, {minutes:.1f} minutes: {verdict}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
