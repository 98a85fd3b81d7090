"""What a snapshot keeps of a state: what its metadata.version has no field for is left out, as in Kafka's."""

from __future__ import annotations

from typing import Any

from tests.support.simulator.reference.rows import Key, State, elr_is_enabled, metadata_version_of
from tests.support.simulator.reference.values import MIGRATING, Broker, Partition

ZK_BROKERS = 8
SCRAM = 11
TOKENS = 14
CONTROLLERS = 15
DIRECTORIES = 17
ELR = 23
CORDONED = 30
"""The metadata.version levels of 3.4-IV0, 3.5-IV2, 3.6-IV2, 3.7-IV0, 3.7-IV2, 4.0-IV1 and 4.3-IV0."""

OF_THE_LOG = ("registration offset", "features offset", "transaction")
"""Tables that a snapshot does not have: they say where the log has something."""

SINCE = {"scram": SCRAM, "token": TOKENS, "controller": CONTROLLERS}


def kept(state: State) -> State:
    """The state of who reads the snapshot that this one is written to."""
    version = metadata_version_of(state)
    elr = elr_is_enabled(state) and version >= ELR
    found: dict[Key, Any] = {}
    for key, value in state.items():
        if key[0] in OF_THE_LOG or version < SINCE.get(key[0], 0):
            continue
        if key[0] == "broker":
            value = _broker(value, version)
        elif key[0] == "partition":
            value = _partition(value, version, elr=elr)
        found[key] = value
    return found


def _broker(value: Broker, version: int) -> Broker:
    if version < ZK_BROKERS:
        value = value._replace(is_migrating_zk_broker=False)
    if version < DIRECTORIES:
        value = value._replace(directories=())
    if version < CORDONED:
        value = value._replace(cordoned_directories=None)
    return value


def _partition(value: Partition, version: int, *, elr: bool) -> Partition:
    if not elr:
        value = value._replace(elr=(), last_known_elr=())
    if version < DIRECTORIES:
        value = value._replace(directories=(MIGRATING,) * len(value.replicas))
    return value
