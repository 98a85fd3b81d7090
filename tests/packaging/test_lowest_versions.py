"""The lower bounds of pyproject.toml work: the suite runs with the versions of requirements-lowest.lock.

Needs a package index. The lowest Spark, half a gigabyte, is in tests/spark/test_installed_exporter.py.
"""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.timeout(1200)]

ROOT = Path(__file__).resolve().parents[2]

LEFT_OUT = ("pyspark", "py4j")

MARKERS = "not java and not interop and not spark and not slow and not browser and not wheel and not long"

SUITE = (
    "tests/clients",
    "tests/image",
    "tests/protocol",
    "tests/security",
    "tests/server/security",
    "tests/storage",
    "tests/spark",
)
"""What calls a dependency: checksums, certificates, tokens, rules for subjects, loops, tables, reports."""


@pytest.fixture(scope="module")
def lowest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the lowest versions, and with this one's pytest behind them."""
    directory = tmp_path_factory.mktemp("lowest")
    pins = re.split(r"\n(?=\w)", (ROOT / "requirements-lowest.lock").read_text().rstrip())
    lock = directory / "requirements.lock"
    lock.write_text("\n".join(pin for pin in pins if not pin.startswith(LEFT_OUT)) + "\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory / "venv"], check=True)
    python = directory / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps"]
    subprocess.run([*install, "--only-binary", ":all:", "--require-hashes", "-r", str(lock)], check=True)
    purelib = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    Path(purelib, "the-tests.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return python


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KRAFTCTL_", "PYTHON"))}
    return {**kept, **variables}


def test_the_suite_runs_with_them(lowest: Path) -> None:
    sources = os.pathsep.join(str(ROOT / root) for root in (".", "protocol", "spark"))
    variables = environment(
        PYTHONPATH=sources,
        KRAFTCTL_UNDER_TEST="sources",
        KRAFTCTL_TEST_EFFORT="0.1",
        KRAFTCTL_TEST_PORTS=os.environ.get("KRAFTCTL_TEST_PORTS", "30000-31000"),
    )
    command = [str(lowest), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", MARKERS, *SUITE]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]


def test_the_wheel_is_built_with_them(lowest: Path, tmp_path: Path) -> None:
    """By the lowest setuptools, without compiling."""
    for name in ("kraftctl", "protocol", "spark", "native", "pyproject.toml", "setup.py", "MANIFEST.in",
                 "README.md", "ARCHITECTURE.md", "CHANGELOG.md"):  # fmt: skip
        (tmp_path / name).symlink_to(ROOT / name)
    build = "import setuptools.build_meta as b; print(b.build_wheel('dist'))"
    subprocess.run(
        [str(lowest), "-c", build], cwd=tmp_path, env=environment(KRAFTCTL_PURE="1"), check=True, timeout=300
    )
    assert len(list(tmp_path.glob("dist/kraftctl-*-py3-none-any.whl"))) == 1
