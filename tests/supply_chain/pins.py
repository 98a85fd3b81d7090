"""Lists what the files of this repository fetch from elsewhere, and whether each says exactly what that is.

An image has the digest of its content, an action and a hook the hash of a commit, a distribution its
version and hashes. A command of pip takes what a lock file names by hash, or nothing from an index.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.supply_chain.locked_distributions import ROOT, read_lock

DIGEST = re.compile(r"\S+:\S+@sha256:[0-9a-f]{64}")
COMMIT = re.compile(r"\S+@[0-9a-f]{40}")
BY_HASH = ("--require-hashes", "--no-index")

FROM = re.compile(r"^FROM (?:--\S+ )?(\S+)(?: AS (\S+))?", re.MULTILINE)
IMAGE = re.compile(r"^\s*(?:- )?image: *[\"']?([^\s\"'#]+)", re.MULTILINE)
USES = re.compile(r"^\s*(?:- )?uses: *(\S+)", re.MULTILINE)
HOOK = re.compile(r"- repo: *(\S+)(?:\s+rev: *(\S+))?")
PIP = re.compile(r"^(?!\s*#).*(?:\bpip(?:\S*) |\$\(PIP\) )(?:install|download|wheel)\b.*", re.MULTILINE)

OF_A_USER = ("{{", "${", "kraftctl:")
"""A chart's image is a value, a base is an argument, and images of our own are built first."""

BY_TAG = ("prom/prometheus:v3.5.0", "grafana/grafana:12.1.0")
"""What watches a trial: no registry was asked for their digests."""


@dataclass(frozen=True)
class Pin:
    """What a file takes from elsewhere, and whether that is one thing for ever."""

    file: str
    text: str
    is_exact: bool


def sources(repository: Path = ROOT) -> list[str]:
    """The files of the repository but for its tests, and for what .gitignore leaves out."""
    ignored = {line.strip("/") for line in (repository / ".gitignore").read_text().splitlines()}
    found: list[str] = []
    for folder, names, files in os.walk(repository):
        names[:] = sorted(set(names) - ignored - {".git", "tests"})
        found += [Path(folder, name).relative_to(repository).as_posix() for name in sorted(files)]
    return found


def pins_of(name: str, text: str) -> Iterator[Pin]:
    """The pins of a file with this path and content. Lock files are read by `locked_pins`."""
    file = Path(name)
    if file.name.startswith(("Dockerfile", "Containerfile")) or file.suffix == ".dockerfile":
        stages = {stage for _, stage in FROM.findall(text)}
        for image in (image for image, _ in FROM.findall(text) if image not in stages | {"scratch"}):
            if image.startswith(OF_A_USER):
                continue
            yield Pin(name, image, DIGEST.fullmatch(image) is not None)
    if file.suffix in (".yml", ".yaml"):
        for image in IMAGE.findall(text):
            if not image.startswith(OF_A_USER) and image not in BY_TAG:
                yield Pin(name, image, DIGEST.fullmatch(image) is not None)
        for action in USES.findall(text):
            yield Pin(name, action, action.startswith("./") or COMMIT.fullmatch(action) is not None)
    if file.name == ".pre-commit-config.yaml":
        for repository, revision in HOOK.findall(text):
            yield Pin(
                name, repository, repository == "local" or re.fullmatch(r"[0-9a-f]{40}", revision) is not None
            )
    if file.name == "pyproject.toml":
        settings = tomllib.loads(text).get("tool", {}).get("cibuildwheel", {})
        for command in (value for value in settings.values() if isinstance(value, str)):
            if PIP.search(command):
                yield Pin(name, command, any(option in command for option in BY_HASH))
    if file.name.startswith(("Dockerfile", "Makefile")) or name.startswith((".ci/", ".github/")):
        for command in PIP.findall(text.replace("\\\n", " ")):
            yield Pin(name, command.strip(), any(option in command for option in BY_HASH))


def locked_pins(lock: Path) -> Iterator[Pin]:
    for each in read_lock(lock):
        yield Pin(lock.name, f"{each.name}=={each.version}", bool(each.sha256s))


def all_pins() -> list[Pin]:
    found: list[Pin] = []
    for name in sources():
        if re.fullmatch(r"requirements\S*\.lock", name):
            found += locked_pins(ROOT / name)
        elif Path(name).suffix not in (".png", ".svg"):
            found += pins_of(name, (ROOT / name).read_text(errors="replace"))
    return found
