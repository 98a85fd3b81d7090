"""Changes settings while a controller runs: limits of connections by dynamic configs, and levels of loggers.

Keystores and truststores are in `ssl_reloading`: they take files to read and keys to check.
"""

from __future__ import annotations

import logging

from kraftctl.config.connection_limits import ConnectionLimits
from kraftctl.controller.configuration_control.node_configs import (
    NodeConfigs,
    UnusedConfig,
    node_configs,
)
from kraftctl.node.events import LogLevelsChanged, NodeConfigsChanged
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.logs.log_levels import set_log_levels
from kraftctl_security.config_values import INT_MAX, ConfigException, ConfigValues

logger = logging.getLogger("kraftctl.server.connections")

UNUSED_LINES_MAX = 100
"""The number of lines about one change: the owner of the right to alter configs can store any number of
them."""


class RunningSettings:
    """Changes the settings of `server`. Of connections that exist, only max.connections closes some."""

    def __init__(self, server: SocketServer) -> None:
        self._server = server
        self._unused: set[tuple[str, str, str]] = set()

    def node_configs(self, effect: NodeConfigsChanged) -> None:
        """Applies committed dynamic configs, or those of the properties file where there are none left."""
        try:
            used = node_configs(self._server.config, effect.own, effect.cluster)
            self._use_limits(used)
        except (ConfigException, ValueError) as error:
            # What is committed would end every process that reads it.
            logger.error(
                "The dynamic configs of this node cannot be applied: %s. The limits of connections stay as"
                " they are. Next step: delete the config that was altered last.",
                error,
            )
        else:
            self._name_unused(used.unused)

    def log_levels(self, effect: LogLevelsChanged) -> None:
        """Changes levels of loggers immediately."""
        set_log_levels(effect.levels)
        self._server.logs.requests.follow_level()

    def _use_limits(self, used: NodeConfigs) -> None:
        server = self._server
        listeners = [endpoint.listener for endpoint in server.config.listeners]
        values = ConfigValues(used.over(server.config.originals))
        limits = ConnectionLimits(values, listeners)
        values.raise_errors()
        before, now = _described(server.accounts.quotas.limits), _described(limits)
        server.accounts.quotas.use(limits)
        for name, value in now.items():
            if value != before[name]:
                logger.info("Updating %s from %s to %s by dynamic configs", name, before[name], value)
        server.accounts.close_excess()

    def _name_unused(self, unused: list[UnusedConfig]) -> None:
        """Names each unused config once, as long as it is stored."""
        known = self._unused
        self._unused = {(each.name, each.key, each.value) for each in unused}
        new = [each for each in unused if (each.name, each.key, each.value) not in known]
        for each in new[:UNUSED_LINES_MAX]:
            logger.warning("%s", each.line())
        if len(new) > UNUSED_LINES_MAX:
            logger.warning("%d more dynamic configs have no effect", len(new) - UNUSED_LINES_MAX)


def _described(limits: ConnectionLimits) -> dict[str, str]:
    overrides = sorted(limits.max_connections_per_ip_overrides.items())
    described = {
        "max.connections": _number(limits.max_connections),
        "max.connections.per.ip": _number(limits.max_connections_per_ip),
        "max.connections.per.ip.overrides": ",".join(f"{host}:{count}" for host, count in overrides),
        "max.connection.creation.rate": _number(limits.max_connection_creation_rate),
    }
    for name, of_listener in limits.listeners.items():
        described[f"max.connections of listener {name}"] = _number(of_listener.max_connections)
        rate = of_listener.max_connection_creation_rate
        described[f"max.connection.creation.rate of listener {name}"] = _number(rate)
    return described


def _number(limit: int) -> str:
    return "no limit" if limit == INT_MAX else str(limit)
