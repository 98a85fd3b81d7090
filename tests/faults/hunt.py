"""`python -m tests.faults.hunt PROFILE RUNS_MAX`: runs seeds until one of them finds something.

Run it in a copy of the sources, with its PYTHONPATH. The last line is a JSON object, see `Hunt`.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import logging
import sys
import time

from tests.soak.simulate import complaint
from tests.support.simulator.faults.plan import draw_plan
from tests.support.simulator.simulation import Simulation

ENOUGH = 10
"""Records that a calm cluster commits within seconds."""


@dataclasses.dataclass
class Hunt:
    """`found` is empty if no run complained. `calm_end` is how much a calm cluster commits nevertheless."""

    runs: int = 0
    seconds: float = 0.0
    found: str = ""
    calm_end: int = 0


def hunt(profile: str, runs_max: int) -> Hunt:
    result = Hunt(calm_end=_calm_end())
    began = time.monotonic()
    while result.runs < runs_max and not result.found:
        result.runs += 1
        simulation = Simulation(draw_plan(result.runs, profile))
        result.found = complaint(simulation)
    result.seconds = round(time.monotonic() - began, 1)
    return result


def _calm_end() -> int:
    """Of three runs without faults, the best."""
    end = 0
    for seed in range(1, 4):
        simulation = Simulation(draw_plan(seed, "calm"))
        complaint(simulation)
        end = max(end, simulation.checks.committed_end)
        if end >= ENOUGH:
            break
    return end


def main() -> None:
    gc.set_threshold(100_000)
    logging.disable(logging.CRITICAL)
    print(json.dumps(dataclasses.asdict(hunt(sys.argv[1], int(sys.argv[2])))), flush=True)


if __name__ == "__main__":
    main()
