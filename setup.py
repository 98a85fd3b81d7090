"""Compile the pure packages with mypyc; KRAFTCTL_PURE=1 asks for a build without a C compiler."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
PURE = os.environ.get("KRAFTCTL_PURE", "0") not in ("", "0")
METADATA_COMMANDS = {"egg_info", "dist_info", "sdist"}
"""What a build asks for before it builds: nothing of it depends on the extensions."""

GENERATED_GROUPS = 4
"""Shared objects that the generated messages are spread over: enough to keep two to four cores busy."""

CORE = {
    "kraftctl_controller": ("controller",),
    "kraftctl_raft": ("raft", "node_io", "node_registration", "node"),
    "kraftctl_image": ("metadata", "image", "config_values", "endpoints", "config", "request_context"),
}
"""What of `kraftctl` is pure and thus compiled, by shared object; the one that takes longest first."""


class ParallelBuildExt(build_ext):
    """One C compiler per core; setuptools alone would run them one after the other."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1


def sources_under(directory: Path) -> list[str]:
    """Every module below `directory`, relative to the root, in a stable order."""
    return sorted(str(path.relative_to(ROOT)) for path in directory.rglob("*.py"))


def module_or_package(name: str) -> list[str]:
    """The sources of `kraftctl.<name>`, be it one file or a directory."""
    module = ROOT / "kraftctl" / f"{name}.py"
    return [str(module.relative_to(ROOT))] if module.exists() else sources_under(ROOT / "kraftctl" / name)


def groups() -> list[tuple[list[str], str | None]]:
    """What is compiled together: (files, name of the shared object), as mypycify wants it."""
    protocol = sources_under(ROOT / "protocol" / "kraftctl_protocol")
    generated = [path for path in protocol if "/generated/" in path]
    by_hand = [path for path in protocol if "/generated/" not in path]
    found: list[tuple[list[str], str | None]] = [
        ([path for part in parts for path in module_or_package(part)], name) for name, parts in CORE.items()
    ]
    found += [(generated[n::GENERATED_GROUPS], f"kraftctl_messages_{n}") for n in range(GENERATED_GROUPS)]
    found.append((by_hand, "kraftctl_wire"))
    return [(files, name) for files, name in found if files]


def extensions() -> list[Any]:
    """One extension per module, over a few shared objects of native code."""
    if PURE or METADATA_COMMANDS.intersection(sys.argv):
        return []
    from mypyc.build import mypycify

    parts = groups()
    files = [path for group, _ in parts for path in group]
    # Without a cache: mypyc 2.4 loses attribute bitmaps of classes that it reads back from one.
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull]
    return mypycify(options + files, opt_level="1", debug_level="0", separate=parts)


setup(ext_modules=extensions(), cmdclass={"build_ext": ParallelBuildExt})
