"""`make test-chaos`: faults of all kinds for real controllers and real brokers, and whether anything is lost.

`run.py --seed 7 --minutes 8`. The seed determines which faults come in which order and how long they last;
the processes are not deterministic, so a find may need several runs of the line that is printed. Ends with
one line; status 1 and the directories are kept if something was found.

Disks are those of tests/support/lying_disk: fsyncs are slow, writes fail with ENOSPC, and a power failure
takes what was not forced. Networks are cut in proxies (links.py). Nothing needs privileges.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.chaos.clients import Clients
from tests.chaos.cluster import ChaosCluster
from tests.chaos.faults import BrokerFaults, ControllerFaults, Faults
from tests.chaos.planted import PLANTED
from tests.chaos.settling import (
    compare_acknowledged,
    compare_directories,
    expect_none,
    find_fault_lines,
    settle,
    unclean_ends,
)
from tests.chaos.watching import Watch
from tests.support.lying_disk.lying_disk import build_shim
from tests.support.processes.kafka import kafka

STEP_SECONDS = 0.05


class Chaos:
    """One cluster, from its start to its end. AssertionError for what was found."""

    def __init__(self, directory: Path, seed: int, planted: str = "") -> None:
        self.seed = seed
        self.directory = directory
        shim = build_shim(directory)
        self.cluster = ChaosCluster(kafka(), shim, directory, planted)
        self.clients: Clients | None = None
        self.watch = Watch(self.cluster)
        self._kinds: list[Faults] = []
        self._began = time.monotonic()

    def run(self, minutes: float) -> str:
        """Faults for that time; returns a line of figures."""
        try:
            self.cluster.start()
            self._say(f"three controllers and three brokers run in {self.directory}")
            self.watch.start()
            self.clients = clients = Clients(self.cluster.bootstrap_servers, self.seed)
            clients.start()
            self._strike(minutes)
            self._say(", ".join(f"{count} {name}" for name, count in sorted(self.counts.items())))
            clients.stop()
            settle(self.cluster, self.watch)
            compare_acknowledged(self.cluster, self.watch, clients)
            self.watch.check()
            self.cluster.check_processes()
            self.watch.stop()
            statuses = self.cluster.stop()
            self._say(f"exit statuses: {statuses}")
            ends = {controller.name: statuses[controller.name] for controller in self.cluster.controllers}
            expect_none("the end of the controllers", unclean_ends(ends))
            compare_directories(self.cluster, self.watch.log)
            find_fault_lines(self.cluster)
        finally:
            if self.clients is not None:
                self.clients.end()
            self.watch.stop()
            self.cluster.close()
        return self.figures()

    @property
    def counts(self) -> Counter[str]:
        """Faults by name."""
        return sum((one.counts for one in self._kinds), Counter())

    def figures(self) -> str:
        assert self.clients is not None
        records = self.clients.records
        ledgers = [one.ledger for one in self.clients.administrators]
        acknowledged, failed = (sum(one.acknowledged for one in ledgers), sum(one.failed for one in ledgers))
        return (
            f"{self.counts.total()} faults, {len(self.watch.quorum.epochs)} epochs with a leader,"
            f" {self.watch.log.end_offset} records of metadata, {acknowledged} changes of topics"
            f" acknowledged ({failed} open), {records.acknowledged} produced records acknowledged"
        )

    def _strike(self, minutes: float) -> None:
        assert self.clients is not None
        kinds = self._kinds
        for kind in (ControllerFaults, BrokerFaults):
            kinds.append(kind(self.cluster, self.watch, self.seed, self._say))
        end = time.monotonic() + minutes * 60
        steps = [one.steps() for one in kinds]
        pause = threading.Event()
        while steps:
            if time.monotonic() > end:
                for one in kinds:
                    one.closing = True
            steps = [one for one in steps if next(one, self) is not self]
            self.cluster.check_processes()
            self.watch.check()
            self.clients.check()
            pause.wait(STEP_SECONDS)

    def _say(self, line: str) -> None:
        print(f"{time.monotonic() - self._began:7.1f} s  {line}", flush=True)


def run(seed: int, minutes: float, planted: str = "", directory: Path | None = None) -> tuple[bool, str]:
    """Whether nothing was found, and the last line."""
    home = Path(tempfile.mkdtemp(prefix=f"chaos-{seed}-", dir=directory)).resolve()
    print(f"chaos with seed {seed} for {minutes:g} minutes", flush=True)
    chaos = Chaos(home, seed, PLANTED[planted] if planted else "")
    try:
        figures = chaos.run(minutes)
    except AssertionError as error:
        print(f"FIND: {error}", flush=True)
        return False, _kept(chaos, minutes, planted)
    except BaseException:
        print(_kept(chaos, minutes, planted), flush=True)
        raise
    shutil.rmtree(home, ignore_errors=True)
    return True, f"seed {seed}: {figures}: nothing found"


def _kept(chaos: Chaos, minutes: float, planted: str) -> str:
    again = f"make test-chaos MINUTES={minutes:g} SEED={chaos.seed}" + (
        f" PLANT={planted}" if planted else ""
    )
    return f"found something after {chaos.counts.total()} faults; {chaos.directory} is kept; again: {again}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--plant", choices=sorted(PLANTED), default="", help="a defect that must be found")
    parser.add_argument("--directory", type=Path, help="where the directories of the nodes are made")
    options = parser.parse_args()
    sound, line = run(options.seed, options.minutes, options.plant, options.directory)
    print(line)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
