"""Builds a Debian package of the wheel of a release, beside it: dpkg-deb alone is needed.

`make deb`, or `python -m tests.supply_chain.debian_package DIRECTORY`. It has what kraftctl depends on, from
the lock file of the release, by hash: an environment in /usr/lib/kraftctl that runs below any root.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.supply_chain.dist_check import clean_variables, only
from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.release import RUN_LOCK, write_checksums

DEBIAN = ROOT / "deploy/debian"
UNIT = ROOT / "deploy/systemd/kraftctl.service"
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
CONFFILE = "etc/kraftctl/controller.properties"
SCRIPTS = ("postinst", "prerm", "postrm")

OF_PIP = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""What pip notes about its installation: paths of this machine. dpkg has its own list of files."""

CONTROL = """\
Package: kraftctl
Version: {version}
Architecture: {architecture}
Maintainer: The kraftctl authors <kraftctl@localhost>
Installed-Size: {kilobytes}
Depends: {python}, libc6 (>= {libc}), libstdc++6, passwd
Section: net
Priority: optional
Description: KRaft controller for unmodified Apache Kafka brokers
 A controller of the metadata quorum, its tools, and a systemd unit. After the
 installation, edit /etc/kraftctl/controller.properties, format the directory
 with kraftctl format, and start kraftctl.service.
"""


def build(directory: Path) -> Path:
    """Returns the package, which SHA256SUMS then has, too."""
    lock = only(directory, f"kraftctl-*-{RUN_LOCK}").absolute()
    wheel = only(directory, "kraftctl-*.whl").absolute()
    said = json.loads(only(directory, "kraftctl-*.provenance.json").read_text())
    version = debian_version(said["version"])
    architecture = _output("dpkg", "--print-architecture")
    target = directory / f"kraftctl_{version}_{architecture}.deb"
    mask = os.umask(0o022)
    try:
        with TemporaryDirectory() as made:
            root = Path(made, "root")
            _fill(root, lock, wheel)
            size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file())
            control = root / "DEBIAN"
            control.mkdir()
            (control / "control").write_text(
                CONTROL.format(
                    version=version,
                    architecture=architecture,
                    kilobytes=size // 1024,
                    python=PYTHON,
                    libc=platform.libc_ver()[1],
                )
            )
            (control / "conffiles").write_text(f"/{CONFFILE}\n")
            for name in SCRIPTS:
                _copy(DEBIAN / name, control / name, 0o755)
            seconds = {"SOURCE_DATE_EPOCH": str(said["source"]["SOURCE_DATE_EPOCH"])}
            subprocess.run(
                ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, target],
                check=True, env={**os.environ, **seconds}, stdout=subprocess.DEVNULL,
            )  # fmt: skip
    finally:
        os.umask(mask)
    write_checksums(directory)
    return target


def debian_version(version: str) -> str:
    """A build between releases is older than the next one: dpkg orders 0.1.0~dev7 before 0.1.0."""
    return version.replace(".dev", "~dev")


def _fill(root: Path, lock: Path, wheel: Path) -> None:
    environment = root / "usr/lib/kraftctl"
    packages = environment / f"lib/{PYTHON}/site-packages"
    packages.mkdir(parents=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-compile",
        "--target",
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
    _copy(DEBIAN / "kraftctl", root / "usr/bin/kraftctl", 0o755)
    _copy(UNIT, root / "lib/systemd/system" / UNIT.name, 0o644)
    _copy(DEBIAN / "controller.properties", root / CONFFILE, 0o640)


def _copy(source: Path, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    print(build(parser.parse_args().directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
