"""Implements early.start.listeners (KIP-801): other listeners accept connections once the ACLs are loaded.

Controllers need each other to load them, so the listener that they use has to start early. As in Kafka,
clients of the others wait in the backlog.
"""

from __future__ import annotations

import logging

from kraftctl.config.controller_config import ControllerConfig

logger = logging.getLogger("kraftctl.server.listener")


def late_listeners(config: ControllerConfig) -> list[str]:
    """Returns the listeners that start late, none without an authorizer. Warns if no quorum can form."""
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
