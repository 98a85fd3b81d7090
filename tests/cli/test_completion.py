"""`kraftctl completion`, in a bash that reads what it prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl.cli import COMMANDS
from kraftctl.cli.completion import command_in
from tests.support.processes.called_command import call_command

BASH = shutil.which("bash")

ASK = """
. "$1/kraftctl.bash" || exit 9
complete -p kraftctl | grep -q _python_argcomplete || exit 8
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9
read -ra COMP_WORDS <<<"$2"
[[ $2 == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete kraftctl "${COMP_WORDS[COMP_CWORD]}" ""
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the program, and with what its completion prints for bash."""
    directory = tmp_path_factory.mktemp("completion")
    program = directory / "kraftctl"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kraftctl "$@"\n')
    program.chmod(0o755)
    (directory / "kraftctl.bash").write_text(call_command("completion", "bash").output)
    return directory


def completions(installed: Path, line: str) -> set[str]:
    assert BASH is not None
    environment = {**os.environ, "PATH": f"{installed}:{os.environ['PATH']}"}
    done = subprocess.run(
        [BASH, "--norc", "-c", ASK, "bash", str(installed), line],
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60.0,
    )
    assert done.returncode == 0, done.stderr
    return {word.strip() for word in done.stdout.splitlines() if word.strip()}


def test_bash_completes_commands_flags_choices_and_files(installed: Path) -> None:
    assert completions(installed, "kraftctl ") >= COMMANDS.keys()
    assert completions(installed, "kraftctl he") == {"health"}
    assert completions(installed, "kraftctl health --oper") == {
        "--operate",
        "--operate-token",
        "--operate-ca",
    }
    assert completions(installed, "kraftctl health --output ") == {"json", "nagios", "text"}
    assert completions(installed, "kraftctl explain pa") == {"partition"}
    assert completions(installed, "kraftctl explain partition --dir") == {"--directory"}
    assert completions(installed, "kraftctl doctor kraftctl.b") == {"kraftctl.bash"}


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_each_shell_has_its_own_code(shell: str) -> None:
    called = call_command("completion", shell)
    assert (called.status, called.errors) == (0, "")
    assert ("__fish_kraftctl_complete" in called.output) == (shell == "fish")


def test_without_the_library_the_reason_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraftctl.cli.completion.IS_INSTALLED", False)
    called = call_command("completion", "bash")
    assert (called.status, called.output) == (1, "")
    assert re.search(r"not installed\. Next step: .* install '?argcomplete", called.errors)


@pytest.mark.parametrize(
    ("line", "command"),
    [("kraftctl ", None), ("kraftctl --version health -", "health"), ("", None), ("kraftctl sta", "sta")],
)
def test_the_command_of_a_line(line: str, command: str | None) -> None:
    assert command_in({"COMP_LINE": line}) == command


def test_no_command_but_this_loads_the_library() -> None:
    program = "import sys, kraftctl.cli.start, kraftctl.cli; print('argcomplete' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
