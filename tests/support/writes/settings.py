"""Conversations about quotas, SCRAM users, features and the configs of client metrics."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from tests.support.writes.conversations import Ask

QUOTA_KEYS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
    "unknown",
    "",
)

QUOTA_VALUES = (
    0.0, -0.0, -1.0, 1.0, 0.5, 1.5, 1e-7, 1e-310, 0.9999999, 5.9999999, 5.9999991, 5.00000001, 5.0000009,
    5.000001, 5.0000011, 2.0**31 - 1, 2.0**31, 2.0**31 - 1e-7, 2147483646.9999995, 2.0**53 + 1, 2.0**62,
    2.0**63 - 1024, 2.0**63, 9.3e18, 1e308,
)  # fmt: skip

HOSTS = (
    "300.1.1.1", "1.2.3.256", "1.2.3", "1.2", "1", "16909060", "4294967295", "4294967296", "1.2.65535",
    "1.2.65536", "1.16777215", "1.16777216", "01.02.03.04", "0x1.2.3.4", "1.2.3.4.5", "1..2.3", "1.2.3.4.",
    ".1.2.3", "localhost", "a_b", "-a", "a-", "a b", " 1.2.3.4", "1.2.3.4 ", "::1", "[::1]", "::", "1::2::3",
    "fe80::1%eth99", "fe80::1%1", "::ffff:1.2.3.4", "::1.2.3.4", "[1.2.3.4]", "12345::", "00001::",
    "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::", ":1", "1:", "*", "0.0.0.0",
    "255.255.255.255", "-1", "+1", "0", "00", "0.0", "1.2.3.-4", "999", "256.256.256.256", "1.1.1.1/24", "10",
    "0x7f000001", "127.1", "[::1", "::1]", "[]", "%", "1%2", "1.2.3.4.0x5",
)  # fmt: skip

ENTITIES = (
    (),
    (("user", ""),),
    (("user", "a"), ("user", "b")),
    (("user", None), ("user", "a")),
    (("client-id", "c"), ("user", "a")),
    (("user", "a"), ("client-id", "")),
    (("ip", "1.1.1.1"), ("user", "a")),
    (("ip", None), ("client-id", "a")),
    (("ip", "1.1.1.1"), ("ip", "1.1.1.2")),
    (("unknown", "a"),),
    (("", None),),
    (("User", "a"),),
    (("ip", ""),),
)

OPERATIONS: tuple[tuple[tuple[str, float, bool], ...], ...] = (
    (),
    (("producer_byte_rate", 1.0, False),),
    (("producer_byte_rate", 1.0, False), ("producer_byte_rate", 1.0, False)),
    (("producer_byte_rate", 1.0, True), ("producer_byte_rate", 1.0, False)),
    (("unknown", 1.0, True), ("unknown", 1.0, True)),
    (("unknown", 1.0, True), ("producer_byte_rate", -1.0, False)),
    (("connection_creation_rate", 1.0, False), ("producer_byte_rate", 1.0, False)),
)

Entity = tuple[tuple[str, str | None], ...]
Operations = tuple[tuple[str, float, bool], ...]

FEATURES = (
    "metadata.version",
    "kraft.version",
    "group.version",
    "transaction.version",
    "share.version",
    "streams.version",
    "eligible.leader.replicas.version",
    "unknown",
)

METRICS_CONFIGS = (
    ("metrics", ("a", "a,b", "", "*", " a ")),
    ("interval.ms", ("1000", "x", "-1", "99", "3600001", "")),
    ("match", ("client_id=a", "x", "client_id=[", "a=b", "", "client_id=", "=a", "client_id=a=b")),
    ("unknown", ("1",)),
)


NO_BROKERS = ("x", "-1", " 1", "1.0", "2147483648", "77", "+77")
"""Names of broker configs that Kafka refuses, whatever their values."""

OBEYED_VALUES = (
    ("unclean.leader.election.enable", "x"),
    ("min.insync.replicas", "x"),
    ("max.connections", "-1"),
    ("max.connections.per.ip", "0"),
    ("max.connection.creation.rate", "x"),
    ("listener.name.controller.ssl.truststore.location", "x"),
)
"""None of these values can be obeyed."""


def conversations() -> Iterator[tuple[str, list[Ask]]]:
    for removes in (False, True):
        yield f"quotas, remove={removes}", list(_quotas(removes=removes))
        yield f"hosts of quotas, remove={removes}", list(_hosts(removes=removes))
    yield "entities of quotas", list(_entities())
    yield (
        "many quotas",
        [
            (
                _quota_request(
                    *[(_user(name), OPERATIONS[1]) for name in NAMES],
                ),
                1,
            )
        ],
    )
    yield "credentials", list(_credentials())
    yield "pairs of credentials", list(_pairs_of_credentials())
    yield "levels of features", list(_features())
    yield "configs of client metrics", list(_metrics_configs())
    yield "configs of no broker", list(_configs_of_no_broker())


NAMES = [f"user{number}" for number in range(30)] + ["AaAa", "BBBB", "AaBB", "é", "日本", "a.b"]


def _user(name: str) -> Entity:
    return (("user", name),)


def _quota_request(*entries: tuple[Entity, Operations]) -> AlterClientQuotasRequest:
    return AlterClientQuotasRequest(
        entries=[
            EntryData(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                ops=[OpData(key=key, value=value, remove=remove) for key, value, remove in operations],
            )
            for entity, operations in entries
        ]
    )


def _quotas(*, removes: bool) -> Iterator[Ask]:
    of_user: Entity = (("user", "a"),)
    of_client: Entity = (("user", "a"), ("client-id", None))
    of_address: Entity = (("ip", "1.2.3.4"),)
    for entity in (of_user, of_client, of_address):
        for key in QUOTA_KEYS:
            for value in QUOTA_VALUES:
                yield _quota_request((entity, ((key, value, removes),))), 1


def _hosts(*, removes: bool) -> Iterator[Ask]:
    for host in HOSTS:
        yield _quota_request(((("ip", host),), (("connection_creation_rate", 1.0, removes),))), 1


def _entities() -> Iterator[Ask]:
    for entity in ENTITIES:
        for operations in OPERATIONS:
            for version in (0, 1):
                yield _quota_request((entity, operations)), version


def _upsertions() -> list[ScramCredentialUpsertion]:
    def upsertion(name: str, mechanism: int = 1, iterations: int = 4096) -> ScramCredentialUpsertion:
        return ScramCredentialUpsertion(
            name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=b"p" * 32
        )

    mechanisms = [upsertion("a", mechanism) for mechanism in (1, 2, 0, 3, -1, 127, -128)]
    iterations = [upsertion("a", 1, count) for count in (4095, 0, -1, 16384, 16385)]
    return [*mechanisms, *iterations, upsertion(""), upsertion("kept"), upsertion("kept", 1, 1)]


def _deletions() -> list[ScramCredentialDeletion]:
    named = [("a", 1), ("kept", 1), ("kept", 2), ("", 1), ("kept", 0), ("a", -1)]
    return [ScramCredentialDeletion(name=name, mechanism=mechanism) for name, mechanism in named]


def _scram(
    deletions: list[ScramCredentialDeletion], upsertions: list[ScramCredentialUpsertion]
) -> AlterUserScramCredentialsRequest:
    return AlterUserScramCredentialsRequest(deletions=deletions, upsertions=upsertions)


def _keep() -> Ask:
    """Returns the request that makes the user who is there."""
    return _scram([], [each for each in _upsertions() if each.name == "kept" and each.iterations > 1]), 0


def _credentials() -> Iterator[Ask]:
    yield _scram([], []), 0
    for upsertion in _upsertions():
        yield _scram([], [upsertion]), 0
    for deletion in _deletions():
        yield _keep()
        yield _scram([deletion], []), 0
    deletions = [ScramCredentialDeletion(name=name, mechanism=1) for name in NAMES]
    yield _scram(deletions, [_named(name) for name in NAMES[:7]]), 0


def _named(name: str) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(name, 1, 4096, b"salt", b"p" * 32)


def _pairs_of_credentials() -> Iterator[Ask]:
    upsertions, deletions = _upsertions(), _deletions()
    for first in deletions:
        for second in deletions:
            yield _keep()
            yield _scram([first, second], []), 0
        for upsertion in upsertions:
            yield _keep()
            yield _scram([first], [upsertion]), 0
    for one in upsertions:
        for other in upsertions:
            yield _scram([], [one, other]), 0


def _features() -> Iterator[Ask]:
    for feature in FEATURES:
        levels = (-1, 30, 99) if feature == "metadata.version" else (-32768, -1, 0, 1, 2, 3, 30, 32767)
        for level in levels:
            for allows in (False, True):
                update = FeatureUpdateKey(feature=feature, max_version_level=level, allow_downgrade=allows)
                yield UpdateFeaturesRequest(feature_updates=[update], timeout_ms=0), 0
            for version in (1, 2):
                for kind in (0, 1, 2, 3, 4, -1):
                    update = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
                    yield UpdateFeaturesRequest(feature_updates=[update], validate_only=True), version
    both = [FeatureUpdateKey(feature=feature, max_version_level=1) for feature in FEATURES[2:3] * 2]
    yield UpdateFeaturesRequest(feature_updates=both), 1


def _configs_of_no_broker() -> Iterator[Ask]:
    for name in NO_BROKERS:
        for key, value in OBEYED_VALUES:
            config = AlterableConfig(name=key, value=value)
            resource = AlterConfigsResource(BROKER, name, [config])
            yield IncrementalAlterConfigsRequest(resources=[resource]), 1
            whole = legacy.AlterConfigsResource(BROKER, name, [legacy.AlterableConfig(key, value)])
            yield legacy.AlterConfigsRequest(resources=[whole]), 2


def _metrics_configs() -> Iterator[Ask]:
    for name in ("subscription", ""):
        for key, values in METRICS_CONFIGS:
            for value in values:
                for operation in range(4):
                    config = AlterableConfig(name=key, config_operation=operation, value=value)
                    resource = AlterConfigsResource(
                        resource_type=CLIENT_METRICS, resource_name=name, configs=[config]
                    )
                    yield IncrementalAlterConfigsRequest(resources=[resource]), 1
