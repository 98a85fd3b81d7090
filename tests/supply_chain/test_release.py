"""A release of this commit: two builds are equal, and what they made runs in an environment of its own.

Uncompiled, with the build tools and dependencies of the tests: `make release dist-check` takes those of the
lock files, by hash.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

import kraftctl
from tests.supply_chain import dist_check
from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.release import (
    UNRELEASED,
    VERSION_LINE,
    Commit,
    normalized,
    read_commit,
    release,
    version_of,
)

KAFKAS_SOFTWARE_VERSION = r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?"
"""What a broker accepts in ApiVersions (KIP-511)."""

AT = 1_800_000_000


@pytest.mark.slow
def test_two_builds_are_equal_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two umasks and time zones, in directories of other names; then the wheel leads a quorum."""
    monkeypatch.setenv("KRAFTCTL_PURE", "1")
    first, second = tmp_path / "first", tmp_path / "the" / "second"
    version = release("HEAD", first)
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    mask = os.umask(0o077)
    release("HEAD", second)
    os.umask(mask)
    assert different(first, second) == []
    assert str(Version(version)) == version
    has_everything(first, version)
    (used,) = dist_check.check_release(first, ["*.whl"], locked=False)
    assert used.name == "wheel"
    with (first / f"kraftctl-{version}.cdx.json").open("a") as bill:
        bill.write("\n")
    with pytest.raises(AssertionError, match="has changed"):
        dist_check.check_sums(first)


COMPILER = """#!/bin/sh
for word; do shift; [ "$word" != -O3 ] || word=-O0; set -- "$@" "$word"; done
exec cc "$@"
"""
"""As a release, with link-time optimisation, but for the level, which takes most of the time."""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(5400)
def test_two_compiled_builds_are_equal(tmp_path: Path) -> None:
    """As `make release`, in two clones at the same time, with two TMPDIR. Needs a package index.

    `make test-long OPT_LEVEL=3` optimises as a release, which takes several times as long.
    """
    requirements = tmp_path / "requirements"
    fixed = {"KRAFTCTL_PURE": "0", "KRAFTCTL_OPT_LEVEL": "3", "PYTHONPATH": ".:protocol:spark"}
    if os.environ.get("KRAFTCTL_OPT_LEVEL") != "3":
        compiler = tmp_path / "cc"
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        fixed["CC"] = str(compiler)
    pip = (sys.executable, "-m", "pip", "download", "-q", "--require-hashes")
    subprocess.run([*pip, "-r", ROOT / "requirements.lock", "-d", requirements], check=True)
    builds, made = [], []
    for name, umask in (("one", "022"), ("another/with/a/longer/name", "077")):
        clone, temporary = tmp_path / name, tmp_path / f"temporary-{umask}"
        temporary.mkdir()
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        build = f"{sys.executable} -m tests.supply_chain.release --requirements {requirements}"
        variables = {**os.environ, **fixed, "TMPDIR": str(temporary)}
        command = ["sh", "-c", f"umask {umask}; exec {build}"]
        builds.append(subprocess.Popen(command, cwd=clone, env=variables))
        made.append(clone / "dist")
    assert [build.wait() for build in builds] == [0, 0]
    assert different(*made) == []
    (wheel,) = made[0].glob("kraftctl-*-manylinux*.whl")
    assert str(tmp_path).encode() not in b"".join(members(wheel).values())


def members(file: Path) -> dict[str, bytes]:
    """What is in a wheel; another file has itself."""
    if file.suffix != ".whl":
        return {file.name: file.read_bytes()}
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def different(first: Path, second: Path) -> list[str]:
    """The files that differ, as exactly as a wheel lets say it."""
    assert {each.name for each in first.iterdir()} == {each.name for each in second.iterdir()}
    found = []
    for file in sorted(first.iterdir()):
        one, other = members(file), members(second / file.name)
        names = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
        if file.read_bytes() != (second / file.name).read_bytes():
            found += [f"{file.name}: {name}" for name in names or ["order, times or modes"]]
    return found


def has_everything(directory: Path, version: str) -> None:
    commit = read_commit("HEAD")
    assert {each.name.replace(version, "V") for each in directory.iterdir()} == {
        "SHA256SUMS",
        "kraftctl-V-py3-none-any.whl",
        "kraftctl-V-requirements-all.lock",
        "kraftctl-V-requirements-run.lock",
        "kraftctl-V.cdx.json",
        "kraftctl-V.provenance.json",
        "kraftctl-V.tar.gz",
    }
    said = json.loads((directory / f"kraftctl-{version}.provenance.json").read_text())
    assert said["source"] == {"commit": commit.hash, "tree": commit.tree, "SOURCE_DATE_EPOCH": commit.seconds}
    assert said["artefacts"].keys() < {each.name for each in directory.iterdir()}
    assert len(said["locks"]) == len(list(ROOT.glob("requirements*.lock")))
    bill = json.loads((directory / f"kraftctl-{version}.cdx.json").read_text())
    assert bill["metadata"]["component"]["version"] == version
    with zipfile.ZipFile(directory / f"kraftctl-{version}-py3-none-any.whl") as wheel:
        assert f"Version: {version}\n" in wheel.read(f"kraftctl-{version}.dist-info/METADATA").decode()
        assert f'__version__ = "{version}"\n' in wheel.read("kraftctl/__init__.py").decode()
    with tarfile.open(directory / f"kraftctl-{version}.tar.gz") as sdist:
        assert {member.mtime for member in sdist} == {commit.seconds}


@pytest.mark.parametrize(
    ("tags", "all_tags", "expected"),
    [
        pytest.param((), (), "0.2.0.dev7+gaaaaaaaaaa", id="between-releases"),
        pytest.param((), ("v0.1.0",), "0.2.0.dev7+gaaaaaaaaaa", id="after-a-release"),
        pytest.param(("v0.2.0",), ("v0.1.0", "v0.2.0"), "0.2.0", id="released"),
        pytest.param(("v0.3.0",), ("v0.3.0",), None, id="tag-of-another-version"),
        pytest.param((), ("v0.2.0",), None, id="already-released"),
    ],
)
def test_the_version_is_that_of_the_tag(
    tags: tuple[str, ...], all_tags: tuple[str, ...], expected: str | None
) -> None:
    commit = Commit("a" * 40, "b" * 40, AT, tags, 7)
    if expected is None:
        with pytest.raises(SystemExit, match=r"v0\.\d\.0"):
            version_of("0.2.0.dev0", commit, all_tags)
    else:
        assert version_of("0.2.0.dev0", commit, all_tags) == expected


@pytest.mark.parametrize("version", ["0.1.0", "0.1.0.dev0", "0.1.0.dev7+gaaaaaaaaaa"])
def test_brokers_accept_what_it_says_of_itself(version: str) -> None:
    text = VERSION_LINE.sub(f'__version__ = "{version}"', Path(kraftctl.__file__).read_text())
    said: dict[str, tuple[str, str]] = {}
    exec(text, said)
    name, software_version = said["SOFTWARE"]
    assert name == "kraftctl"
    assert re.fullmatch(KAFKAS_SOFTWARE_VERSION, software_version)


def test_sources_that_no_release_was_made_from_say_so() -> None:
    """An archive without git, and a clone, have no number that a release has."""
    assert kraftctl.__version__.endswith(UNRELEASED)
    with pytest.raises(SystemExit):
        version_of("0.2.0", Commit("a" * 40, "b" * 40, AT, (), 7), ())


def test_an_archive_has_no_order_time_owner_or_umask() -> None:
    def packed(names: list[str], seconds: int, mode: int, uid: int) -> bytes:
        into = io.BytesIO()
        with tarfile.open(fileobj=into, mode="w:gz") as archive:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size, member.mtime, member.mode, member.uid, member.uname = 1, seconds, mode, uid, "me"
                archive.addfile(member, io.BytesIO(name.encode()))
        return into.getvalue()

    one, other = packed(["a", "b"], 1, 0o600, 0), packed(["b", "a"], 2, 0o664, 1000)
    assert one != other
    assert normalized(one, AT) == normalized(other, AT)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(normalized(one, AT)))) as archive:
        assert [(each.name, each.mtime, each.mode, each.uid) for each in archive] == [
            ("a", AT, 0o644, 0),
            ("b", AT, 0o644, 0),
        ]
