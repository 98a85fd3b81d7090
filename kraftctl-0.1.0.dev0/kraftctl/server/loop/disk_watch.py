"""DiskWatch says that the disk is waited for while it is: a write that never ends says nothing at its end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

LONG_SECONDS: Final = 5.0
"""That of `readiness`, which imports nothing of a server: a write or flush that takes longer counts as one
that does not end. The watch looks this often, so a line comes within twice the time."""

REPEAT_SECONDS: Final = 60.0


class DiskWatch:
    """Looks at what waits. The caller calls `look` every `LONG_SECONDS`."""

    def __init__(
        self,
        logger: logging.Logger,
        now: Callable[[], float],
        oldest_wait: Callable[[], tuple[str, float]],
    ) -> None:
        """Takes `oldest_wait`: what has waited longest, and for how many seconds; 0 for nothing."""
        self._logger = logger
        self._now = now
        self._oldest_wait = oldest_wait
        self._last_line: float | None = None

    def look(self) -> None:
        """Warns of a wait that is long, and each minute while it lasts."""
        what, seconds = self._oldest_wait()
        if seconds < LONG_SECONDS:
            self._last_line = None
        elif self._last_line is None or self._now() - self._last_line >= REPEAT_SECONDS:
            self._last_line = self._now()
            self._logger.warning(
                "%s has waited for the disk of metadata.log.dir for %.0f s and has not ended."
                " Next step: see whether the disk fails or is overloaded (dmesg, iostat)",
                what,
                seconds,
            )
