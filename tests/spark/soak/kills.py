"""A supervised export that is killed repeatedly: first at named steps, then at any moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraftctl_spark.tables.output import Output
from tests.spark.soak import hook, processes
from tests.support.processes.spark_export import ROOT, SPARK_ARGUMENTS

STRIKE_TIMEOUT_S = 60.0
"""Wait for a step to be reached, or a process to start."""

END_TIMEOUT_S = 60.0
"""Wait for an export to end after its JVM or planner was killed."""

GONE_TIMEOUT_S = 20.0
"""Wait for an export to notice; the killed process may have belonged to an export that had ended."""

BATCH_SIZES = (700, 2_500, 60_000)
"""A different one at every start: options may change between runs."""

NAMED = (
    ("worker", "files-written", "self"),
    ("run", "json-written", "self"),
    ("worker", "files-durable", "driver"),
    ("compact", "json-written", "self"),
    ("planner", "", ""),
    ("run", "committed", "self"),
    ("worker", "files-durable", "self"),
    ("run", "file-renamed", "self"),
    ("compact", "committed", "self"),
    ("worker", "files-durable", "jvm"),
    ("worker", "files-written", "driver"),
    ("compact", "file-renamed", "self"),
    ("run", "committed", "jvm"),
    ("compact", "file-removed", "self"),
    ("run", "files-written", "self"),
    ("run", "file-removed", "self"),
    ("compact", "files-written", "self"),
    ("jvm", "", ""),
)
"""Process of the step, step, process to kill; without a step, a kind of process at any moment.

`files-written` of `run` is a step of the compaction inside the export.
"""

RANDOM = ("driver", "driver", "jvm", "worker", "worker", "planner", "compactor")


@dataclass(frozen=True)
class Kill:
    """One entry of the schedule."""

    role: str
    step: str
    victim: str
    delay_s: float
    count: int

    def __str__(self) -> str:
        if not self.step:
            return f"{self.role} at any moment"
        victim = self.role if self.victim == "self" else self.victim
        return f"{victim} at {self.role}'s {self.step}"


def schedule(kills: int, seed: int) -> list[Kill]:
    """The named ones repeatedly for the first three fifths; then random ones."""
    chance = random.Random(seed)
    named = max(min(kills, len(NAMED)), kills * 3 // 5)
    planned = [NAMED[number % len(NAMED)] for number in range(named)]
    planned += [(chance.choice(RANDOM), "", "") for _ in range(kills - named)]
    made = []
    for role, step, victim in planned[:kills]:
        count = 1 if role == "compact" else chance.randrange(1, 4)
        made.append(Kill(role, step, victim, chance.uniform(0, 4), count))
    return made


class Supervisor:
    """Runs the export, restarts it whenever it ends, and kills its processes."""

    def __init__(self, bootstrap: str, directory: Path, seed: int) -> None:
        self._bootstrap = bootstrap
        self._random = random.Random(seed)
        self.output = directory / "tables"
        self.log = directory / "export.log"
        self.control = directory / "control"
        self.control.mkdir()
        self.mark = f"{os.getpid()}-{seed}"
        self.starts = 0
        self.ends: Counter[str] = Counter()
        """Exit statuses of exports that ended without a kill of the driver."""
        self.survived: Counter[str] = Counter()
        self.problems: list[str] = []
        self._export: subprocess.Popen[bytes] | None = None

    def run(self, kill: Kill, number: int) -> bool:
        """Whether a process was killed; False if the step was not reached in time."""
        self._keep_running()
        if kill.role in ("compact", "compactor"):
            return self._kill_compaction(kill, number)
        if kill.step:
            struck = self._at_step(kill, number)
        else:
            struck = self._at_any_moment(kill)
        if struck:
            self._see_what_becomes_of_it(kill)
        return struck

    def finish(self) -> None:
        """Exports the rest of the log without kills."""
        self._end_export()
        done = self._start("--available-now", "--compact-after", "0").wait(600)
        if done != 0:
            self.problems.append(f"the last export ended with {done}")

    def compact(self) -> None:
        if self._job("compact", "--output", str(self.output), "--keep-removed", "0 days").wait(300) != 0:
            self.problems.append("the last compaction failed")

    def stop(self) -> None:
        if self._export is not None and self._export.poll() is None:
            self._export.kill()
            self._export.wait(30)

    def orphans(self, timeout_s: float = 20.0) -> list[processes.Found]:
        """Processes that are left of all exports after they had time to end."""
        deadline = time.monotonic() + timeout_s
        while (left := processes.marked(self.mark)) and time.monotonic() < deadline:
            threading.Event().wait(0.2)
        return left

    def alive(self) -> bool:
        """Restarts it if it has ended."""
        self._keep_running()
        return self._alive()

    def _keep_running(self) -> None:
        if self._export is not None and self._export.poll() is not None:
            self.ends[str(self._export.returncode)] += 1
            if self._export.returncode == 2:
                self.problems.append("the export was refused, see its log")
            self._export = None
        if self._export is None:
            size = str(self._random.choice(BATCH_SIZES))
            self._export = self._start(
                "--interval", "1 second", "--max-offsets-per-trigger", size, "--compact-after", "4"
            )
            self.starts += 1

    def _start(self, *flags: str) -> subprocess.Popen[bytes]:
        where = ["--bootstrap-controllers", self._bootstrap, "--output", str(self.output)]
        secrets = ["--include-secrets", "--request-timeout-ms", "30000", "--keep-removed", "0 days"]
        return self._job("run", *where, *secrets, "--history", "--master", "local[2,4]", *flags)

    def _job(self, *arguments: str) -> subprocess.Popen[bytes]:
        roots = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            processes.MARK_VARIABLE: self.mark,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_SUBMIT_ARGS": SPARK_ARGUMENTS,
            "PYTHONPATH": os.pathsep.join(roots).rstrip(os.pathsep),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        environment.pop("PYTHONSAFEPATH", None)
        command = [sys.executable, "-P", "-m", "tests.spark.soak.job", str(self.control), *arguments]
        with self.log.open("ab") as printed:
            return subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed
            )

    def _at_step(self, kill: Kill, number: int) -> bool:
        hook.arm(
            self.control, hook.Arm(f"{self.mark}-{number}", kill.role, kill.step, kill.count, kill.victim)
        )
        deadline = time.monotonic() + STRIKE_TIMEOUT_S
        while not hook.fired(self.control):
            self._keep_running()
            if time.monotonic() > deadline and hook.disarm(self.control):
                return False
            threading.Event().wait(0.05)
        return True

    def _at_any_moment(self, kill: Kill) -> bool:
        threading.Event().wait(kill.delay_s)
        deadline = time.monotonic() + STRIKE_TIMEOUT_S
        while time.monotonic() < deadline:
            self._keep_running()
            found = [one for one in processes.marked(self.mark) if one.kind == kill.role]
            if found:
                victim = self._random.choice(found)
                try:
                    os.kill(victim.pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                return True
            threading.Event().wait(0.1)
        return False

    def _kill_compaction(self, kill: Kill, number: int) -> bool:
        """Kills a compaction beside the export, which continues and leaves files to merge."""
        hook.disarm(self.control)
        deadline = time.monotonic() + STRIKE_TIMEOUT_S
        while len(Output(self.output).manifests()) < 2 and time.monotonic() < deadline:
            self._keep_running()
            threading.Event().wait(0.1)
        if kill.step:
            name = f"{self.mark}-{number}"
            hook.arm(self.control, hook.Arm(name, kill.role, kill.step, kill.count, kill.victim))
        job = self._job("compact", "--output", str(self.output), "--keep-removed", "0 days")
        if not kill.step:
            threading.Event().wait(kill.delay_s / 4)
            job.kill()
        status = job.wait(120)
        hook.disarm(self.control)
        self.survived["compaction: the export went on"] += self._alive()
        return status == -signal.SIGKILL

    def _see_what_becomes_of_it(self, kill: Kill) -> None:
        """A killed driver ends immediately; for others, checks whether the export continues without them."""
        assert self._export is not None
        driver_dies = kill.role == "driver" or kill.victim == "driver"
        if driver_dies or (kill.victim == "self" and kill.role == "run"):
            self._export.wait(END_TIMEOUT_S)
            return
        before = Output(self.output).position().offset
        jvm_dies = "jvm" in (kill.role, kill.victim)
        who = "jvm" if jvm_dies else kill.role

        def went_on() -> bool:
            return Output(self.output).position().offset > before

        settled = _within(GONE_TIMEOUT_S, lambda: not self._alive() or (who == "worker" and went_on()))
        if not settled and not _within(END_TIMEOUT_S, lambda: not self._alive() or went_on()):
            self.problems.append(f"{kill}: the export neither went on nor ended within {END_TIMEOUT_S:g} s")
            self._end_export()
        self.survived[f"{who}: the export {'went on' if self._alive() else 'ended'}"] += 1

    def _alive(self) -> bool:
        return self._export is not None and self._export.poll() is None

    def _end_export(self) -> None:
        hook.disarm(self.control)
        if self._export is not None and self._export.poll() is None:
            self._export.send_signal(signal.SIGTERM)
            try:
                status = self._export.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.problems.append("the export did not end after SIGTERM")
                self._export.kill()
                status = self._export.wait(30)
            self.ends[str(status)] += 1
        self._export = None


def _within(timeout_s: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        threading.Event().wait(0.1)
    return True
