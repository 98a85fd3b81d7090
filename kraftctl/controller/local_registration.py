"""How this controller registers itself (KIP-919)."""

from __future__ import annotations

import random
from typing import Final

from kraftctl.config import ControllerConfig
from kraftctl.metadata import features
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl.metadata.endpoint import Endpoint
from kraftctl_protocol.uuids import random_uuid

SECURITY_PROTOCOL_IDS: Final = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}

UNKNOWN_HOST: Final = "localhost"


def local_registration(config: ControllerConfig, rng: random.Random) -> ControllerRegistration:
    """The registration of this process, with an incarnation id of its own.

    Endpoints whose host or port only the running listeners know are told later, with `set_endpoint`.
    """
    registration = ControllerRegistration(
        id=config.node_id,
        incarnation_id=random_uuid(rng),
        zk_migration_ready=False,
        listeners={},
        supported_features=features.supported_features(config.unstable_feature_versions_enable),
    )
    for endpoint in config.advertised_listeners:
        registration.listeners[endpoint.listener] = Endpoint(
            endpoint.listener,
            endpoint.host or UNKNOWN_HOST,
            endpoint.port,
            SECURITY_PROTOCOL_IDS[endpoint.security_protocol],
        )
    return registration


def set_endpoint(registration: ControllerRegistration, listener: str, host: str, port: int) -> None:
    """Where the listener can be reached. To be told before the controller becomes active."""
    known = registration.listeners[listener]
    registration.listeners[listener] = Endpoint(listener, host, port, known.security_protocol)
