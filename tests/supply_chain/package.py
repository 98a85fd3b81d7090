"""Builds a package of the wheel of a release, beside it, which SHA256SUMS then has, too.

`make deb` and `make rpm`, or `python -m tests.supply_chain.package KIND DIRECTORY`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.supply_chain import debian_package, rpm_package
from tests.supply_chain.package_tree import fill, origin
from tests.supply_chain.release import write_checksums

KINDS: Final = {
    "deb": (debian_package.UNITS, debian_package.pack),
    "rpm": (rpm_package.UNITS, rpm_package.pack),
}
"""The folder of systemd's units, and what packs a tree."""

TOOLS: Final = {"deb": ("dpkg", "dpkg-deb"), "rpm": ("rpmbuild",)}


def check_tools(kind: str) -> None:
    """Exits if a program of this kind is missing: it takes a minute until it is needed."""
    missing = [tool for tool in TOOLS[kind] if shutil.which(tool) is None]
    if missing:
        are, package = " and ".join(missing), {"deb": "dpkg", "rpm": "rpm"}[kind]
        sys.exit(f"make {kind} needs {are} on the PATH. Next step: install the package {package}")


def build(kind: str, directory: Path) -> Path:
    check_tools(kind)
    units, pack = KINDS[kind]
    version, seconds = origin(directory)
    mask = os.umask(0o022)
    try:
        with TemporaryDirectory() as made:
            root = Path(made, "root")
            fill(root, directory, units)
            target = Path(shutil.copy(pack(root, Path(made), version, seconds), directory))
    finally:
        os.umask(mask)
    write_checksums(directory)
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=list(KINDS))
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    print(build(arguments.kind, arguments.directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
