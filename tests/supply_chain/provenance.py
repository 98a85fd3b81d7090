"""Says what an artefact was built from and by: commit, tree, lock files, interpreter, compiler, flags."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sysconfig
from importlib import metadata
from pathlib import Path

TOOLS = ("setuptools", "mypy", "librt", "sqlglot", "auditwheel")


def provenance(commit: str, tree: str, seconds: int, version: str, locks: list[Path], artefacts: Path) -> str:
    """JSON. Two builds with the same tools have the same: neither time, nor name of machine, nor path."""
    content = {
        "version": version,
        "source": {"commit": commit, "tree": tree, "SOURCE_DATE_EPOCH": seconds},
        "locks": {lock.name: _digest(lock) for lock in locks},
        "builder": {
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "platform": sysconfig.get_platform(),
            "libc": " ".join(platform.libc_ver()),
            "compiler": _compiler(),
            "tools": {name: metadata.version(name) for name in TOOLS},
            "KRAFTCTL_PURE": os.environ.get("KRAFTCTL_PURE", ""),
            "KRAFTCTL_OPT_LEVEL": os.environ.get("KRAFTCTL_OPT_LEVEL", "3"),
        },
        "artefacts": {path.name: _digest(path) for path in sorted(artefacts.iterdir())},
    }
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _compiler() -> str:
    command = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    try:
        said = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    return said.partition("\n")[0]


def _digest(file: Path) -> str:
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
