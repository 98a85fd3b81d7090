"""Builds a Debian package of the wheel of a release, beside it: dpkg-deb alone is needed.

`make deb`, or `python -m tests.supply_chain.debian_package DIRECTORY`.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.supply_chain.package_tree import CONFFILE, PACKAGES, PYTHON, copy, fill, origin
from tests.supply_chain.release import write_checksums

UNITS = "lib/systemd/system"
SCRIPTS = ("postinst", "prerm", "postrm")

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
    version, seconds = origin(directory)
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout.strip()
    target = directory / f"kraftctl_{version}_{architecture}.deb"
    mask = os.umask(0o022)
    try:
        with TemporaryDirectory() as made:
            root = Path(made, "root")
            fill(root, directory, UNITS)
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
                copy(PACKAGES / name, control / name, 0o755)
            command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(target)]
            environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds)}
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    finally:
        os.umask(mask)
    write_checksums(directory)
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    print(build(parser.parse_args().directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
