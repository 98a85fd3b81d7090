"""Installs each artefact of a release in an environment of its own, and runs a controller from it.

`make dist-check`, or `python -m tests.supply_chain.dist_check DIRECTORY`. What the artefacts depend on is
installed from the lock file beside them, by hash.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kraftctl.dev.ports import free_port
from tests.supply_chain.release import CHECKSUMS, RUN_LOCK
from tests.support.controller_properties import NODE_ID, controller_properties, properties_file

ACTIVE = "Becoming the active controller"
KINDS = ("*.whl", "*.tar.gz", "*.deb", "*.rpm")
UNPACKED_BY = {".deb": 'dpkg-deb -x "$0" .', ".rpm": 'rpm2cpio "$0" | cpio -idm --quiet'}
SECONDS_MAX = 60.0
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"


def only(directory: Path, pattern: str) -> Path:
    """Returns the one file of a release that has this name; ends the command if there is another number."""
    found = sorted(directory.glob(pattern))
    if len(found) != 1:
        are = ", ".join(path.name for path in found) or "no file"
        sys.exit(f"{directory} must have one {pattern} and has {are}. Next step: make release")
    return found[0]


def check_sums(directory: Path) -> None:
    """Every file has its line, and every line its file. Raises AssertionError."""
    lines = (directory / CHECKSUMS).read_text().splitlines()
    named = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    found = {path.name for path in directory.iterdir()} - {CHECKSUMS}
    assert named.keys() == found, f"{CHECKSUMS} has {sorted(named)}, the directory {sorted(found)}"
    for name, digest in named.items():
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest, f"{name} has changed"


def clean_variables() -> dict[str, str]:
    """The variables of this process without those that lead to the sources or to an environment."""
    left_out = ("PYTHON", "KRAFTCTL_", "VIRTUAL_ENV", "NOTIFY_SOCKET")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, "PATH": "/usr/bin:/bin", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def environment_of(directory: Path, lock: Path | None) -> Path:
    """A new environment with what the lock file names; without one, it sees that of this process."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    if lock is None:
        purelib = Path(sysconfig.get_path("purelib", vars={"base": str(directory)}))
        (purelib / "of-the-tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    else:
        install(directory, ["--only-binary", ":all:", "--require-hashes", "-r", str(lock)])
    return directory


def unpack(package: Path, root: Path) -> None:
    """Unpacks a package of a distribution below `root`, without its scripts."""
    command = ["sh", "-ec", UNPACKED_BY[package.suffix], str(package.absolute())]
    subprocess.run(command, check=True, cwd=root)


def install(directory: Path, arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(directory / "bin/python"), "install", "-q"]
    subprocess.run(
        [*command, "--no-deps", *arguments],
        check=True,
        cwd=directory,
        env={**clean_variables(), "KRAFTCTL_PURE": "1"},
    )


def run_controller(command: Sequence[str], version: str, scratch: Path) -> float:
    """Formats a directory, starts a controller, awaits that it leads, and stops it; returns the seconds until
    it led. `command` begins with that of kraftctl. Raises AssertionError.
    """
    variables = clean_variables()

    def said(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments], cwd=scratch, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert said("--version") == f"kraftctl {version}\n"
    port = free_port()
    properties = controller_properties(
        scratch / "data",
        address=f"localhost:{port}",
        static=True,
        more={"controller.quorum.voters": f"{NODE_ID}@localhost:{port}"},
    )
    file = str(properties_file(scratch, properties))
    said("format", "-t", CLUSTER_ID, "-c", file)
    began = time.monotonic()
    log = scratch / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "start", file], cwd=scratch, env=variables, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        seconds = _await_active(process, log, began)
        assert f"Starting kraftctl {version}:" in log.read_text()
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS_MAX) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()
    return seconds


def _await_active(process: subprocess.Popen[bytes], log: Path, began: float) -> float:
    while ACTIVE not in log.read_text():
        assert time.monotonic() - began < SECONDS_MAX, log.read_text()
        assert process.poll() is None, log.read_text()
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
    return time.monotonic() - began


def check_release(directory: Path, kinds: Sequence[str] = KINDS, *, locked: bool = True) -> None:
    """Raises AssertionError, or CalledProcessError of a command. The sdist is installed uncompiled."""
    check_sums(directory)
    lock = only(directory, f"kraftctl-*-{RUN_LOCK}").absolute()
    version = lock.name.removeprefix("kraftctl-").removesuffix(f"-{RUN_LOCK}")
    found = [path.absolute() for kind in kinds for path in sorted(directory.glob(kind))]
    assert found, f"{directory} has nothing to install"
    for artefact in found:
        with TemporaryDirectory() as scratch:
            began = time.monotonic()
            if artefact.suffix in UNPACKED_BY:
                unpack(artefact, Path(scratch))
                program = Path(scratch, "usr/bin/kraftctl")
            else:
                environment = environment_of(Path(scratch, "venv"), lock if locked else None)
                install(environment, [str(artefact)])
                program = environment / "bin/kraftctl"
            seconds = time.monotonic() - began
            leading = run_controller([str(program)], version, Path(scratch))
        size = artefact.stat().st_size / 1e6
        print(f"{artefact.name}: {size:.1f} MB, installed in {seconds:.1f} s, leads after {leading:.1f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    check_release(parser.parse_args().directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
