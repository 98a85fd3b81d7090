"""`python -m kraftctl.cli.container.role [FILE]`: whether a start is that of a controller alone, as a status.

Start scripts ask it, and run Java for everything else. Without FILE, it looks at what `kraftctl container`
would start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from kraftctl.cli.container.command import MOUNTED, SERVER_PROPERTIES
from kraftctl.cli.container.environment import server_properties
from kraftctl_protocol.java_properties import PropertiesError, decode_properties

YES, NO = 0, 3
"""Every other status is a failure, and no answer: 1 is also that of a Python that does not start."""


def is_controller(arguments: Sequence[str], mounted: Path = MOUNTED) -> bool:
    """Returns whether process.roles is `controller`, with `--override KEY=VALUE` of kafka-server-start.

    What cannot be read is Java's to refuse.
    """
    try:
        if arguments:
            properties = decode_properties(Path(arguments[0]).read_bytes())
        else:
            file = mounted / SERVER_PROPERTIES
            content = file.read_bytes() if file.exists() else None
            properties = decode_properties(server_properties(content, os.environ))
    except (OSError, PropertiesError):
        return False
    for flag, override in pairwise(arguments):
        if flag == "--override":
            key, _, value = override.partition("=")
            properties[key.strip()] = value
    return properties.get("process.roles", "").strip() == "controller"


if __name__ == "__main__":
    sys.exit(YES if is_controller(sys.argv[1:]) else NO)
