"""`kraftctl completion` in a zsh and a fish that read it: installed, or unpacked from Debian's packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.support.processes.called_command import call_command

pytestmark = pytest.mark.long

PACKAGES = {"zsh": ("zsh", "zsh-common"), "fish": ("fish", "libpcre2-32-0")}
"""The packages of each shell, and the library that a small system lacks."""

ASK = {
    "zsh": """
[[ -n $2 ]] && fpath=($2/usr/share/zsh/functions/Misc) && module_path=($2/usr/lib/*-linux-*/zsh/*(/))
compdef() { [[ $* == "_python_argcomplete kraftctl" ]] || exit 8 }
_describe() { print -rl -- "${(@P)2%%:*}" }
source ./kraftctl.zsh || exit 9
words=(kraftctl) BUFFER=$1 CURSOR=${#1}
_python_argcomplete
""",
    "fish": """
source ./kraftctl.fish; or exit 9
for each in (complete -C $argv[1])
    string split -f 1 \\t -- $each
end
""",
}
"""Prints the words with which the shell completes its first argument; the second is where zsh is unpacked."""


class UnavailableShellError(Exception):
    """The shell is neither installed, nor to be had from apt-get."""


def environment_of(shell: str, place: Path) -> tuple[str, dict[str, str], str]:
    """The program, the variables that it needs, and the directory of its files if they were unpacked."""
    found = shutil.which(shell)
    if found is not None:
        return found, {}, ""
    if shutil.which("apt-get") is None:
        raise UnavailableShellError(f"no {shell} on the PATH, and no apt-get that fetches it")
    command = ["apt-get", "-qq", "download", *PACKAGES[shell]]
    if subprocess.run(command, cwd=place, capture_output=True).returncode != 0:
        raise UnavailableShellError(f"no {shell} on the PATH, and {' '.join(command)} fails")
    files = place / "files"
    for package in place.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(files)], check=True)
    (program,) = [*files.glob(f"bin/{shell}"), *files.glob(f"usr/bin/{shell}")]
    libraries = ":".join(str(path) for path in files.glob("usr/lib/*-linux-*"))
    return str(program), {"LD_LIBRARY_PATH": libraries}, str(files)


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_a_shell_completes_commands_flags_and_choices(shell: str, tmp_path: Path) -> None:
    try:
        program, variables, files = environment_of(shell, tmp_path)
    except UnavailableShellError as reason:
        warnings.warn(f"left out: {reason}", stacklevel=1)
        return
    kraftctl = tmp_path / "kraftctl"
    kraftctl.write_text(f'#!/bin/sh\nunset LD_LIBRARY_PATH\nexec "{sys.executable}" -m kraftctl "$@"\n')
    kraftctl.chmod(0o755)
    (tmp_path / f"kraftctl.{shell}").write_text(call_command("completion", shell).output)
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {**os.environ, **variables, "PATH": path, "HOME": str(tmp_path)}
    alone = {"zsh": ["-f"], "fish": ["--no-config"]}[shell]
    for line, words in {
        "kraftctl he": {"health"},
        "kraftctl health --oper": {"--operate", "--operate-token", "--operate-ca"},
        "kraftctl health --output ": {"json", "nagios", "text"},
        "kraftctl explain partition --dir": {"--directory"},
    }.items():
        done = subprocess.run(
            [program, *alone, "-c", ASK[shell], *([shell] if shell == "zsh" else []), line, files],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60.0,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert {word.strip() for word in done.stdout.splitlines()} == words
