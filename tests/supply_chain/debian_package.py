"""Packs the tree of a package for Debian: dpkg-deb alone is needed."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from tests.supply_chain.package_tree import CONFFILE, PACKAGES, PYTHON, copy

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


def pack(root: Path, made: Path, version: str, seconds: int) -> Path:
    """Returns the package of the tree, in `made`."""
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout.strip()
    target = made / f"kraftctl_{version}_{architecture}.deb"
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
    return target
