"""An export with its history is killed again and again, and upgraded in between: what it wrote is exact.

Its log has records that no release understands, and some that only the later one does.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest

from kraftctl_spark.commands.history import DIRECTORY
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.decoding_again import is_due
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark import local_job
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.growing_log import GrowingLog, earlier_release
from tests.spark.history.test_not_understood import rows_of
from tests.spark.soak import hook, processes
from tests.spark.soak.verify_history import check_history

KILLS = (
    ("run", "json-written", "self"),
    ("run", "files-durable", "self"),
    ("worker", "files-written", "driver"),
    ("run", "file-renamed", "self"),
    ("run", "committed", "self"),
    ("worker", "files-durable", "self"),
    ("run", "file-removed", "self"),
    ("run", "state-written", "self"),
    ("run", "files-written", "self"),
    ("", "", ""),
)
"""Process of the step, step, process to kill; without a step, any of them at any moment.

`run` has the steps of a compaction, of decoding again, of the commits and of the history.
"""

RECORDS_PER_KILL = 60
COUNT_MAX = 4
"""A step comes up to this often before it kills: each stage has it."""

START_S = 3.0
TIMEOUT_S = 300.0


class Killed:
    """An export that is started for each kill, and has written everything in the end."""

    def __init__(self, directory: Path, controller: FakeController, engine: str) -> None:
        host, port = controller.endpoint
        self.output = directory / "tables"
        self._directory, self._engine = directory, engine
        self._arguments = [
            *("--bootstrap-controllers", f"{host}:{port}", "--output", str(self.output), "--history"),
            *("--request-timeout-ms", "30000", "--max-offsets-per-trigger", "40", "--available-now"),
            *(("--workers", "2") if engine == "local" else ("--master", "local[2,4]")),
        ]
        self.release = ""
        """What comes first in PYTHONPATH."""
        self.done: Counter[str] = Counter()

    def kill(self, number: int, chance: random.Random) -> None:
        """Kills it once: where it has ended before, at another moment."""
        while not self._killed(f"{number}-{chance.random()}", *KILLS[number % len(KILLS)], chance):
            number += 1
        self.done[" ".join(KILLS[number % len(KILLS)]).strip() or "any moment"] += 1

    def _killed(self, name: str, role: str, step: str, victim: str, chance: random.Random) -> bool:
        if step:
            arm = hook.Arm(name, role, step, chance.randint(1, COUNT_MAX), victim)
            hook.arm(self._directory, arm)
        job = self._started("--compact-after", "2")
        try:
            if not step and not self._killed_at_any_moment(chance):
                return False
            job.wait(TIMEOUT_S)
        finally:
            job.kill()
            job.wait(30)
        hook.disarm(self._directory)
        return not step or hook.fired(self._directory)

    def _killed_at_any_moment(self, chance: random.Random) -> bool:
        threading.Event().wait(chance.uniform(0, START_S))
        found = processes.marked(str(self._directory))
        if found:
            os.kill(chance.choice(found).pid, signal.SIGKILL)
        return bool(found)

    def finish(self) -> str:
        """Returns what this run prints, which is not killed."""
        before = len(self.printed)
        job = self._started("--compact-after", "0")
        assert job.wait(TIMEOUT_S) == 0, self.printed[-5000:]
        return self.printed[before:]

    @property
    def printed(self) -> str:
        return (self._directory / "job.log").read_text()

    def _started(self, *flags: str) -> subprocess.Popen[bytes]:
        paths = [self.release, *map(str, local_job.SOURCE_ROOTS), os.environ.get("PYTHONPATH", "")]
        path = os.pathsep.join(filter(None, paths))
        arguments = [*self._arguments, *flags]
        log = self._directory / "job.log"
        return local_job.start(self._directory, log, *arguments, engine=self._engine, PYTHONPATH=path)


@pytest.mark.timeout(3_000)
@pytest.mark.parametrize(
    ("engine", "kills"),
    [
        pytest.param("local", 4, marks=pytest.mark.slow),
        pytest.param("local", 90, marks=pytest.mark.long),
        pytest.param("spark", 10, marks=[pytest.mark.long, pytest.mark.spark, pytest.mark.java]),
    ],
)
def test_what_a_killed_and_upgraded_export_wrote_is_exact(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, engine: str, kills: int
) -> None:
    chance = random.Random(kills)
    log, export = GrowingLog(kills, quorum), Killed(tmp_path, controller, engine)
    export.release = str(earlier_release(tmp_path / "earlier"))
    for number in range(kills):
        if number in (kills // 4, kills * 3 // 4):
            log.grow(RECORDS_PER_KILL)
            log.delete_all()
        log.grow(RECORDS_PER_KILL)
        if number == kills // 2:
            assert "not known from offset" in export.printed or "does not know" in export.printed
            assert any(one.counts["unknown"] for one in Output(export.output).manifests())
            export.release = ""
        export.kill(number, chance)
    assert "Error" not in export.finish()
    assert kills <= len(KILLS) or len(export.done) == len(KILLS), "it was killed at each step"
    print(f"{export.done.total()} kills of {engine}: {dict(export.done)}; {log.end} offsets")
    batches = Output(export.output).manifests()
    assert sum(batch.snapshot for batch in batches) == 2
    assert not any(map(is_due, batches))
    log.exported_without_a_kill(tmp_path / "anew", batches)
    for table in table_schemas():
        found, expected = (
            read_table(where, table).to_pylist() for where in (export.output, tmp_path / "anew" / "raw")
        )
        assert found == expected, table
    for table in SCHEMAS:
        assert rows_of(export.output / DIRECTORY, table) == rows_of(tmp_path / "anew" / "history", table), (
            table
        )
    check_history(export.output, tmp_path / "once-more")
    reasons = read_versions(export.output / DIRECTORY, "not_known").column("reason").unique().to_pylist()
    assert len(reasons) > 1, "the log has records that are not understood to the end"
