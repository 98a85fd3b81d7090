"""What hosts and editors read of this repository says what the Makefile and pyproject.toml say."""

from __future__ import annotations

import configparser
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = (ROOT / "Makefile").read_text()


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def test_hooks_run_what_make_check_runs_and_fetch_nothing() -> None:
    repositories = read(".pre-commit-config.yaml")["repos"]
    assert [each["repo"] for each in repositories] == ["local"]
    check = MAKEFILE.partition("\ncheck:")[2].partition("\n\n")[0].replace("$(BIN)", ".venv/bin")
    for hook in repositories[0]["hooks"]:
        assert hook["language"] == "system"
        assert hook["entry"].replace(" --force-exclude", "") in check


def test_the_workflow_runs_what_ci_runs() -> None:
    (job,) = read(".github/workflows/ci.yml")["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    used = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
    assert {each.partition("/")[0] for each in used} == {"actions"}


def test_editors_have_the_limits_of_the_checks() -> None:
    settings = configparser.ConfigParser(delimiters=("=",))
    settings.read_string(
        re.sub(r"^root = true$", "", (ROOT / ".editorconfig").read_text(), flags=re.MULTILINE)
    )
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]
    assert settings["*"]["max_line_length"] == str(ruff["line-length"])
    assert settings["Makefile"]["indent_style"] == "tab"
