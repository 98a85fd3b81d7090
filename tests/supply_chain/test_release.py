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
import tarfile
import zipfile
from pathlib import Path

import pytest

import kraftctl
from tests.supply_chain import dist_check
from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.release import (
    UNRELEASED,
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
    assert {each.name: each.read_bytes() for each in first.iterdir()} == {
        each.name: each.read_bytes() for each in second.iterdir()
    }
    assert re.fullmatch(KAFKAS_SOFTWARE_VERSION, version)
    has_everything(first, version)
    dist_check.check_release(first, ["*.whl"], locked=False)
    with (first / f"kraftctl-{version}.cdx.json").open("a") as bill:
        bill.write("\n")
    with pytest.raises(AssertionError, match="has changed"):
        dist_check.check_sums(first)


def has_everything(directory: Path, version: str) -> None:
    commit = read_commit("HEAD")
    assert {each.name.replace(version, "V") for each in directory.iterdir()} == {
        "SHA256SUMS",
        "kraftctl-V-py3-none-any.whl",
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
        pytest.param((), (), "0.2.0.dev7", id="between-releases"),
        pytest.param((), ("v0.1.0",), "0.2.0.dev7", id="after-a-release"),
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
