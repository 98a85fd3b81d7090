"""Delays actions until the ACLs are loaded from the metadata log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

CHECK_SECONDS: Final = 0.1


class OnceLoaded:
    """Calls `actions` once `has_rules`, unless it is stopped before."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        has_rules: Callable[[], bool],
        actions: list[Callable[[], None]],
    ) -> None:
        self._loop = loop
        self._has_rules = has_rules
        self._actions = actions
        self._timer: asyncio.TimerHandle | None = None
        self._check()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _check(self) -> None:
        if self._has_rules():
            self._timer = None
            for action in self._actions:
                action()
        else:
            self._timer = self._loop.call_later(CHECK_SECONDS, self._check)
