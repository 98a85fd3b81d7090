"""early.start.listeners (KIP-801): the other listeners accept connections once the ACLs are loaded.

Controllers need each other to load them, so the listener by which they do has to start early. As in Kafka,
clients of the others wait in the backlog.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from kraftctl.config.controller_config import ControllerConfig

logger = logging.getLogger("kraftctl.server.listener")

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


def late_listeners(config: ControllerConfig) -> list[str]:
    """The names of those that do not start early, none without an authorizer. Warns if no quorum can form."""
    if not config.authorizer_class_name:
        return []
    late = [name for name in config.controller_listener_names if name not in config.early_start_listeners]
    first = config.controller_listener_names[0]
    if first in late:
        logger.warning(
            "early.start.listeners=%s is without %s, by which controllers reach each other: they cannot load"
            " the ACLs for which it waits, unless the others have it. Next step: add it.",
            ",".join(config.early_start_listeners),
            first,
        )
    return late
