"""Files of /etc/kafka/secrets that variables name: keystores, and passwords in files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kraftctl.cli.container.environment import LOCATIONS, PASSWORDS


def with_secrets(variables: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Returns the variables with the locations and passwords that others name.

    Raises ValueError without such a file, and OSError.
    """
    result = dict(variables)
    for name in (*LOCATIONS, *PASSWORDS):
        file_name = variables.get(name)
        if not file_name:
            continue
        path = directory / file_name
        if not path.is_file():
            raise ValueError(f"{name} names {path}, and there is no such file. Next step: mount it")
        if name in LOCATIONS:
            result[LOCATIONS[name]] = str(path)
        else:
            # As the shell's $(cat FILE).
            result[PASSWORDS[name]] = path.read_text(encoding="utf-8").rstrip("\n")
    return result
