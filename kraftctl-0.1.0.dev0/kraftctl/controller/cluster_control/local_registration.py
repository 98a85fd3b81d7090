"""The registration of this controller itself (KIP-919)."""

from __future__ import annotations

import random

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.endpoints import SECURITY_PROTOCOLS
from kraftctl.metadata import features
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl.metadata.endpoint import Endpoint
from kraftctl_protocol.uuids import random_uuid


def local_registration(
    config: ControllerConfig, endpoints: dict[str, tuple[str, int]], rng: random.Random
) -> ControllerRegistration:
    """Returns the registration of this process, with an incarnation id of its own.

    `endpoints`: listener name -> host and port that other nodes connect to, for every controller listener.
    """
    listeners: dict[str, Endpoint] = {}
    for advertised in config.advertised_listeners:
        host, port = endpoints[advertised.listener]
        security_protocol = SECURITY_PROTOCOLS.index(advertised.security_protocol)
        listeners[advertised.listener] = Endpoint(advertised.listener, host, port, security_protocol)
    return ControllerRegistration(
        id=config.node_id,
        incarnation_id=random_uuid(rng),
        zk_migration_ready=False,
        listeners=listeners,
        supported_features=features.supported_features(config.unstable_feature_versions_enable),
    )
