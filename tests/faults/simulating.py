"""What the simulator says about a planted fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from tests.faults.hunt import ENOUGH, Hunt
from tests.faults.planting import BROKEN_EDIT, copied_sources, occurrences, plant
from tests.faults.simulated_fault import SimulatedFault
from tests.support.simulator.checks.invariants import INVARIANTS

SAFETY = frozenset(INVARIANTS) - {
    "EventuallyLeaderElected",
    "ValuesEventuallyAcked",
    "NotStuckInProspective",
    "ReconfigurationNotStuck",
    "EventuallyMetadataConverges",
    "NoIllegalState",
}
"""A cluster that breaks one of these from its start may work nevertheless, until something fails."""


@dataclass(frozen=True)
class Verdict:
    """`complaint` is empty if the fault was noticed as it should be."""

    fault: SimulatedFault
    hunt: Hunt
    complaint: str

    @property
    def noticed(self) -> bool:
        return not self.complaint

    def line(self) -> str:
        if self.complaint:
            return f"{self.fault.name}: {self.complaint}"
        hunt = self.hunt
        named = _named(hunt.found)[:150]
        return f"{self.fault.name}: {hunt.runs} runs ({self.fault.profile}), {hunt.seconds} s: {named}"


def _named(found: str) -> str:
    """The invariant; or where an assertion of the sources' own fails."""
    lines = found.strip().splitlines()
    places = [line.strip() for line in lines if line.startswith("  File ")]
    return f"{lines[-1]}, {places[-1]}" if places else lines[-1]


def verdict(fault: SimulatedFault) -> Verdict:
    """Plants it into a copy of the sources, and hunts for it there."""
    count = occurrences(fault.fault)
    if count != 1:
        return Verdict(fault, Hunt(), f"its text occurs {count} times in {fault.fault.file}, not once")
    with copied_sources() as sources:
        plant(fault.fault, sources)
        paths = [str(sources), str(sources / "protocol")]
        ran = subprocess.run(
            [sys.executable, "-m", "tests.faults.hunt", fault.profile, str(fault.runs_max)],
            cwd=sources,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    lines = ran.stdout.splitlines()
    if ran.returncode != 0 or not lines:
        return Verdict(fault, Hunt(), f"the hunt itself ended with status {ran.returncode}\n{ran.stdout}")
    hunt = Hunt(**json.loads(lines[-1]))
    return Verdict(fault, hunt, _complaint(fault, hunt))


def _complaint(fault: SimulatedFault, hunt: Hunt) -> str:
    if not hunt.found:
        return f"not noticed in {hunt.runs} runs ({fault.profile}), {hunt.seconds} s. {fault.fault.why}"
    if BROKEN_EDIT.search(hunt.found):
        return f"the run broke where an invariant should have failed\n{hunt.found}"
    if hunt.found.partition(":")[0] not in SAFETY and hunt.calm_end < ENOUGH:
        return f"no plausible defect: calm clusters commit {hunt.calm_end} records\n{hunt.found}"
    return ""
