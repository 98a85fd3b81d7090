"""Without a C compiler the sources are installed, and one line says what that costs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

COMPILING = "compiling kraftctl"
NOT_COMPILED = "kraftctl is not compiled, and needs several times the processor time: "
REFUSED = "kraftctl cannot be compiled: "

HAS_COMPILER = shutil.which("cc") is not None

CASES = [
    pytest.param({}, 0, COMPILING, id="as-it-is", marks=pytest.mark.skipif(not HAS_COMPILER, reason="no cc")),
    pytest.param(
        {"CC": "no-such-compiler"}, 0, f"{NOT_COMPILED}the C compiler `no-such-compiler`", id="absent"
    ),
    pytest.param({"CC": "false"}, 0, f"{NOT_COMPILED}the C compiler `false` fails", id="fails"),
    pytest.param({"CC": "/"}, 0, f"{NOT_COMPILED}the C compiler `/` cannot be run", id="no-program"),
    pytest.param({"CC": "false", "KRAFTCTL_PURE": "0"}, 1, REFUSED, id="has-to-be-compiled"),
    pytest.param({"KRAFTCTL_PURE": "1"}, 0, None, id="asked-for"),
    pytest.param({"CC": "false", "KRAFTCTL_PURE": "1"}, 0, None, id="asked-for-without-a-compiler"),
]


@pytest.mark.parametrize(("variables", "status", "said"), CASES)
def test_the_build_says_whether_it_compiles(variables: dict[str, str], status: int, said: str | None) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KRAFTCTL_", "CC"))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "check_compiler"],
        cwd=ROOT,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == status, done.stderr
    if said is None:
        assert done.stderr == ""
    else:
        assert done.stderr.startswith(said)
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_wheel_is_built_without_a_compiler(tmp_path: Path) -> None:
    """In seconds, and for every platform."""
    sources = tmp_path / "sources"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py", "*.toml",
              "*.md", "*.in", "*.h", "*.java", "*.sql", "*.typed", "*.css", "*.html", "*.js"]  # fmt: skip
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
        "\0"
    ):
        if name and not name.startswith("tests/") and (ROOT / name).exists():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, sources / name)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
    ]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KRAFTCTL_")}
    environment = {**kept, "CC": "no-such-compiler", "PYTHONSAFEPATH": "1"}
    subprocess.run([*command, str(sources)], check=True, env=environment, cwd=tmp_path, timeout=240)
    assert [wheel.name.split("-", 2)[2] for wheel in tmp_path.glob("*.whl")] == ["py3-none-any.whl"]
