"""`make test-matrix`: Kafka's releases with kraftctl, and the tables of docs/versions.md.

`run.py` runs all parts, one after the other; `run.py levels every_tool` those. The tables are written once
every part has passed since `build/matrix` was removed. Status 1 if a part failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.matrix.page import page
from tests.matrix.releases import RELEASES
from tests.matrix.results import ROOT, forget, is_complete, passed, publish
from tests.support.processes.class_archive import ensure_archive

PARTS = {
    "levels": "brokers of each release at each of their levels",
    "one_cluster": "brokers of all releases in one cluster",
    "rolling_upgrade": "three brokers from 3.9 to 4.4 and back where Kafka allows, under load",
    "directories": "one directory used by Kafka's controllers and kraftctl in turn",
    "every_tool": "the tools of the latest release, with kraftctl and with Kafka's controller",
}


def run(part: str) -> bool:
    forget(part)
    command = [sys.executable, "-m", "pytest", "-q", "-s", f"tests/matrix/{part}.py"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    wanted = parser.parse_args().parts or list(PARTS)
    if unknown := [part for part in wanted if part not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    for release in RELEASES:
        ensure_archive(release)
    failed = []
    for part in wanted:
        print(f"{part}: {PARTS[part]}", flush=True)
        if run(part):
            passed(part)
        else:
            failed.append(part)
    if failed:
        print(f"matrix: FAILED: {', '.join(failed)}")
        return 1
    if is_complete(list(PARTS)):
        publish(page())
        print("matrix: all passed; docs/versions.md is written")
    else:
        print("matrix: all passed; docs/versions.md stays, since other parts have no result")
    return 0


if __name__ == "__main__":
    sys.exit(main())
