"""`make soak-export`: a real controller's growing log, an export that is killed, and a complete result.

`run.py --seed N --kills 100 --minutes 30`: whichever ends first. Prints a line per kill and a table at the
end; fails if a table is not exact.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

# At the end of the path, so that installed (and compiled) packages have precedence over the sources.
sys.path.append(str(Path(__file__).resolve().parents[3]))

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl_observer.observer import QuorumObserver
from kraftctl_spark.tables.output import Output
from tests.spark.soak import verify, verify_history
from tests.spark.soak.churn import SETTINGS, Churn, LogArchive, append_transactions
from tests.spark.soak.kills import Kill, Supervisor, schedule

FIRST_BURST = 150_000
"""Records to catch up with at the start."""

KILLS_PER_DISTURBANCE = 15
TRIES = 4

BURST = 40_000

CATCHING_UP = 3_000
"""From this lag on, an export counts as catching up."""

FOLLOWING = 500


class Soak:
    """One run in a directory of its own."""

    def __init__(self, directory: Path, seed: int) -> None:
        self._seed = seed
        cluster = random_id()
        self._controller = KraftctlController(3000, directory / "controller", cluster, properties=SETTINGS)
        self._controller.format()
        self._controller.start()
        self._archive = LogArchive(self._controller.metadata_directory, directory / "archive")
        self._churn = Churn(self._controller, seed)
        self.supervisor = Supervisor(self._controller.address, directory, seed)
        self._began = time.monotonic()
        self.done: Counter[str] = Counter()
        self.phases: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()
        self.aborted = 0
        """Records of aborted transactions, once `check` has counted them."""

    def elapsed_s(self) -> float:
        return time.monotonic() - self._began

    def begin(self, records: int) -> None:
        """Writes that many records to catch up with; the log grows from now on."""
        self._churn.burst = records
        self._churn.start()
        await_result(lambda: self._churn.burst == 0, "a log to catch up with", 300)

    def kill(self, kill: Kill) -> None:
        """Repeats a kill whose step was not reached, a few times at most."""
        number = self.done.total()
        lag, offset = self._lag()
        while not self.supervisor.run(kill, number):
            self.missed[str(kill)] += 1
            assert self.missed[str(kill)] <= TRIES, f"{kill}: never came to that"
        phase = "catching up" if lag > CATCHING_UP else "tailing"
        self.done[str(kill)] += 1
        self.phases[phase] += 1
        print(f"{self.elapsed_s():6.0f} s  kill {number + 1}: {kill}, {phase}, at {offset}", flush=True)

    def disturb(self, records: int) -> None:
        """Restarts the controller with transactions in its log, which then grows fast for a while."""
        number = self.done.total()
        self._churn.stop()
        self._controller.stop()
        append_transactions(self._controller, random.Random(number).randrange(10, 4_000), self._seed + number)
        self._controller.start()
        self._churn.burst = records
        self._churn.start()

    def catch_up(self) -> None:
        """Waits until the export has little lag."""
        await_result(
            lambda: self.supervisor.alive() and self._lag()[0] < FOLLOWING, "the end of the log", 120
        )

    def _lag(self) -> tuple[int, int]:
        observer = QuorumObserver([("localhost", self._controller.port)], timeout_s=60)
        try:
            offset = Output(self.supervisor.output).position().offset
            return observer.position(0, 0).high_watermark - offset, offset
        finally:
            observer.close()

    def check(self) -> None:
        """Raises AssertionError for the first difference."""
        self._churn.stop()
        self.supervisor.finish()
        output = self.supervisor.output
        end = Output(output).position().offset
        print(f"drained up to {end}; comparing", flush=True)
        self._archive.close()
        expected = verify.expected_of(self._archive.archive, end)
        manifests = len(Output(output).manifests())
        verify.check_rows(output, expected)
        files = verify.check_directory(output)
        self.supervisor.compact()
        verify.check_rows(output, expected)
        compacted = verify.check_directory(output)
        verify.check_counts(verify.counts(output), expected)
        history = verify_history.check_history(output, output.with_name("history-anew"))
        snapshots = [one for one in Output(output).manifests() if one.snapshot]
        assert not snapshots, "the log was cleaned before it was read: the run says less than it should"
        left = self.supervisor.orphans()
        assert not left, f"processes that outlived the export: {left}"
        assert not self.supervisor.problems, self.supervisor.problems
        self.aborted = len(expected.aborted)
        print(f"{manifests} manifests with {files} files; after a compaction {compacted} files")
        print(f"{self.aborted} records of aborted transactions; {len(expected.epochs)} offsets")
        for table, rows in sorted(verify.summary(expected).items()):
            print(f"  {table:40} {rows:>9} rows")
        for table, rows in history.items():
            print(f"  {f'history/{table}':40} {rows:>9} rows")

    def report(self) -> None:
        print(f"\n{'kill':50} times")
        for name, count in sorted(self.done.items()):
            print(f"{name:50} {count:>5}")
        for title, counter in (
            ("phases", self.phases),
            ("what became of the export", self.supervisor.survived),
            ("exit statuses", self.supervisor.ends),
            ("steps that did not come", self.missed),
        ):
            print(f"{title}: {dict(counter)}")
        print(f"starts of the export: {self.supervisor.starts}; problems: {self.supervisor.problems}")

    def close(self) -> None:
        with suppress(OSError, AssertionError):
            self._churn.stop()
        self.supervisor.stop()
        self._archive.close()
        self._controller.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--minutes", type=float, help="no kill after that [no limit]")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument(
        "--first-burst", type=int, default=FIRST_BURST, help="records to catch up with at first"
    )
    parser.add_argument("--directory", type=Path, help="where everything is kept [a temporary directory]")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    with tempfile.TemporaryDirectory(prefix="kraftctl-soak-") as temporary:
        directory = options.directory or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        soak = Soak(directory, options.seed)
        try:
            soak.begin(options.first_burst)
            for number, kill in enumerate(schedule(options.kills, options.seed), 1):
                soak.kill(kill)
                if options.minutes is not None and soak.elapsed_s() > options.minutes * 60:
                    break
                if number % KILLS_PER_DISTURBANCE == 0:
                    soak.disturb(BURST)
            soak.check()
        finally:
            soak.report()
            soak.close()
    print(f"exact after {soak.done.total()} kills, seed {options.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
