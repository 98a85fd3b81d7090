"""Asks pip-audit about known vulnerabilities of all that is locked, and says if it could not know.

`make audit`, or `audit.py [OPTION ...]` with options of pip-audit. Exit status: 0 none is known, 1 one is,
3 not all was audited. pip-audit says "No known vulnerabilities found" where an index answers for none: it is
asked about a distribution with a known one as well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.supply_chain.locked_distributions import ROOT, Locked, read_lock

LOCK = ROOT / "requirements-dev.lock"
"""It has all that the others have, in the same versions."""

CANARY = ("django", "1.11")
"""It has had known vulnerabilities since 2017 (CVE-2017-12794 is one). Nothing of it is installed, and no
lock may have it: pip-audit refuses a distribution that is named twice."""

SECONDS_MAX = 300

VULNERABLE, UNKNOWN = 1, 3

NEXT_STEP = (
    "Next step: repeat it where the package index itself or another service of pip-audit can be reached "
    '(AUDIT_ARGS="-s osv")'
)

UPDATE = 'Next step: `make lock LOCK_ARGS="--upgrade-package {}"`'


def pip_audit(lock: Path, options: Iterable[str]) -> tuple[str, str]:
    """What pip-audit prints about a lock file and the canary, and the last line of its errors."""
    with TemporaryDirectory() as directory:
        canary = Path(directory, "canary.lock")
        canary.write_text(f"{'=='.join(CANARY)} --hash=sha256:{'0' * 64}\n")
        command = [
            sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner=off",
            "-f", "json", "-r", str(lock), "-r", str(canary), *options,
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return "", f"no response within {SECONDS_MAX} s"
    return done.stdout, (done.stderr.strip() or "no output").splitlines()[-1]


def verdict(printed: str, failure: str, lock: list[Locked]) -> tuple[int, list[str]]:
    """The exit status, and the lines to print."""
    try:
        found: list[dict[str, Any]] = json.loads(printed)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return UNKNOWN, [f"nothing was audited: pip-audit has failed with `{failure}`. {NEXT_STEP}"]
    audited = {(each["name"], each["version"]): each["vulns"] for each in found if "vulns" in each}
    known = audited.pop(CANARY, [])
    lines = []
    for (name, version), vulnerabilities in sorted(audited.items()):
        for each in vulnerabilities:
            fixed = " or ".join(each["fix_versions"]) or "no version"
            lines.append(f"{name} {version}: {each['id']}, fixed in {fixed}. {UPDATE.format(name)}")
    doubt = _doubt([each for each in lock if (each.name, each.version) not in audited], lock, known)
    if lines:
        return VULNERABLE, [*lines, *filter(None, [doubt])]
    if doubt:
        return UNKNOWN, [doubt]
    return 0, [f"{len(lock)} distributions: no vulnerability is known"]


def _doubt(left_out: list[Locked], lock: list[Locked], known: list[object]) -> str:
    """Why not everything was audited; "" if everything was."""
    if left_out:
        first = f"{left_out[0].name} {left_out[0].version}"
        why = f"{len(left_out)} of {len(lock)} locked distributions were not audited, {first} among them"
        return f"{why}: the service does not know them. {NEXT_STEP}"
    if not known:
        name = " ".join(CANARY)
        return (
            f"nothing was audited: the service knows no vulnerability of {name}, which has some. {NEXT_STEP}"
        )
    return ""


def main() -> int:
    status, lines = verdict(*pip_audit(LOCK, sys.argv[1:]), read_lock(LOCK))
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
