"""Writes a bill of materials (CycloneDX) of what kraftctl runs with: the lock file, its hashes, and licences.

`make sbom`, or `sbom.py LOCK FILE`. Hashes are those of every file that may be installed, one per platform.
"""

from __future__ import annotations

import sys
import tomllib
import uuid
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import kraftctl
from tests.supply_chain.licences import RULES, licence_of
from tests.supply_chain.locked_distributions import ROOT, Locked, read_lock


def bill_of_materials(lock: Path, version: str = kraftctl.__version__) -> Bom:
    """kraftctl, the distributions of the lock file, and which of them requires which."""
    locked = {each.name: each for each in read_lock(lock)}
    components = {name: _component(each) for name, each in locked.items()}
    own = Component(
        name="kraftctl",
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref=f"kraftctl@{version}",
        purl=PackageURL("pypi", name="kraftctl", version=version),
    )
    bill = Bom(components=components.values(), serial_number=uuid.uuid5(uuid.NAMESPACE_URL, lock.read_text()))
    bill.metadata.component = own
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bill.register_dependency(own, [components[name] for name in _required(project["dependencies"], locked)])
    for name, each in locked.items():
        installed = each.installed()
        required = _required((installed.requires if installed else None) or [], locked)
        bill.register_dependency(components[name], [components[other] for other in required])
    return bill


def _component(locked: Locked) -> Component:
    installed = locked.installed()
    licence = licence_of(installed, tomllib.loads(RULES.read_text())["spelled"]) if installed else ""
    return Component(
        name=locked.name,
        version=locked.version,
        bom_ref=f"{locked.name}@{locked.version}",
        purl=PackageURL("pypi", name=locked.name, version=locked.version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in locked.sha256s],
        licenses=[LicenseExpression(licence)] if licence else [],
    )


def _required(requirements: list[str], locked: dict[str, Locked]) -> list[str]:
    """Those of the requirements that are locked; extras are not."""
    parsed = [Requirement(text) for text in requirements]
    names = [
        canonicalize_name(each.name)
        for each in parsed
        if each.marker is None or each.marker.evaluate({"extra": ""})
    ]
    return sorted(name for name in names if name in locked)


def main() -> int:
    lock, file = Path(sys.argv[1]), Path(sys.argv[2])
    file.parent.mkdir(parents=True, exist_ok=True)
    bill = bill_of_materials(lock)
    file.write_text(JsonV1Dot6(bill).output_as_string(indent=2) + "\n")
    print(f"{file}: kraftctl {kraftctl.__version__} and {len(bill.components)} distributions of {lock.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
