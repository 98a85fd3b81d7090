"""Conversations about registrations of brokers that are malformed, and of some that only look so.

What ends or stops Kafka's controller is not among them: see `tests/controller/test_writes_of_java.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from tests.support.writes.conversations import FEATURES_OF_4_3, Ask, registration

FIRST_ID = 100

LISTENERS = {
    "none": [],
    "one name twice": [Listener(name="A", host="h", port=1), Listener(name="A", host="h", port=2)],
    "one port twice": [Listener(name="A", host="h", port=1), Listener(name="B", host="h", port=1)],
    "the last port": [Listener(name="A", host="h", port=65_535)],
    "small letters": [Listener(name="a", host="h", port=1)],
}

DIRECTORIES = {
    "none": [],
    "zero": [bytes(16)],
    "lost": [bytes(15) + b"\1"],
    "reserved": [bytes(15) + bytes([99])],
    "not reserved any more": [bytes(15) + bytes([100])],
    "reserved beside another": [bytes(16), b"x" * 16],
    "twice": [b"y" * 16] * 2,
    "of another broker": [(101).to_bytes(2, "big") * 8],
}

RANGES = ((0, 0), (1, 0), (5, 6), (-1, 0), (0, 99), (31, 33), (30, 30), (-5, -1), (1, 1), (0, 32_767))


def conversations(cluster_id: str) -> Iterator[tuple[str, list[Ask]]]:
    requests = list(_malformed(cluster_id))
    for number, (name, request) in enumerate(requests):
        if request.log_dirs == registration(FIRST_ID, cluster_id).log_dirs:
            request.log_dirs = [number.to_bytes(8, "big") * 2]
        request.broker_id = FIRST_ID + number
        request.incarnation_id = (1 + number).to_bytes(16, "big")
        yield f"registration: {name}", [(request, version) for version in (4, 4)]


def _malformed(cluster_id: str) -> Iterator[tuple[str, BrokerRegistrationRequest]]:
    def plain() -> BrokerRegistrationRequest:
        return registration(FIRST_ID, cluster_id)

    yield "plain", plain()
    for name, listeners in LISTENERS.items():
        request = plain()
        request.listeners = list(listeners)
        yield f"listeners, {name}", request
    for name, directories in DIRECTORIES.items():
        request = plain()
        request.log_dirs = list(directories)
        yield f"directories, {name}", request
    for cluster in ("", "another"):
        request = plain()
        request.cluster_id = cluster
        yield f"cluster {cluster!r}", request
    request = plain()
    request.features = []
    yield "no features", request
    request = plain()
    request.is_migrating_zk_broker = True
    yield "of ZooKeeper", request
    for epoch in (-2, 0, 99_999):
        request = plain()
        request.previous_broker_epoch = epoch
        yield f"previous epoch {epoch}", request
    yield from _features(cluster_id)


def _features(cluster_id: str) -> Iterator[tuple[str, BrokerRegistrationRequest]]:
    for name in (*FEATURES_OF_4_3, "unknown", ""):
        for lowest, highest in RANGES:
            request = registration(FIRST_ID, cluster_id)
            request.features = [each for each in request.features if each.name != name]
            request.features.append(
                Feature(name=name, min_supported_version=lowest, max_supported_version=highest)
            )
            yield f"{name!r} {lowest} to {highest}", request
