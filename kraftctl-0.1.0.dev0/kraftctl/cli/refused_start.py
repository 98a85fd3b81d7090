"""Reports why `kraftctl start` ends with an error: in the log, as Kafka does, and on standard error.

A collector of container logs may keep standard output alone. Where both lead to the same file, the log has
the reason once; at a terminal it is one short line.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from kraftctl.server.logs.background_file import BackgroundFile, LeftOut
from kraftctl.server.logs.logging import stop_logging
from kraftctl.server.logs.shared_output import SharedOutput, are_the_same
from kraftctl.server.process.service_manager import service_manager, shown_status
from kraftctl_security.standard_output import descriptor_of

logger = logging.getLogger("kraftctl.server")


STATUS = 1

HALTED_STATUS = 65
"""EX_DATAERR. A supervisor that can, must not start the controller again (`RestartPreventExitStatus=65` of
systemd); of others each start ends immediately.
"""


def refuse(reasons: Sequence[str], status: int = STATUS) -> int:
    """Returns the exit status. It waits for readers of the lines for seconds at most."""
    manager = service_manager(os.environ)
    if manager is not None:
        manager.send(shown_status(f"Exiting: {reasons[0]}"))
        manager.close()
    output, error = descriptor_of(sys.stdout), descriptor_of(sys.stderr)
    is_once = are_the_same(output, error)
    at_terminal = is_once and error is not None and os.isatty(error)
    if not at_terminal:
        for reason in reasons:
            logger.critical("Exiting: %s", reason)
    stop_logging()
    if at_terminal or not is_once:
        _print(error, [f"kraftctl start: {reason}\n" for reason in reasons])
    return status


def _print(descriptor: int | None, lines: Sequence[str]) -> None:
    if descriptor is None:
        for line in lines:
            print(line, end="", file=sys.stderr)
        return
    background = BackgroundFile(SharedOutput(descriptor, "standard error"), _none_left_out, has_log=True)
    background.start()
    for line in lines:
        background.write(line.encode(errors="backslashreplace"))
    background.close()


def _none_left_out(gap: LeftOut) -> bytes:
    return b""
