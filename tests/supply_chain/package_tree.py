"""Lays out what a Debian package and an RPM install: wheel, dependencies, command, unit, manual,
configuration.

The environment in /usr/lib/kraftctl has what the lock file of the release names, by hash, and runs below any
root.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.supply_chain.dist_check import only
from tests.supply_chain.installed_use import clean_variables
from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.release import RUN_LOCK

PACKAGES = ROOT / "deploy/packages"
UNIT = ROOT / "deploy/systemd/kraftctl.service"
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
MAN_PAGES = "usr/share/man/man1"
CONFFILE = "etc/kraftctl/controller.properties"

OF_PIP = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""What pip notes about its installation: paths of this machine. dpkg and rpm have lists of their own."""


def package_version(version: str) -> str:
    """A build between releases is older than the next one: 0.1.0~dev7 is ordered before 0.1.0."""
    return version.replace(".dev", "~dev")


def origin(directory: Path) -> tuple[str, int]:
    """The version of the release in a directory for packages, and SOURCE_DATE_EPOCH."""
    said = json.loads(only(directory, "kraftctl-*.provenance.json").read_text())
    return package_version(said["version"]), said["source"]["SOURCE_DATE_EPOCH"]


def fill(root: Path, directory: Path, units: str) -> None:
    """Makes the tree below `root` from the release in a directory; the unit is in the folder `units`."""
    lock = only(directory, f"kraftctl-*-{RUN_LOCK}").absolute()
    wheel = only(directory, "kraftctl-*.whl").absolute()
    environment = root / "usr/lib/kraftctl"
    packages = environment / f"lib/{PYTHON}/site-packages"
    packages.mkdir(parents=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        *("--no-deps", "--no-compile", "--target"),
        str(packages),
    ]
    for what in (["--only-binary", ":all:", "--require-hashes", "-r", str(lock)], [str(wheel)]):
        subprocess.run([*pip, *what], check=True, cwd=root, env=clean_variables())
        shutil.rmtree(packages / "bin", ignore_errors=True)
    for name in OF_PIP:
        for file in packages.glob(f"*.dist-info/{name}"):
            file.unlink()
    (environment / "bin").mkdir()
    (environment / "bin/python3").symlink_to(f"/usr/bin/{PYTHON}")
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    copy(PACKAGES / "kraftctl", root / "usr/bin/kraftctl", 0o755)
    copy(UNIT, root / units / UNIT.name, 0o644)
    copy(PACKAGES / "controller.properties", root / CONFFILE, 0o640)
    add_man_pages(root)


def add_man_pages(root: Path) -> None:
    """As `gzip -n` does, without name and time: two builds are equal."""
    folder = root / MAN_PAGES
    folder.mkdir(parents=True)
    for page in (ROOT / "man").glob("*.1"):
        packed = folder / f"{page.name}.gz"
        packed.write_bytes(gzip.compress(page.read_bytes(), mtime=0))
        packed.chmod(0o644)


def copy(source: Path, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)
