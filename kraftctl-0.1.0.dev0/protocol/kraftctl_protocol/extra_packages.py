"""Names the command that installs what an extra of kraftctl needs, into the environment that runs.

There is no index to install kraftctl itself from again, and an installation has no clone beside it.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distributions, requires

OTHER_EXTRA = re.compile(r"kraftctl\[([^\]]+)\]")

OF_EXTRA = re.compile(r"""extra == ["']([^"']+)["']""")


def install_command(extra: str, missing: Sequence[str], required: Sequence[str] | None = None) -> str:
    """Returns one line for a shell; `missing` is what is named where no metadata says what the extra needs.

    `required` is what those metadata say, by default those of the installed kraftctl.
    """
    if required is None:
        try:
            required = requires("kraftctl") or []
        except PackageNotFoundError:
            required = []
    names = sorted(set(_packages(extra, required))) or missing
    has_pip = any(distributions(name="pip"))
    pip = [sys.executable, "-m", "pip"] if has_pip else ["pip", "--python", sys.executable]
    return shlex.join([*pip, "install", *names])


def _packages(extra: str, required: Sequence[str]) -> Iterator[str]:
    """Yields what an extra needs, and the extras that it includes."""
    for each in required:
        package, _, marker = each.partition(";")
        match = OF_EXTRA.search(marker)
        if match is None or match[1] != extra:
            continue
        other = OTHER_EXTRA.fullmatch(package.strip())
        if other is None:
            yield package.strip()
        else:
            yield from _packages(other[1], required)
