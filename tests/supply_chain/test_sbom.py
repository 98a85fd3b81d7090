"""The bill of materials names what requirements-run.lock installs, with every hash of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from cyclonedx.model.bom import Bom

import kraftctl
from tests.supply_chain.locked_distributions import ROOT


def test_the_bill_has_what_the_lock_file_has(tmp_path: Path) -> None:
    file = tmp_path / "sbom" / "kraftctl.cdx.json"
    command = [sys.executable, "-m", "tests.supply_chain.sbom", "requirements-run.lock", str(file)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60, env={**os.environ, "PYTHONSAFEPATH": ""})
    bill = json.loads(file.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/kraftctl@{kraftctl.__version__}"
    text = (ROOT / "requirements-run.lock").read_text()
    pins = re.findall(r"^(\S+)==(\S+)", text, re.MULTILINE)
    components = bill["components"]
    assert [(each["name"], each["version"]) for each in components] == pins
    hashes = [digest["content"] for each in components for digest in each["hashes"]]
    assert sorted(hashes) == sorted(re.findall(r"sha256:(\w+)", text))
    assert all(each["licenses"] for each in components)
    edges = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    reached, waiting = set(), [bill["metadata"]["component"]["bom-ref"]]
    while waiting:
        reached.add(waiting.pop())
        waiting += [
            ref for each in reached for ref in edges[each] if ref not in reached and ref not in waiting
        ]
    assert reached >= {each["bom-ref"] for each in components}, "something is there that nothing requires"
    assert Bom.from_json(bill).components
