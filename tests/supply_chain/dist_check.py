"""Installs each artefact of a release in an environment of its own, and uses what is in it.

`make dist-check`, or `python -m tests.supply_chain.dist_check DIRECTORY`. What the artefacts depend on is
installed from the lock files beside them, by hash. `--write PAGE` puts the table of artefacts there.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.supply_chain.artefact_table import Artefact, write_rows
from tests.supply_chain.installed_use import USES, clean_variables, run_controller
from tests.supply_chain.manylinux import PURE
from tests.supply_chain.release import ALL_LOCK, CHECKSUMS, RUN_LOCK

KINDS = ("*.whl", "*.tar.gz", "*.deb", "*.rpm")
UNPACKED_BY = {".deb": 'dpkg-deb -x "$0" .', ".rpm": 'rpm2cpio "$0" | cpio -idm --quiet'}
NAMES = {".whl": "wheel", ".gz": "sdist", ".deb": "Debian package", ".rpm": "RPM"}


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


def new_environment(directory: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
    return directory


def environment_of(directory: Path, lock: Path | None) -> Path:
    """A new environment with what the lock file names; without one, it sees that of this process."""
    new_environment(directory)
    if lock is None:
        purelib = Path(sysconfig.get_path("purelib", vars={"base": str(directory)}))
        (purelib / "of-the-tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    else:
        install(directory, ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(lock)])
    return directory


def unpack(package: Path, root: Path) -> None:
    """Unpacks a package of a distribution below `root`, and compiles its modules, as its script does."""
    command = ["sh", "-ec", UNPACKED_BY[package.suffix], str(package.absolute())]
    subprocess.run(command, check=True, cwd=root)
    environment = root / "usr/lib/kraftctl"
    subprocess.run([environment / "bin/python3", "-m", "compileall", "-q", environment / "lib"], check=True)


def install(directory: Path, arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(directory / "bin/python"), "install", "-q"]
    subprocess.run(
        [*command, *arguments],
        check=True,
        cwd=directory,
        env={**clean_variables(), "KRAFTCTL_PURE": "1"},
    )


def size_of(root: Path) -> int:
    """Bytes of all files, as they are; what is compiled at the first use counts, too."""
    return sum(path.lstat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def described(version: str, artefact: Path) -> str:
    """The version, and whether what a release has beside this artefact is compiled; an sdist is not."""
    is_pure = artefact.suffix == ".gz" or bool(list(artefact.parent.glob(f"*-{PURE}")))
    return f"{version}, {'uncompiled' if is_pure else 'compiled'}"


def check_artefact(artefact: Path, version: str, lock: Path | None) -> Artefact:
    """Installs it and runs a controller from it."""
    with TemporaryDirectory() as name:
        scratch, began = Path(name), time.monotonic()
        root = scratch / "root"
        if artefact.suffix in UNPACKED_BY:
            root.mkdir()
            unpack(artefact, root)
            program = root / "usr/bin/kraftctl"
        else:
            install(environment_of(root, lock), ["--no-deps", str(artefact)])
            program = root / "bin/kraftctl"
        seconds, size = time.monotonic() - began, size_of(root)
        leading = run_controller(str(program), version, scratch)
    about = described(version, artefact)
    return Artefact(NAMES[artefact.suffix], about, artefact.stat().st_size, size, seconds, leading)


def check_extra(extra: str, wheel: Path, version: str, lock: Path, tables: Path) -> Artefact:
    """Installs the wheel with one extra, as the lock of all extras says and by hash, and uses that."""
    with TemporaryDirectory() as name:
        scratch, began = Path(name), time.monotonic()
        root, wanted = new_environment(scratch / "root"), scratch / "requirements"
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        wanted.write_text(f"{wheel}[{extra}] --hash=sha256:{digest}\n")
        install(root, ["-r", str(wanted), "-c", str(lock), "--build-constraint", str(lock)])
        seconds, size = time.monotonic() - began, size_of(root)
        programs = root / "bin"
        leading = run_controller(
            str(programs / "kraftctl"),
            version,
            scratch,
            lambda address: USES[extra](programs, scratch, address, tables),
        )
    about = described(version, wheel)
    return Artefact(f"wheel with `{extra}`", about, wheel.stat().st_size, size, seconds, leading)


def check_release(
    directory: Path, kinds: Sequence[str] = KINDS, extras: Sequence[str] = (), *, locked: bool = True
) -> Iterator[Artefact]:
    """Yields each artefact after it was used. Raises AssertionError, or CalledProcessError of a command.
    The sdist is installed uncompiled.
    """
    check_sums(directory)
    lock = only(directory, f"kraftctl-*-{RUN_LOCK}").absolute()
    version = lock.name.removeprefix("kraftctl-").removesuffix(f"-{RUN_LOCK}")
    found = [path.absolute() for kind in kinds for path in sorted(directory.glob(kind))]
    assert found, f"{directory} has nothing to install"
    for artefact in found:
        yield check_artefact(artefact, version, lock if locked else None)
    with TemporaryDirectory() as tables:
        for extra in extras:
            wheel = only(directory, "kraftctl-*.whl").absolute()
            every = only(directory, f"kraftctl-*-{ALL_LOCK}").absolute()
            yield check_extra(extra, wheel, version, every, Path(tables, "tables"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--extras", nargs="*", default=list(USES), choices=list(USES), metavar="EXTRA")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="a page with a table of artefacts")
    arguments = parser.parse_args()
    rows = []
    for artefact in check_release(arguments.directory, extras=arguments.extras):
        print(artefact.line(), flush=True)
        rows.append(artefact)
    if arguments.write is not None:
        write_rows(arguments.write, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
