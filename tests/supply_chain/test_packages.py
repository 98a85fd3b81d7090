"""The Debian package and the RPM: below a scratch root they format and start, and two builds are equal."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.supply_chain import debian_package, dist_check, rpm_package
from tests.supply_chain.package_tree import CONFFILE, PACKAGES, package_version
from tests.supply_chain.release import release


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_they_run_below_a_scratch_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs a package index. Where rpmbuild is missing, only the Debian package is built."""
    monkeypatch.setenv("KRAFTCTL_PURE", "1")
    made = tmp_path / "made"
    version = release("HEAD", made)
    package = debian_package.build(made)
    assert output("dpkg-deb", "-f", package, "Version") == f"{package_version(version)}\n"
    output("dpkg-deb", "-e", package, tmp_path / "control")
    assert (tmp_path / "control" / "conffiles").read_text() == f"/{CONFFILE}\n"
    runs(package, debian_package.UNITS, tmp_path / "deb")
    first = package.read_bytes()
    assert debian_package.build(made).read_bytes() == first

    if shutil.which("rpmbuild") is not None:
        package = rpm_package.build(made)
        assert output("rpm", "-qp", "--qf", "%{VERSION}", package) == package_version(version)
        assert output("rpm", "-qpc", package) == f"/{CONFFILE}\n"
        runs(package, rpm_package.UNITS, tmp_path / "rpm")
        first = package.read_bytes()
        assert rpm_package.build(made).read_bytes() == first
    dist_check.check_release(made, ["*.deb", "*.rpm"])


def runs(package: Path, units: str, root: Path) -> None:
    """The unit names what is in the package; its configuration formats a directory and passes the checks."""
    root.mkdir()
    dist_check.unpack(package, root)
    unit = (root / units / "kraftctl.service").read_text()
    assert f"ExecStart=/usr/bin/kraftctl start /{CONFFILE}\n" in unit
    file = root / "controller.properties"
    file.write_text((root / CONFFILE).read_text().replace("/var/lib/kraftctl", str(root / "log")))
    program = root / "usr/bin/kraftctl"
    output(program, "format", "--standalone", "-t", dist_check.CLUSTER_ID, "-c", file)
    assert "ERROR" not in output(program, "start", "--check", "--offline", file)


@pytest.mark.parametrize("name", debian_package.SCRIPTS)
def test_their_scripts_are_scripts_that_delete_no_log(name: str) -> None:
    text = (PACKAGES / name).read_text()
    assert text.startswith("#!/bin/sh\n")
    subprocess.run(["sh", "-n", PACKAGES / name], check=True)
    deleted = [line for line in text.splitlines() if "rm -" in line]
    assert all("__pycache__" in line for line in deleted), deleted
    assert "userdel" not in text
    owned = [line for line in text.splitlines() if "chown" in line or "chmod" in line]
    assert all(line.startswith("            ") for line in owned), "an upgrade changes no owner and mode"


def test_a_build_between_releases_is_older_than_the_next() -> None:
    """Where there is no dpkg, only the text is compared."""
    assert package_version("0.1.0.dev7") == "0.1.0~dev7"
    if shutil.which("dpkg") is None:
        return
    for older, newer in (("0.1.0.dev7", "0.1.0.dev12"), ("0.1.0.dev12", "0.1.0"), ("0.1.0", "0.2.0.dev13")):
        subprocess.run(
            ["dpkg", "--compare-versions", package_version(older), "lt", package_version(newer)], check=True
        )
