"""`make simulate-faults`: plants the faults that the simulator has to notice, two at a time.

`simulate.py` for all, `simulate.py NAME ...` for some, `simulate.py --list`. For each it reports after how
many runs and seconds which invariant named it. Status 1 if one was not noticed.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.faults.planting import AT_A_TIME
from tests.faults.simulated_fault import SimulatedFault
from tests.faults.simulating import Verdict, verdict
from tests.faults.simulator_catalogue import SIMULATED


def chosen(names: list[str]) -> list[SimulatedFault]:
    """In the order of the catalogue; all if none is named."""
    unknown = set(names) - {fault.name for fault in SIMULATED}
    if unknown:
        raise SystemExit(f"no such fault: {', '.join(sorted(unknown))}")
    return [fault for fault in SIMULATED if not names or fault.name in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="names, profiles and reasons only")
    parser.add_argument("--runs", type=int, default=None, help="not more than so many for each")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    faults = chosen(options.names)
    if options.runs is not None:
        faults = [replace(fault, runs_max=min(fault.runs_max, options.runs)) for fault in faults]
    if options.list:
        for fault in faults:
            print(f"{fault.name} ({fault.profile}): {fault.fault.why}")
        return 0
    began = time.monotonic()
    verdicts: list[Verdict] = []
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for found in pool.map(verdict, faults):
            verdicts.append(found)
            print(found.line(), flush=True)
    missed = sum(not found.noticed for found in verdicts)
    seconds = time.monotonic() - began
    print(f"{len(faults)} faults in {seconds:.0f} s: {len(faults) - missed} noticed, {missed} not")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
