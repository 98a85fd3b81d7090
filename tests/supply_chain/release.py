"""Builds the artefacts of a release from one commit: sdist, wheel, bill of materials, provenance, SHA256SUMS.

`make release`, or `python -m tests.supply_chain.release --into DIRECTORY`. Two builds of one commit are
equal byte for byte: everything is made from `git archive`, and has the time of the commit. The version is
that of `kraftctl/__init__.py`, which ends in `.dev0`: the commit with the tag v0.1.0 is built as 0.1.0, and
every other one has its number of commits instead of the 0, and its hash.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cyclonedx.output.json import JsonV1Dot6

from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.manylinux import with_manylinux_tag
from tests.supply_chain.provenance import provenance
from tests.supply_chain.sbom import bill_of_materials

VERSION_FILE = "kraftctl/__init__.py"
VERSION_LINE = re.compile(r'^__version__ = "(.*)"$', re.MULTILINE)
UNRELEASED = ".dev0"
NOT_BUILT = (":!tests", ":!docs", ":!schemas")
"""Half of the tree; an sdist has none of it, and cibuildwheel tests with it."""
RUN_LOCK, ALL_LOCK, DEV_LOCK = "requirements-run.lock", "requirements-all.lock", "requirements-dev.lock"
"""In a release: what a controller runs with, and what all extras do, which is a copy of the last one."""
CHECKSUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Commit:
    """What is built."""

    hash: str
    tree: str
    seconds: int
    """When it was committed, since the epoch: SOURCE_DATE_EPOCH."""
    tags: tuple[str, ...]
    count: int
    """The number of commits up to this one."""


def read_commit(revision: str, repository: Path = ROOT) -> Commit:
    described = _git(repository, "log", "-1", "--format=%H %T %ct", revision).split()
    tags = _git(repository, "tag", "--points-at", revision, "--list", "v*").split()
    count = int(_git(repository, "rev-list", "--count", revision))
    return Commit(described[0], described[1], int(described[2]), tuple(tags), count)


def version_of(written: str, commit: Commit, all_tags: tuple[str, ...]) -> str:
    """The version of a build of this commit, whose sources say `written`. Exits if a tag contradicts it."""
    if not written.endswith(UNRELEASED):
        sys.exit(f"{VERSION_FILE} says {written}, without {UNRELEASED}: only `make release` takes that away")
    released = written.removesuffix(UNRELEASED)
    if commit.tags:
        if commit.tags != (f"v{released}",):
            sys.exit(f"{commit.hash[:10]} has the tag {' '.join(commit.tags)}, and {VERSION_FILE} {written}")
        return released
    if f"v{released}" in all_tags:
        sys.exit(f"v{released} is the tag of another commit. Next step: raise the version in {VERSION_FILE}")
    return f"{released}.dev{commit.count}+g{commit.hash[:10]}"


def export(commit: Commit, into: Path, left_out: Sequence[str] = ()) -> str:
    """Unpacks the commit, with its version written into it, which is returned."""
    packed = subprocess.run(
        ["git", "archive", "--format=tar", commit.hash, ".", *left_out],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(into, filter="data")
    file = into / VERSION_FILE
    text = file.read_text()
    (written,) = VERSION_LINE.findall(text)
    version = version_of(written, commit, tuple(_git(ROOT, "tag", "--list", "v*").split()))
    file.write_text(VERSION_LINE.sub(f'__version__ = "{version}"', text))
    return version


def environment(commit: Commit) -> dict[str, str]:
    """The variables of a build: nothing of them differs between two builds."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    fixed = {
        "SOURCE_DATE_EPOCH": str(commit.seconds),
        "PYTHONHASHSEED": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    return {**kept, **fixed, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def build_sdist(commit: Commit, source: Path, into: Path) -> Path:
    call = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    with TemporaryDirectory() as directory:
        _run([sys.executable, "-c", call, directory], source, environment(commit))
        (made,) = Path(directory).iterdir()
        target = into / made.name
        target.write_bytes(normalized(made.read_bytes(), commit.seconds))
    return target


def normalized(packed: bytes, seconds: int) -> bytes:
    """The same files in the order of their names, with one time, one owner, and modes without a umask."""
    into = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(packed)) as source,
        tarfile.open(fileobj=into, mode="w", format=tarfile.PAX_FORMAT) as target,
    ):
        for member in sorted(source.getmembers(), key=lambda each: each.name):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.linkname, plain.size = member.type, member.linkname, member.size
            plain.mtime = seconds
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            target.addfile(plain, source.extractfile(member) if member.isfile() else None)
    return gzip.compress(into.getvalue(), mtime=seconds)


def build_wheel(commit: Commit, sdist: Path, into: Path, requirements: Path | None) -> Path:
    """As a user's pip builds it from the sdist; with the packages of `requirements`, in isolation. mypy looks
    into the environment of that pip, too: it is a new one.
    """
    with TemporaryDirectory() as directory:
        with tarfile.open(sdist) as archive:
            archive.extractall(directory, filter="data")
        (source,) = Path(directory).iterdir()
        python, isolation = sys.executable, ["--no-build-isolation"]
        if requirements is not None:
            subprocess.run([sys.executable, "-m", "venv", Path(directory, "venv")], check=True)
            python = str(Path(directory, "venv/bin/python"))
            isolation = ["--no-index", "--find-links", str(requirements.absolute())]
        command = [python, "-m", "pip", "wheel", "-q", "--no-deps", *isolation, "-w", "wheel", "."]
        _run(command, source, environment(commit))
        (made,) = (source / "wheel").iterdir()
        return Path(shutil.copy(made, into / made.name))


def write_bill(commit: Commit, version: str, lock: Path, into: Path) -> None:
    bill = bill_of_materials(lock, version)
    bill.metadata.timestamp = datetime.datetime.fromtimestamp(commit.seconds, datetime.UTC)
    (into / f"kraftctl-{version}.cdx.json").write_text(JsonV1Dot6(bill).output_as_string(indent=2) + "\n")


def write_checksums(directory: Path) -> None:
    """In the format of `sha256sum -c`."""
    files = sorted(path for path in directory.iterdir() if path.name != CHECKSUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (directory / CHECKSUMS).write_text("".join(lines))


def release(revision: str, into: Path, requirements: Path | None = None) -> str:
    """Builds everything into an empty directory; returns the version."""
    commit = read_commit(revision)
    into.mkdir(parents=True, exist_ok=True)
    if any(into.iterdir()):
        sys.exit(f"{into} is not empty. Next step: move it away, or name another directory")
    mask = os.umask(0o022)
    try:
        with TemporaryDirectory() as directory:
            source = Path(directory, "source")
            version = export(commit, source, NOT_BUILT)
            locks = sorted(source.glob("requirements*.lock"))
            sdist = build_sdist(commit, source, into)
            with_manylinux_tag(build_wheel(commit, sdist, into, requirements), commit.seconds)
            write_bill(commit, version, source / RUN_LOCK, into)
            for lock, name in ((RUN_LOCK, RUN_LOCK), (DEV_LOCK, ALL_LOCK)):
                shutil.copy(source / lock, into / f"kraftctl-{version}-{name}")
            text = provenance(commit.hash, commit.tree, commit.seconds, version, locks, into)
            (into / f"kraftctl-{version}.provenance.json").write_text(text)
    finally:
        os.umask(mask)
    write_checksums(into)
    return version


def _git(repository: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=repository, check=True, capture_output=True, text=True
    ).stdout


def _run(command: list[str], directory: Path, variables: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=directory, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    parser.add_argument("--revision", default="HEAD")
    parser.add_argument(
        "--requirements", type=Path, help="a directory with the packages of requirements.lock"
    )
    parser.add_argument(
        "--export", type=Path, help="only unpack the commit there, with its version: cibuildwheel builds that"
    )
    arguments = parser.parse_args()
    if arguments.revision == "HEAD" and _git(ROOT, "status", "--porcelain"):
        print("what is not committed is not in this release", file=sys.stderr)
    if arguments.export is not None:
        print(f"{arguments.export}: kraftctl {export(read_commit(arguments.revision), arguments.export)}")
        return 0
    version = release(arguments.revision, arguments.into, arguments.requirements)
    print(f"{arguments.into}: kraftctl {version}")
    print((arguments.into / CHECKSUMS).read_text(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
