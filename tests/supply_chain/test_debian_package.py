"""The Debian package: below a scratch root it formats a directory and starts, and two builds are equal."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.supply_chain import dist_check
from tests.supply_chain.debian_package import CONFFILE, DEBIAN, SCRIPTS, build, debian_version
from tests.supply_chain.release import release


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_it_runs_below_a_scratch_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs a package index. The unit and the file of its command are where the package says."""
    monkeypatch.setenv("KRAFTCTL_PURE", "1")
    made = tmp_path / "made"
    version = release("HEAD", made)
    package = build(made)
    first = package.read_bytes()
    assert build(made).read_bytes() == first
    dist_check.check_release(made, ["*.deb"])
    assert output("dpkg-deb", "-f", package, "Version") == f"{debian_version(version)}\n"

    root, control = tmp_path / "root", tmp_path / "control"
    output("dpkg-deb", "-x", package, root)
    output("dpkg-deb", "-e", package, control)
    assert (control / "conffiles").read_text() == f"/{CONFFILE}\n"
    unit = (root / "lib/systemd/system/kraftctl.service").read_text()
    assert f"ExecStart=/usr/bin/kraftctl start /{CONFFILE}\n" in unit
    file = tmp_path / "controller.properties"
    file.write_text((root / CONFFILE).read_text().replace("/var/lib/kraftctl", str(tmp_path / "log")))
    program = root / "usr/bin/kraftctl"
    output(program, "format", "--standalone", "-t", dist_check.CLUSTER_ID, "-c", file)
    assert "ERROR" not in output(program, "start", "--check", "--offline", file)


@pytest.mark.parametrize("name", SCRIPTS)
def test_its_scripts_are_scripts_that_delete_no_log(name: str) -> None:
    text = (DEBIAN / name).read_text()
    assert text.startswith("#!/bin/sh\n")
    subprocess.run(["sh", "-n", DEBIAN / name], check=True)
    deleted = [line for line in text.splitlines() if "rm -" in line]
    assert all("__pycache__" in line for line in deleted), deleted
    assert "userdel" not in text


def test_a_build_between_releases_is_older_than_the_next() -> None:
    for older, newer in (("0.1.0.dev7", "0.1.0.dev12"), ("0.1.0.dev12", "0.1.0"), ("0.1.0", "0.2.0.dev13")):
        versions = debian_version(older), "lt", debian_version(newer)
        subprocess.run(["dpkg", "--compare-versions", *versions], check=True)
