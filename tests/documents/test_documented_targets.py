"""Each target of make that a page names is run, in its smallest form; one that is red is a defect.

What CI itself calls is not run again. Programs that measure are only asked for their help here: their
measurements are in the tests that the table names.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests import lanes

ROOT = Path(__file__).resolve().parents[2]

SECONDS_MAX = 240

HELP = "--help"

CALLED_BY_CI = ("check", "licences", "sbom", "test")

TARGETS: dict[str, tuple[str, ...]] = {
    "attack": (f"ATTACK_ARGS={HELP}",),  # tests/attack
    "bench": (f"BENCH_ARGS={HELP}",),  # tests/bench/test_compare.py
    "bench-audit": (f"BENCH_ARGS={HELP}",),
    "bench-core": (f"BENCH_ARGS={HELP}",),
    "bench-export": (f"BENCH_ARGS={HELP}",),  # tests/bench/test_export.py
    "bench-failover": (f"BENCH_ARGS={HELP}",),  # tests/bench/test_failover.py
    "bench-full": (f"BENCH_ARGS={HELP}",),  # tests/bench/test_compare.py
    "bench-publish": (f"BENCH_ARGS={HELP}",),
    "bench-scale": (f"BENCH_ARGS={HELP}",),  # tests/bench/test_scale.py
    "bench-ssl": (f"BENCH_ARGS={HELP}",),
    "build": (),
    "differential": (f"DIFFERENTIAL_ARGS={HELP}",),  # tests/interop/test_differential.py
    "export-demo": (f"DEMO_ARGS={HELP}",),  # tests/spark/test_export_demo.py
    "faults": ("FAULTS=two-votes-in-an-epoch",),
    "fuzz": ("FRAMES=100", "FUZZ=requests"),
    "setup": (),
    "simulate": ("RUNS=1", "SEED=4711", "PROFILE=quorum"),
    "reliability-report": (f"REPORT_ARGS={HELP}",),  # tests/chaos/test_report.py
    "simulate-faults": ("FAULTS=moved-voter-never-asks",),
    "soak": ("SOAK=raft", "SOAK_ARGS=--minutes 0.01"),
    "soak-export": (f"SOAK_ARGS={HELP}",),  # tests/spark/test_soak_export.py
    "test-chaos": (f"CHAOS_ARGS={HELP}",),  # tests/chaos/test_chaos.py
    "test-compiled": ("PYTEST_ARGS=-q tests/test_config.py",),
    "test-long": ("PYTEST_ARGS=--version",),  # tests/test_lanes.py
    "test-matrix": (f"MATRIX={HELP}",),  # tests/matrix/test_matrix.py
    "test-pure": ("PYTEST_ARGS=-q tests/test_config.py",),
}

ELSEWHERE = {
    "audit": "is red where no service can be asked; tests/supply_chain/test_audit.py",
    "deb": "tests/supply_chain/test_packages.py",
    "dev": "tests/documents/test_command_blocks.py",
    "dist-check": "tests/supply_chain/test_release.py",
    "release": "tests/supply_chain/test_release.py",
    "rpm": "tests/supply_chain/test_packages.py",
    "site": "tests/documents/test_site.py",
    "lock": "asks the package index for newer versions: a deliberate change, and not one of CI",
    "clean": "removes the environment in which the tests run",
    "format": "`make check` says what it would change",
    "generate": "`make check` says what it would change",
    "test-quick": "its lanes are lanes of `make test`, below",
}


def targets_of_the_pages() -> set[str]:
    """Of the Makefile's first lines, and of what is in code in all pages."""
    found = set(re.findall(r"^#   make ([\w-]+)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")]
    for page in [*pages, *(ROOT / "docs").rglob("*.md"), ROOT / "spark" / "README.md"]:
        found.update(re.findall(r"(?:`|^\$ )make ([a-z][\w-]*)", page.read_text(), re.MULTILINE))
    return found


def test_every_documented_target_is_run() -> None:
    assert targets_of_the_pages() - TARGETS.keys() - ELSEWHERE.keys() - set(CALLED_BY_CI) == set()


def test_ci_calls_the_others() -> None:
    called = (ROOT / ".ci" / "run").read_text()
    assert [
        name for name in CALLED_BY_CI if not re.search(rf"^make .*\b{name}\b", called, re.MULTILINE)
    ] == []


def test_make_test_has_the_lanes_of_make_test_quick() -> None:
    """With the same tests and effort, and other seeds."""
    lanes_of_test = {(lane.name, lane.arguments, lane.markers, lane.effort) for lane in lanes.TEST}
    assert {(lane.name, lane.arguments, lane.markers, lane.effort) for lane in lanes.QUICK} <= lanes_of_test


@pytest.mark.wheel
@pytest.mark.slow
@pytest.mark.timeout(SECONDS_MAX)
@pytest.mark.parametrize(
    ("target", "arguments"), [pytest.param(*each, id=each[0]) for each in TARGETS.items()]
)
def test_a_documented_target_ends_well(target: str, arguments: tuple[str, ...]) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KRAFTCTL_", "PYTHON"))}
    done = subprocess.run(
        ["make", "--no-print-directory", target, *arguments],
        cwd=ROOT,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert done.returncode == 0, done.stdout
