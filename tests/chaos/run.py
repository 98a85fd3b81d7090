"""`make test-chaos`: faults of all kinds for real controllers and real brokers, and whether anything is lost.

`run.py --seed 7 --minutes 8`. The seed determines which faults come in which order and how long they last;
the processes are not deterministic, so a find may need several runs of the line that is printed. Ends with
one line; status 1 and the directories are kept if something was found, or if the run itself breaks.

Disks are those of tests/support/lying_disk: fsyncs are slow, writes fail with ENOSPC, and a power failure
takes what was not forced. Networks are cut in proxies (links.py). Nothing needs privileges.

Concurrent clients note their requests and responses, to controllers and through brokers, and
tests/chaos/linearizability checks whether an order allows it. `--brokers 0` has more kinds of requests: of
what brokers change by themselves. `--controllers kafka` runs Kafka's own controllers, for comparison.
"""

from __future__ import annotations

import argparse
import json
import os
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

from kraftctl.dev import ports
from tests.chaos.clients import Clients
from tests.chaos.cluster import KAFKA, KRAFTCTL, SIZE, ChaosCluster
from tests.chaos.faults import BrokerFaults, ControllerFaults, Faults
from tests.chaos.figures import BROKE, commit
from tests.chaos.linearizability.clients import HistoryClients
from tests.chaos.linearizability.history import Verdict
from tests.chaos.planted import PLANTED
from tests.chaos.rare_faults import RareFaults
from tests.chaos.settling import (
    compare_acknowledged,
    compare_directories,
    expect_none,
    find_fault_lines,
    settle,
    unclean_ends,
)
from tests.chaos.watching import Watch

STEP_SECONDS = 0.05
HISTORY = "history.jsonl"
RARE = "rare"
"""The faults of rare_faults.py."""


class Options(argparse.Namespace):
    """What `--help` describes."""

    seed: int
    minutes: float
    controllers: str
    brokers: int
    faults: str
    only: str
    plant: str
    directory: Path | None
    keep: bool
    figures: Path | None


class Chaos:
    """One cluster, from its start to its end. AssertionError for what was found."""

    def __init__(self, directory: Path, options: Options) -> None:
        self.seed = options.seed
        self.directory = directory
        self.options = options
        self.cluster = ChaosCluster(
            options.controllers,
            options.brokers,
            directory,
            PLANTED[options.plant] if options.plant else "",
        )
        self.clients: Clients | None = None
        """Of the brokers."""
        self.watch = Watch(self.cluster)
        self.histories = HistoryClients(self.cluster, self.watch, self.seed)
        self.verdict = Verdict([], [])
        """Of the histories, once they are checked."""
        self.minutes = 0.0
        """How long faults have come, which is longer than asked for, or shorter if the run breaks."""
        self._kinds: list[Faults] = []
        self._began = time.monotonic()

    def run(self) -> str:
        """Faults for that time; returns a line of figures."""
        try:
            self.cluster.start()
            self._say(f"{self.options.controllers}, {self.options.brokers} brokers run in {self.directory}")
            self.watch.start()
            if self.cluster.brokers:
                self.clients = Clients(self.cluster.bootstrap_servers, self.seed)
                self.clients.start()
            self.histories.start()
            self._strike(self.options.minutes)
            counted = [*sorted(self.counts.items()), *sorted(self.outcomes.items())]
            self._say(", ".join(f"{count} {name}" for name, count in counted))
            self._check()
        finally:
            for one in (self.clients, self.histories):
                if one is not None:
                    one.end()
            self.watch.stop()
            self.cluster.close()
        return self.figures()

    def _check(self) -> None:
        self.histories.stop()
        if self.clients is not None:
            self.clients.stop()
        settle(self.cluster, self.watch)
        self.histories.read_at_the_end()
        if self.clients is not None:
            compare_acknowledged(self.cluster, self.watch, self.clients)
        self.watch.check()
        self.cluster.check_processes()
        self.watch.stop()
        statuses = self.cluster.stop()
        self._say(f"exit statuses: {statuses}")
        if self.options.controllers == KRAFTCTL:
            ends = {controller.name: statuses[controller.name] for controller in self.cluster.controllers}
            expect_none("the end of the controllers", unclean_ends(ends))
        compare_directories(self.cluster, self.watch.log)
        find_fault_lines(self.cluster)
        began = time.monotonic()
        self.histories.history.save(self.directory / HISTORY)
        self.verdict = self.histories.history.judge()
        self._say(f"the histories were checked in {time.monotonic() - began:.1f} s")
        for name, count in self.histories.history.unexpected.most_common():
            self._say(f"left open: {count} x {name}")
        for line in self.verdict.undecided:
            self._say(line)
        expect_none("the histories", self.verdict.violations)

    @property
    def counts(self) -> Counter[str]:
        """Faults by name."""
        return sum((one.counts for one in self._kinds), Counter())

    @property
    def outcomes(self) -> Counter[str]:
        """What became of damaged controllers."""
        return sum((one.outcomes for one in self._kinds if isinstance(one, RareFaults)), Counter())

    def figures(self) -> str:
        history = self.histories.history.figures()
        parts = [
            f"{self.counts.total()} faults",
            f"{len(self.watch.quorum.epochs)} epochs with a leader",
            f"{self.watch.log.end_offset} records of metadata",
            f"{history['operations']} operations on {history['keys']} keys",
            f"{len(self.verdict.undecided)} keys undecided",
        ]
        if self.clients is not None:
            ledgers = [one.ledger for one in self.clients.administrators]
            acknowledged, failed = (
                sum(one.acknowledged for one in ledgers),
                sum(one.failed for one in ledgers),
            )
            parts += [
                f"{acknowledged} changes of topics acknowledged ({failed} open)",
                f"{self.clients.records.acknowledged} produced records acknowledged",
            ]
        return ", ".join(parts)

    def _strike(self, minutes: float) -> None:
        kinds = self._kinds
        of_controllers = RareFaults if self.options.faults == RARE else ControllerFaults
        for kind in (of_controllers, BrokerFaults) if self.cluster.brokers else (of_controllers,):
            kinds.append(kind(self.cluster, self.watch, self.seed, self._say))
            if isinstance(kinds[-1], ControllerFaults):
                kinds[-1].only = self.options.only
        began = time.monotonic()
        end = began + minutes * 60
        steps = [one.steps() for one in kinds]
        pause = threading.Event()
        while steps:
            if time.monotonic() > end:
                for one in kinds:
                    one.closing = True
            self.minutes = (time.monotonic() - began) / 60
            steps = [one for one in steps if next(one, self) is not self]
            self.cluster.check_processes()
            self.watch.check()
            self.histories.check()
            if self.clients is not None:
                self.clients.check()
            pause.wait(STEP_SECONDS)

    def _say(self, line: str) -> None:
        print(f"{time.monotonic() - self._began:7.1f} s  {line}", flush=True)


def run(options: Options) -> tuple[bool, str]:
    """Whether nothing was found, and the last line."""
    home = Path(tempfile.mkdtemp(prefix=f"chaos-{options.seed}-", dir=options.directory)).resolve()
    print(f"chaos with seed {options.seed} for {options.minutes:g} minutes", flush=True)
    chaos = Chaos(home, options)
    found = ""
    try:
        figures = chaos.run()
    except AssertionError as error:
        found = str(error) or repr(error)
        print(f"FIND: {found}", flush=True)
    except BaseException as error:
        found = f"{BROKE}{error!r}"
        print(_kept(chaos, "broke"), flush=True)
        raise
    finally:
        if options.figures is not None:
            options.figures.write_text(json.dumps(_report(chaos, found), indent=1))
    if found:
        return False, _kept(chaos, "found something")
    if not options.keep:
        shutil.rmtree(home, ignore_errors=True)
    return True, f"seed {options.seed}: {figures}: nothing found"


def _report(chaos: Chaos, found: str) -> dict[str, object]:
    """What a report takes from this run."""
    options, history = chaos.options, chaos.histories.history
    return {
        "controllers": options.controllers,
        "brokers": options.brokers,
        "seed": options.seed,
        "commit": commit(),
        "minutes": chaos.minutes,
        "kind of faults": options.faults,
        "faults": chaos.counts,
        "outcomes": chaos.outcomes,
        "epochs": len(chaos.watch.quorum.epochs),
        "records": chaos.watch.log.end_offset,
        "history": history.figures(),
        "operations": history.counts(),
        **chaos.verdict._asdict(),
        "found": found,
    }


def _kept(chaos: Chaos, what: str) -> str:
    options = chaos.options
    again = f"make test-chaos MINUTES={options.minutes:g} SEED={options.seed}"
    again += f" PLANT={options.plant}" if options.plant else ""
    others = f"--controllers {options.controllers} --brokers {options.brokers} --faults {options.faults}"
    others += f" --only {options.only}" if options.only else ""
    if others != f"--controllers {KRAFTCTL} --brokers {SIZE} --faults usual":
        again += f' CHAOS_ARGS="{others}"'
    return f"{what} after {chaos.counts.total()} faults; {chaos.directory} is kept; again: {again}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--controllers", choices=(KRAFTCTL, KAFKA), default=KRAFTCTL)
    parser.add_argument("--brokers", type=int, choices=(0, SIZE), default=SIZE)
    parser.add_argument("--faults", choices=("usual", RARE), default="usual")
    parser.add_argument("--only", default="", help="the only kind of faults of controllers, as isolate")
    parser.add_argument("--plant", choices=sorted(PLANTED), default="", help="a defect that must be found")
    parser.add_argument("--directory", type=Path, help="where the directories of the nodes are made")
    parser.add_argument("--keep", action="store_true", help="keep the directories, also without a find")
    parser.add_argument("--figures", type=Path, help="a file for the figures, as JSON")
    if "KRAFTCTL_TEST_PORTS" in os.environ:
        ports.CANDIDATES = range(*map(int, os.environ["KRAFTCTL_TEST_PORTS"].split("-")))
    sound, line = run(parser.parse_args(namespace=Options()))
    print(line)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
