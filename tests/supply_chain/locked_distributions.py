"""What a lock file pins, and what is installed of it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.utils import canonicalize_name
from pip_requirements_parser import RequirementsFile

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Locked:
    """A distribution with the SHA-256 of each of its files; a marker may say it is not `wanted` here."""

    name: str
    version: str
    sha256s: tuple[str, ...]
    wanted: bool

    def installed(self) -> metadata.Distribution | None:
        """The installed distribution, if it has this version."""
        try:
            found = metadata.distribution(self.name)
        except metadata.PackageNotFoundError:
            return None
        return found if found.version == self.version else None


def read_lock(file: Path) -> list[Locked]:
    """The distributions of a lock file, each with one version and with hashes."""
    parsed = RequirementsFile.from_file(str(file))
    assert not [*parsed.options, *parsed.invalid_lines], f"{file} is no lock file"
    found = []
    for pin in parsed.requirements:
        assert pin.is_pinned, f"{file}: {pin.name} has no version"
        assert pin.hash_options, f"{file}: {pin.name} has no hash"
        hashes = tuple(text.removeprefix("sha256:") for text in pin.hash_options)
        wanted = pin.marker is None or pin.marker.evaluate()
        found.append(Locked(canonicalize_name(pin.name), str(pin.get_pinned_version), hashes, wanted))
    return found
