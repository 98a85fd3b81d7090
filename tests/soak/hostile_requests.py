"""Hostile requests to a whole controller in this process, for a time or a number of requests.

`PYTHONPATH=.:protocol:spark python tests/soak/hostile_requests.py --seed 1 --minutes 5` sends them in rounds,
each with its own seed to a new controller, and prints a summary at the end. What must not happen is a find:
it is printed immediately with the command that repeats it, and the status is 1.


A request whose handler fails although nothing was planted is refused and counted ("contained"): the handler
itself should have refused it. `--strict` makes that a find, too. In compiled code no faults are planted.

A round that does not end within ROUND_SECONDS is a find as well, and ends the program with its stacks.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import logging
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.support.simulator.cluster.virtual_time_loop import VirtualTimeLoop
from tests.support.wire.hosted_controller import InvariantViolatedError
from tests.support.wire.hostile_round import HostileRound
from tests.support.wire.planted_faults import can_be_planted

ROUND_REQUESTS = 400

ROUND_SECONDS = 120
"""The time limit of a round, which takes less than one second."""

PROGRESS_SECONDS = 60

SHARED_MEMORY = Path("/dev/shm")


@contextmanager
def watchdog(command: str) -> Iterator[None]:
    """Ends the process with status 1, after `command` and all stacks, when the body takes too long.

    A loop in compiled code may keep every other thread from running: the C thread of faulthandler, which
    knows no command, ends the process then. The last line of progress says which seeds are left.
    """

    def found() -> None:
        print(f"FIND a round that does not end within {ROUND_SECONDS} s\n  {command}", flush=True)
        faulthandler.dump_traceback(sys.stdout, all_threads=True)
        os._exit(1)

    timer = threading.Timer(ROUND_SECONDS, found)
    timer.daemon = True
    timer.start()
    faulthandler.dump_traceback_later(ROUND_SECONDS + 10, exit=True)
    try:
        yield
    finally:
        timer.cancel()
        faulthandler.cancel_dump_traceback_later()


class Soak:
    """The totals of all rounds."""

    def __init__(self, *, plant: bool, strict: bool) -> None:
        self.rounds = 0
        self.requests = 0
        self.finds = 0
        self.outcomes: Counter[str] = Counter()
        self.contained: Counter[str] = Counter()
        self.slowest = (0.0, "")
        self._commands: dict[str, str] = {}
        self._plant = plant
        self._strict = strict

    def round(self, seed: int, requests: int) -> None:
        """One more; a find is printed and counted."""
        directory = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
        with tempfile.TemporaryDirectory(prefix="hostile-requests-", dir=directory) as name:
            round_ = HostileRound(seed, requests, Path(name), plant=self._plant)
            try:
                with (
                    watchdog(self._command(seed, requests)),
                    asyncio.Runner(loop_factory=VirtualTimeLoop) as runner,
                ):
                    runner.run(round_.run())
            except InvariantViolatedError as violation:
                self._found(str(violation), self._command(seed, round_.done))
        self.rounds += 1
        self.requests += round_.done
        self.outcomes += round_.outcomes
        self.contained += round_.contained
        self.slowest = max(self.slowest, round_.slowest)
        for key, number in round_.first_seen.items():
            command = self._command(seed, number)
            self._commands.setdefault(key, command)
            if self._strict:
                self._found(key, command)

    def _found(self, what: str, command: str) -> None:
        self.finds += 1
        print(f"FIND {what}\n  {command}", flush=True)

    def _command(self, seed: int, requests: int) -> str:
        flags = "" if self._plant else " --no-faults"
        return f"python tests/soak/hostile_requests.py --seed {seed} --requests {requests}{flags}"

    def report(self, first_seed: int) -> None:
        for key, times in sorted(self.contained.items()):
            print(f"contained {times} times: {key}\n  {self._commands[key]}")
        outcomes = " ".join(f"{name}={times}" for name, times in sorted(self.outcomes.items()))
        seconds, kind = self.slowest
        print(
            f"seed={first_seed} rounds={self.rounds} requests={self.requests} {outcomes} finds={self.finds}"
            f" slowest={seconds:g}s ({kind})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="of the first round, the next has the next")
    parser.add_argument("--minutes", type=float, default=0.0, help="how long to begin new rounds")
    parser.add_argument("--requests", type=int, default=0, help=f"how many, {ROUND_REQUESTS} per round")
    parser.add_argument("--strict", action="store_true", help="an exception that was not planted is a find")
    parser.add_argument("--no-faults", action="store_true", help="plant none")
    args = parser.parse_args()
    logging.getLogger("kraftctl").addHandler(logging.NullHandler())
    logging.getLogger("kraftctl").propagate = False
    soak = Soak(plant=can_be_planted() and not args.no_faults, strict=args.strict)
    wanted = args.requests or (0 if args.minutes else ROUND_REQUESTS)
    deadline = time.monotonic() + args.minutes * 60
    seed = args.seed
    shown = time.monotonic()
    while time.monotonic() < deadline or soak.requests < wanted:
        left = wanted - soak.requests if wanted > soak.requests else ROUND_REQUESTS
        soak.round(seed, min(ROUND_REQUESTS, left))
        seed += 1
        if time.monotonic() - shown >= PROGRESS_SECONDS:
            shown = time.monotonic()
            print(f"up to seed {seed - 1}: {soak.requests} requests, {soak.finds} finds", flush=True)
    soak.report(args.seed)
    return 1 if soak.finds else 0


if __name__ == "__main__":
    sys.exit(main())
