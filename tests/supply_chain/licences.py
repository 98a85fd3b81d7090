"""Prints the licence of each locked distribution; fails for one that licences.toml does not allow.

`make licences`, or `licences.py LOCK`. A licence is what the installed distribution says of itself.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing

from tests.supply_chain.locked_distributions import ROOT, Locked, read_lock

RULES = Path(__file__).with_name("licences.toml")

OSI = "License :: OSI Approved :: "

NEXT_STEP = (
    f"Next step: read the licence, then add it to {RULES.name} with a reason, or depend on something else"
)

SPDX = get_spdx_licensing()


def licence_of(distribution: metadata.Distribution, spelled: Mapping[str, str]) -> str:
    """The SPDX expression that a distribution gives or spells otherwise; "" if it gives none."""
    about = distribution.metadata
    if expression := about.get("License-Expression"):
        return str(expression)
    text = about.get("License") or ""
    if text in spelled or _symbols(text):
        return spelled.get(text, text)
    named = [each.removeprefix(OSI) for each in about.get_all("Classifier") or () if each.startswith(OSI)]
    return " AND ".join(spelled.get(each, each) for each in named) or text.partition("\n")[0]


def is_allowed(expression: str, allowed: Iterable[str]) -> bool:
    """Whether every way to read the expression, or of alternatives one, is allowed."""
    if not _symbols(expression):
        return False
    parsed = SPDX.parse(expression)
    true, false = SPDX.TRUE, SPDX.FALSE
    values = {symbol: true if symbol.render() in allowed else false for symbol in parsed.symbols}
    return bool(parsed.subs(values, simplify=True) == true)


def _symbols(expression: str) -> list[str]:
    """The licences of an SPDX expression; none if it is something else."""
    try:
        found = SPDX.parse(expression, validate=True, strict=True)
    except ExpressionError:
        return []
    return [] if found is None else [symbol.render() for symbol in found.symbols]


def findings(lock: Iterable[Locked], rules: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    """For each distribution its name and version, its licence, and why that is not allowed, or ""."""
    exceptions = dict(rules["exceptions"])
    for each in lock:
        title = f"{each.name} {each.version}"
        exception = exceptions.pop(each.name, None)
        installed = each.installed()
        if installed is not None:
            licence = licence_of(installed, rules["spelled"])
        elif not each.wanted and exception is not None:
            licence = exception["licence"]
        else:
            yield title, "", "it is not installed, so its licence is not known. Next step: `make setup`"
            continue
        excepted = exception is not None and exception["licence"] == licence and exception["reason"]
        if excepted or is_allowed(licence, rules["allowed"]):
            yield title, licence, ""
        else:
            yield title, licence, f"{licence or 'no licence'} is not allowed. {NEXT_STEP}"
    for name in exceptions:
        yield name, "", f"it is not locked any more. Next step: remove its exception from {RULES.name}"


def main() -> int:
    lock = read_lock(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "requirements-dev.lock")
    refused = 0
    for title, licence, why in findings(lock, tomllib.loads(RULES.read_text())):
        print(f"{title:<40} {licence}" if not why else f"{title}: {why}")
        refused += bool(why)
    print(f"{len(lock)} distributions: {f'{refused} refused' if refused else 'all licences are allowed'}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
