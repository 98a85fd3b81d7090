"""`make test-matrix`: Kafka's releases with kraftctl, and the tables of docs/versions.md.

`run.py` runs all parts, one after the other; `run.py levels every_tool` those. The tables of a part are
written when it has passed. Status 1 if one failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.matrix.page import text_of
from tests.matrix.results import ROOT, forget, publish

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
    failed = []
    for part in wanted:
        print(f"{part}: {PARTS[part]}", flush=True)
        if run(part):
            publish(part, text_of(part))
        else:
            failed.append(part)
    print(f"matrix: FAILED: {', '.join(failed)}" if failed else "matrix: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
