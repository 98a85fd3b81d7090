"""`make soak` reports each find with its seed and the command that repeats it, and ends with status 1."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak import rounds
from tests.soak.run import ROOT, SOAKS, Soak, chosen, run


def test_every_soak_is_there() -> None:
    """Every named test exists; a missing script fails as soon as the soak is run."""
    paths = [word for soak in SOAKS for word in soak.command[1:] if word.startswith("tests/")]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_soaks_are_chosen_by_name() -> None:
    assert chosen([]) == list(SOAKS)
    assert [soak.name for soak in chosen(["export", "raft"])] == ["raft", "export"]
    with pytest.raises(SystemExit, match="no such soak: nonsense"):
        chosen(["nonsense"])


def test_runs_with_neighbouring_seeds_have_no_seed_in_common() -> None:
    assert rounds.first_seed(0, 0) == 0
    assert rounds.first_seed(1, 0) == rounds.first_seed(0, rounds.ROUNDS_PER_SEED)
    assert rounds.first_seed(3, 5) - rounds.first_seed(3, 4) == rounds.SEEDS_PER_ROUND


def a_test(tmp_path: Path, body: str) -> list[str]:
    """The files that pytest needs to run a test with three seeds at an effort of 1."""
    file = tmp_path / "test_one.py"
    file.write_text(
        f"import sys\nsys.path.append({str(ROOT)!r})\n"
        "import pytest\nfrom tests.support.effort import seeds\n"
        f'@pytest.mark.parametrize("seed", seeds(3))\ndef test_one(seed):\n    {body}\n'
    )
    return ["-c", str(ROOT / "pyproject.toml"), str(file)]


def test_a_round_takes_as_many_seeds_as_its_effort_says(tmp_path: Path) -> None:
    tests = a_test(tmp_path, "assert 5_000 <= seed < 5_006")
    assert rounds.run_round(tests, 5_000, effort=2) == (6, "")


def test_what_fails_is_repeated_by_the_line_that_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = a_test(tmp_path, "assert seed != 5_004")
    passed, repeat = rounds.run_round(tests, 5_000, effort=2)
    assert passed == 0
    assert "assert 5004 != 5004" in capsys.readouterr().out
    words = shlex.split(repeat)
    assert words[-1].endswith("::test_one[5004]")
    again = [*words[: words.index(".venv/bin/pytest")], sys.executable, "-m", "pytest", *tests[:2]]
    ran = subprocess.run(["env", *again, "-k", "5004", tests[2]], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "1 failed, 5 deselected" in ran.stdout


def test_a_soak_ends_with_its_line_and_whether_it_was_sound() -> None:
    script = ("tests/soak/rounds.py", "--effort", "1", "tests/raft/test_high_watermark.py")
    outcome = run(Soak("short", "", script, sources=True), seed=3, minutes=0)
    assert outcome.sound
    assert outcome.line.endswith("seeds 3000000 to 3000999: nothing found")
    assert not run(Soak("absent", "", ("tests/soak/absent.py",)), seed=3, minutes=0).sound
