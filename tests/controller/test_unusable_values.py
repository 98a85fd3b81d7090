"""Stored values that cannot be used: the next layer applies, each is logged once, and nothing stops."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.state.effective_configs import TopicSettings, describe_topic_configs
from kraftctl.controller.state.unusable_values import REPORTED_MAX, UnusableValues
from kraftctl.metadata.config_definitions import config_source
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_configs_request import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig as IncrementalConfig,
)
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterConfigsResource as IncrementalResource,
)
from kraftctl_protocol.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.active_controller import NODE_ID, ActiveController

MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
RATE = "controller_mutation_rate"

TOPIC_LAYER = (TOPIC, "t")
OWN_LAYER = (BROKER, str(NODE_ID))
CLUSTER_LAYER = (BROKER, CLUSTER_DEFAULT)
LAYERS = [TOPIC_LAYER, OWN_LAYER, CLUSTER_LAYER]
LAYER_IDS = ["topic", "own-broker", "cluster"]

BAD_NUMBERS = ["abc", "", " ", "0", "-5", str(2**40), "9" * 5_000, "1.5", "²", "--2", "\n", "0x2"]
BAD_BOOLEANS = ["maybe", "", "1", "yes", "TRUE!", "tru e", "\0"]


def config(layer: tuple[int, str], key: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=layer[0], resource_name=layer[1], name=key, value=value)


def mutation_rate(rate: float, *entity: tuple[str, str | None]) -> ClientQuotaRecord:
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    return ClientQuotaRecord(entity=parts, key=RATE, value=rate)


def store(active: ActiveController, *records: Message) -> None:
    """Append records without any check."""
    active.write(ControllerResult.of([RecordAndVersion(record, 0) for record in records]))


def activate_again(active: ActiveController) -> list[str]:
    """The notices of the controller after it has claimed again."""
    active.controller.take_notices()
    active.controller.renounce()
    for result in active.controller.claim(2, active.moment):
        active.write_prepared(result)
    return active.controller.take_notices()


def about(notices: list[str], key: str) -> list[str]:
    return [notice for notice in notices if key in notice and "is stored as" in notice]


def topic_t(**properties: Any) -> ActiveController:
    """Topic t on brokers 1, 2, 3."""
    active = ActiveController(**properties)
    active.start_brokers(1, 2, 3)
    active.create_topic("t", 1, 3)
    return active


def settings(active: ActiveController) -> tuple[int, bool]:
    """min.insync.replicas and unclean.leader.election.enable of topic t."""
    image = active.controller.image
    topic = image.topics.topic_by_name("t")
    assert topic is not None
    found = TopicSettings(image, active.config)
    return found.min_isr(topic), found.unclean_election_enabled("t")


def fence(active: ActiveController, broker_id: int) -> None:
    """Let the session of one broker run out."""
    others = [number for number in (1, 2, 3) if number != broker_id]
    for _ in range(3):
        active.pass_time(4_000)
        for other in others:
            active.heartbeat(other)
    assert active.controller.image.cluster.brokers[broker_id].fenced


@pytest.mark.parametrize("layer", LAYERS, ids=LAYER_IDS)
@pytest.mark.parametrize("value", BAD_NUMBERS, ids=[repr(value)[:12] for value in BAD_NUMBERS])
def test_with_an_unusable_min_isr_the_next_layer_applies(layer: tuple[int, str], value: str) -> None:
    active = topic_t(min_insync_replicas="2")
    store(active, config(CLUSTER_LAYER, MIN_ISR, None), config(layer, MIN_ISR, value))
    assert settings(active)[0] == 2
    fence(active, 3)
    for lower in LAYERS[LAYERS.index(layer) + 1 :]:
        store(active, config(lower, MIN_ISR, "3"))
        assert settings(active)[0] == 3
    activate_again(active)
    fence(active, 2)
    assert active.controller.active


@pytest.mark.parametrize("layer", LAYERS, ids=LAYER_IDS)
@pytest.mark.parametrize("value", BAD_BOOLEANS, ids=ascii)
def test_with_an_unusable_unclean_election_switch_the_next_layer_applies(
    layer: tuple[int, str], value: str
) -> None:
    active = topic_t(unclean_leader_election_enable="true")
    store(active, config(layer, UNCLEAN, value))
    assert settings(active)[1] is True
    fence(active, 3)
    for lower in LAYERS[LAYERS.index(layer) + 1 :]:
        store(active, config(lower, UNCLEAN, "false"))
        assert settings(active)[1] is False


def described(active: ActiveController, key: str) -> tuple[str | None, int]:
    """Value and source of a config of topic t, as DescribeConfigs has them and as CreateTopics would."""
    resource = DescribeConfigsResource(resource_type=TOPIC, resource_name="t", configuration_keys=[key])
    response = active.request(DescribeConfigsRequest(resources=[resource]))
    (config,) = response.results[0].configs
    own = active.controller.image.configurations.config(TOPIC, "t")
    (entry,) = [
        entry
        for entry in describe_topic_configs(active.controller.image, active.config, own)
        if entry.definition.name == key
    ]
    assert (entry.text, entry.source) == (config.value, config.config_source)
    return config.value, config.config_source


@pytest.mark.parametrize("layer", [OWN_LAYER, CLUSTER_LAYER], ids=LAYER_IDS[1:])
@pytest.mark.parametrize(
    ("key", "broker_key", "bad", "below"),
    [
        pytest.param(MIN_ISR, MIN_ISR, "abc", "2", id="min-isr"),
        pytest.param("retention.ms", "log.retention.ms", "soon", "777", id="retention"),
        pytest.param("retention.ms", "log.retention.hours", "soon", "777", id="another-unit"),
        pytest.param("cleanup.policy", "log.cleanup.policy", "burn", "compact", id="word"),
    ],
)
def test_what_is_described_is_what_applies(
    layer: tuple[int, str], key: str, broker_key: str, bad: str, below: str
) -> None:
    """Kafka's brokers ignore a stored broker config that cannot be used, and describe what they use."""
    properties = {"min_insync_replicas": "2", "log_retention_ms": "777", "log_cleanup_policy": "compact"}
    active = topic_t(**properties)
    store(active, config(CLUSTER_LAYER, MIN_ISR, None), config(layer, broker_key, bad))
    assert described(active, key) == (below, config_source.STATIC_BROKER_CONFIG)


@pytest.mark.parametrize("layer", [OWN_LAYER, CLUSTER_LAYER], ids=LAYER_IDS[1:])
def test_create_topics_shows_an_inherited_value_as_it_is_stored(layer: tuple[int, str]) -> None:
    """Kafka's KafkaConfigSchema, which CreateTopics answers from, does not look whether a value is usable.

    Nor whether the controller of which it is obeys it: PlaintextAdminIntegrationTest has a test of that.
    """
    active = topic_t(log_cleanup_policy="compact")
    store(active, config(layer, "log.cleanup.policy", "burn"))
    wanted = CreatableTopic(name="created", num_partitions=1, replication_factor=1)
    response = active.request(CreateTopicsRequest(topics=[wanted], timeout_ms=1000))
    shown = {each.name: (each.value, each.config_source) for each in response.topics[0].configs}
    source = config_source.DYNAMIC_BROKER_CONFIG
    if layer == CLUSTER_LAYER:
        source = config_source.DYNAMIC_DEFAULT_BROKER_CONFIG
    assert shown["cleanup.policy"] == ("burn", source)


def test_a_value_of_the_topic_itself_is_described_as_it_is_stored() -> None:
    """An operator has to find what to repair."""
    active = topic_t()
    store(active, config(TOPIC_LAYER, MIN_ISR, "abc"))
    assert described(active, MIN_ISR) == ("abc", config_source.TOPIC_CONFIG)
    assert settings(active)[0] == 1


def test_a_cluster_with_unusable_stored_values_survives_fencing_and_activation() -> None:
    """A controller that is asked directly stores any broker config; the log then has it at every start."""
    active = topic_t()
    store(active, config(CLUSTER_LAYER, MIN_ISR, "abc"), config(CLUSTER_LAYER, UNCLEAN, "maybe"))
    fence(active, 1)
    (notice,) = about(activate_again(active), MIN_ISR)
    assert notice == (
        "min.insync.replicas of the cluster's default is stored as 'abc', which is not a valid value:"
        " Kafka's default '1' is used instead"
    )
    fence(active, 2)
    partition = active.controller.image.topics.topic_by_name("t")
    assert partition is not None
    assert partition.partitions[0].isr == (3,)


@pytest.mark.parametrize(
    ("layer", "others", "said"),
    [
        pytest.param(
            TOPIC_LAYER,
            {OWN_LAYER: "3"},
            "topic 't' is stored as '0'|'3' of broker 3000",
            id="topic-to-broker",
        ),
        pytest.param(
            TOPIC_LAYER,
            {OWN_LAYER: "-5", CLUSTER_LAYER: "2"},
            "topic 't' is stored as '0'|'2' of the cluster's default",
            id="topic-to-cluster",
        ),
        pytest.param(
            OWN_LAYER, {CLUSTER_LAYER: "2"}, "broker 3000 is stored as '0'|'2' of the cluster", id="broker"
        ),
        pytest.param(
            CLUSTER_LAYER, {}, "cluster's default is stored as '0'|'2' of the properties file", id="cluster"
        ),
    ],
)
def test_a_notice_names_key_value_resource_and_what_is_used_instead(
    layer: tuple[int, str], others: dict[tuple[int, str], str], said: str
) -> None:
    active = topic_t(min_insync_replicas="2")
    store(active, config(CLUSTER_LAYER, MIN_ISR, None), config(layer, MIN_ISR, "0"))
    store(active, *[config(other, MIN_ISR, value) for other, value in others.items()])
    where, instead = said.split("|")
    notices = [notice for notice in about(activate_again(active), MIN_ISR) if where in notice]
    assert len(notices) == 1
    assert f"{instead}" in notices[0]
    assert about(activate_again(active), MIN_ISR) == [], "once per process"
    store(active, config(layer, MIN_ISR, "x"))
    assert len(about(activate_again(active), MIN_ISR)) == 1, "another value is logged again"


def test_a_notice_is_one_line_of_bounded_length_and_so_are_all_together() -> None:
    active = topic_t()
    store(active, config(CLUSTER_LAYER, MIN_ISR, "two\nINFO all is well" + "x" * 9_000))
    (notice,) = about(activate_again(active), MIN_ISR)
    assert "\n" not in notice
    assert len(notice) < 400
    for number in range(REPORTED_MAX + 10):
        store(active, config((TOPIC, f"topic-{number}"), MIN_ISR, "many"))
    reporter = UnusableValues()
    assert len(reporter.notices(active.controller.image, active.config)) == REPORTED_MAX
    assert reporter.notices(active.controller.image, active.config) == []


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf"), -float("inf")])
def test_with_an_unusable_mutation_rate_the_next_entity_applies(rate: float) -> None:
    active = topic_t()
    store(active, mutation_rate(rate, ("client-id", "test"), ("user", "ANONYMOUS")))
    for number in range(5):
        active.create_topic(f"free-{number}", 50)
    (notice,) = about(activate_again(active), RATE)
    assert f"client-id 'test', user 'ANONYMOUS' is stored as '{rate}'" in notice
    store(active, mutation_rate(0.001, ("user", None)))
    active.create_topic("overdraws", 50)
    refused = active.request(
        CreateTopicsRequest(topics=[CreatableTopic(name="late", num_partitions=1, replication_factor=1)])
    )
    assert refused.topics[0].error_code == Errors.THROTTLING_QUOTA_EXCEEDED


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-12])
def test_a_tiny_mutation_rate_gives_the_longest_throttle_time_of_a_response(rate: float) -> None:
    active = topic_t()
    store(active, mutation_rate(rate, ("user", None)))
    active.create_topic("overdraws", 50)
    for version in (5, 7):
        topic = CreatableTopic(name=f"late-{version}", num_partitions=1, replication_factor=1)
        response = active.request(CreateTopicsRequest(topics=[topic]), version)
        assert response.throttle_time_ms == (1 << 31) - 1


def test_enabling_elr_replaces_an_unusable_min_isr_of_the_cluster() -> None:
    active = topic_t(min_insync_replicas="2")
    elr = "eligible.leader.replicas.version"
    active.request(UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey(elr, 0, upgrade_type=2)]))
    store(active, config(CLUSTER_LAYER, MIN_ISR, "abc"))
    active.request(UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey(elr, 1, upgrade_type=1)]))
    assert active.controller.image.features.elr_enabled
    assert active.controller.image.configurations.config(*CLUSTER_LAYER)[MIN_ISR] == "2"


KEYS = [MIN_ISR, UNCLEAN, "cordoned.log.dirs", "log.retention.hours", "log.roll.hours", "retention.ms"]
KEYS += ["cleanup.policy", "remote.storage.enable", "log.cleanup.policy", "message.timestamp.type", "match"]
KEYS += ["min.compaction.lag.ms", "consumer.session.timeout.ms", "metrics", "ssl.keystore.password", "é"]
PIECES = [
    "abc",
    "-",
    "0",
    "5",
    "9" * 40,
    "true",
    "TRUE",
    ",",
    "=",
    "é",
    "²",
    "\0",
    "\n",
    " ",
    "[",
    "(",
    "*",
    "1e9",
]
RESOURCES = [*LAYERS, (BROKER, "1"), (BROKER, "no number"), (32, "g"), (16, "c"), (TOPIC, "gone"), (99, "x")]


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(4)))


def ask_everything(active: ActiveController, rng: random.Random, number: int) -> None:
    """Requests that read stored configs: each is answered."""
    key, value = rng.choice(KEYS), rng.choice([random_text(rng), "1", "true"])
    kind, name = rng.choice(RESOURCES)
    operation = rng.randrange(4)
    change = IncrementalConfig(name=key, config_operation=operation, value=value)
    incremental = IncrementalResource(resource_type=kind, resource_name=name, configs=[change])
    legacy = AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=[AlterableConfig(name=key, value=value)]
    )
    described = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
        for kind, name in RESOURCES
    ]
    requests: list[Message] = [
        IncrementalAlterConfigsRequest(resources=[incremental]),
        AlterConfigsRequest(resources=[legacy]),
        DescribeConfigsRequest(resources=described, include_synonyms=True),
        CreateTopicsRequest(
            topics=[CreatableTopic(name=f"new-{number}", num_partitions=2, replication_factor=2)]
        ),
        ElectLeadersRequest(election_type=1, topic_partitions=[TopicPartitions(topic="t", partitions=[0])]),
    ]
    for request in requests:
        active.request(request)


@pytest.mark.parametrize("seed", range(20))
def test_no_stored_text_stops_the_controller(seed: int) -> None:
    """Fencing, unclean elections, DescribeConfigs, AlterConfigs, CreateTopics and activation."""
    rng = random.Random(seed)
    active = topic_t()
    for number in range(6):
        for _ in range(12):
            store(active, config(rng.choice(RESOURCES), rng.choice(KEYS), random_text(rng)))
        rates = [0.0, -1.0, float("nan"), float("inf"), 5e-324, 1.0]
        store(active, mutation_rate(rng.choice(rates), ("user", None)))
        fenced = rng.choice([1, 2, 3])
        fence(active, fenced)
        ask_everything(active, rng, number)
        activate_again(active)
        active.heartbeat(fenced)
        least, _ = settings(active)
        assert 1 <= least <= 3
    assert active.controller.active
