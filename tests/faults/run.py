"""`make faults`: plants the faults of the catalogue, two at a time, and reports those that no test noticed.

`run.py` for all, `run.py NAME ...` for some, `run.py --list`. Status 1 if one was not noticed, or if the
tests fail without it.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.faults.catalogue import CATALOGUE
from tests.faults.planted_fault import PlantedFault
from tests.faults.planting import AT_A_TIME, complaint, complaint_without_fault


def chosen(names: list[str]) -> list[PlantedFault]:
    """In the order of the catalogue; all if none is named."""
    unknown = set(names) - {fault.name for fault in CATALOGUE}
    if unknown:
        raise SystemExit(f"no such fault: {', '.join(sorted(unknown))}")
    return [fault for fault in CATALOGUE if not names or fault.name in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="names and reasons only")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    faults = chosen(options.names)
    if options.list:
        for fault in faults:
            print(f"{fault.name}: {fault.why}")
        return 0
    began = time.monotonic()
    missed = 0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        sound = pool.submit(complaint_without_fault, faults)
        for fault, text in zip(faults, pool.map(complaint, faults), strict=True):
            missed += bool(text)
            print(text or f"{fault.name}: noticed", flush=True)
        unsound = sound.result()
    if unsound:
        print(unsound)
    seconds = time.monotonic() - began
    print(f"{len(faults)} faults in {seconds:.0f} s: {len(faults) - missed} noticed, {missed} not")
    return 1 if missed or unsound else 0


if __name__ == "__main__":
    sys.exit(main())
