"""Processes with an /etc/hosts of their own: the system's resolver gives them names with several addresses.

They run in a mount namespace, in which another file is mounted over it. That needs Linux and root.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

SECONDS_MAX = 20.0


def with_hosts(hosts: Path, command: list[str]) -> list[str]:
    """The command, for which `hosts` is /etc/hosts."""
    mounted = f"mount --bind {shlex.quote(str(hosts))} /etc/hosts && exec {shlex.join(command)}"
    return ["unshare", "--mount", "sh", "-c", mounted]


def write_hosts(file: Path, names: dict[str, list[str]]) -> Path:
    """Name -> addresses."""
    lines = [f"{address} {name}" for name, addresses in names.items() for address in addresses]
    file.write_text("127.0.0.1 localhost\n" + "".join(f"{line}\n" for line in lines))
    return file


@cache
def may_have_hosts() -> bool:
    """Whether this machine lets us do so."""
    with tempfile.TemporaryDirectory() as directory:
        hosts = write_hosts(Path(directory) / "hosts", {"one.example": ["127.0.0.1", "::1"]})
        ask = "import socket; print(len({each[4] for each in socket.getaddrinfo('one.example', 1)}))"
        try:
            done = subprocess.run(
                with_hosts(hosts, [sys.executable, "-c", ask]),
                capture_output=True,
                text=True,
                timeout=SECONDS_MAX,
                check=False,
            )
        except OSError:
            return False
        return done.stdout.strip() == "2"
