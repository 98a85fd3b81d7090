"""Planting faults: a copy of the sources per defect, and the result of the named tests on it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.planted_fault import PlantedFault

ROOT = Path(__file__).resolve().parents[2]

COPIED = (
    *("deploy", "docs", "examples", "kraftctl", "kraftctl_codegen", "man", "protocol", "schemas"),
    *("spark", "tests", "Dockerfile", "Makefile", "docker-compose.yml", "mkdocs.yml", "pyproject.toml"),
    *(".ci", ".github", ".gitignore", ".pre-commit-config.yaml", "setup.py"),
    *(file.name for pattern in ("requirements*.lock", "*.md") for file in sorted(ROOT.glob(pattern))),
)

AT_A_TIME = 2
"""As the lanes: a core each."""

TESTS_FAILED = 1
"""Pytest's exit status; others mean that the tests could not even be run."""

BROKEN_EDIT = re.compile(
    r"\b(?:AttributeError|ImportError|IndentationError|ModuleNotFoundError|NameError|SyntaxError|TypeError"
    r"|UnboundLocalError)\b"
)
"""What a wrongly planted fault raises in any test: that does not show that the test notices the fault."""

EFFORT = "0.25"

REASON_CHARACTERS = "500"
"""Pytest's summary cuts the reason of a failure at the width of the terminal."""


@contextmanager
def copied_sources() -> Iterator[Path]:
    """A temporary copy, with hard links where the file system supports them."""
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="planted-fault-", dir=build) as name:
        for entry in COPIED:
            source, target = ROOT / entry, Path(name) / entry
            if source.is_dir():
                shutil.copytree(source, target, copy_function=_link)
            else:
                _link(str(source), str(target))
        yield Path(name)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def occurrences(fault: PlantedFault, sources: Path = ROOT) -> int:
    """How often the text that the fault replaces occurs."""
    return (sources / fault.file).read_text().count(fault.old)


def plant(fault: PlantedFault, sources: Path) -> None:
    """Plant it in `sources`, whose other files may be hard links to the tree's."""
    file = sources / fault.file
    broken = file.read_text().replace(fault.old, fault.new)
    file.unlink()
    file.write_text(broken)


def run_tests(sources: Path, tests: list[str]) -> tuple[int, str]:
    """Pytest's exit status and what it printed, up to the first failure."""
    paths = [str(sources), str(sources / "protocol"), str(sources / "spark")]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", *tests],
        cwd=sources,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "KRAFTCTL_UNDER_TEST": "sources",
            "KRAFTCTL_TEST_EFFORT": EFFORT,
            "KRAFTCTL_TEST_SEED": "0",
            "COLUMNS": REASON_CHARACTERS,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout


def complaint(fault: PlantedFault) -> str:
    """Empty when a test noticed the fault; otherwise the complaint, and what pytest printed."""
    if occurrences(fault) != 1:
        return (
            f"{fault.name}: its text occurs {occurrences(fault)} times in {fault.file}, not once."
            f" Next step: bring the entry in tests/faults in line with the code.\n{fault.old}"
        )
    with copied_sources() as sources:
        plant(fault, sources)
        status, printed = run_tests(sources, list(fault.tests))
    if status == 0:
        return f"{fault.name}: no test noticed. {fault.why}\n{printed}"
    reasons = re.findall(r"^(?:FAILED|ERROR) .*$", printed, re.MULTILINE)
    if status != TESTS_FAILED or not reasons or any(BROKEN_EDIT.search(reason) for reason in reasons):
        return f"{fault.name}: the tests broke (status {status}) where they should have failed.\n{printed}"
    return ""


def complaint_without_fault(faults: list[PlantedFault]) -> str:
    """Empty when all the named tests pass without a planted fault."""
    tests = sorted({test for fault in faults for test in fault.tests})
    with copied_sources() as sources:
        status, printed = run_tests(sources, tests)
    return "" if status == 0 else f"The tests fail although nothing is planted (status {status}).\n{printed}"
