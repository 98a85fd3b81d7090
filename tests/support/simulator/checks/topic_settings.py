"""The two topic configs that elections depend on, as the reference has them."""

from __future__ import annotations

from kraftctl.config.controller_config import ControllerConfig
from tests.support.simulator.reference.rows import BROKER, TOPIC, State

MIN_INSYNC_REPLICAS = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION = "unclean.leader.election.enable"


def min_isr(state: State, config: ControllerConfig, topic: str) -> int:
    """As it is wanted: a topic may have fewer replicas."""
    for text in _layers(state, config, topic, MIN_INSYNC_REPLICAS):
        if text is not None and text.strip().isdigit() and int(text) >= 1:
            return int(text)
    return 1


def unclean_election_is_enabled(state: State, config: ControllerConfig, topic: str) -> bool:
    for text in _layers(state, config, topic, UNCLEAN_LEADER_ELECTION):
        if text is not None and text.strip().lower() in ("true", "false"):
            return text.strip().lower() == "true"
    return False


def _layers(state: State, config: ControllerConfig, topic: str, key: str) -> list[str | None]:
    """Of the topic, of the controller's own node id, of all brokers, of its properties file."""
    return [
        state.get(("config", TOPIC, topic, key)),
        state.get(("config", BROKER, str(config.node_id), key)),
        state.get(("config", BROKER, "", key)),
        config.originals.get(key),
    ]
