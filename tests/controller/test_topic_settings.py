"""What topics inherit is looked up once, and again after every change of a broker config."""

from __future__ import annotations

import random

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.image.topics_image import TopicImage
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from tests.support.active_controller import BASE_PROPERTIES, CLUSTER_ID, NODE_ID

MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
TOPIC_ID = bytes([1]) * 16

OF_NODE = (BROKER, str(NODE_ID))
OF_CLUSTER = (BROKER, CLUSTER_DEFAULT)
OF_TOPIC = (TOPIC, "t")


def image_with_topic() -> MetadataImage:
    """Topic t with three replicas; everything is committed."""
    image = MetadataImage()
    replay(image, TopicRecord(name="t", topic_id=TOPIC_ID), 0)
    partition = PartitionRecord(topic_id=TOPIC_ID, partition_id=0, leader=1)
    partition.replicas = partition.isr = [1, 2, 3]
    partition.directories = [bytes(16)] * 3
    replay(image, partition, 1)
    image.journal.commit_to(2)
    return image


def state_of(image: MetadataImage) -> ControllerState:
    return ControllerState(ControllerConfig(BASE_PROPERTIES), CLUSTER_ID, image, random.Random(1))


def settings(state: ControllerState) -> tuple[int, bool]:
    """Both of topic t."""
    topic = state.image.topics.topic_by_name("t")
    assert isinstance(topic, TopicImage)
    return state.topic_settings.min_isr(topic), state.topic_settings.unclean_election_enabled("t")


def store(image: MetadataImage, resource: tuple[int, str], key: str, value: str | None, offset: int) -> None:
    record = ConfigRecord(resource_type=resource[0], resource_name=resource[1], name=key, value=value)
    replay(image, record, offset)


@pytest.mark.parametrize("resource", [OF_NODE, OF_CLUSTER, OF_TOPIC], ids=["node", "cluster", "topic"])
def test_settings_follow_what_is_set_changed_and_removed(resource: tuple[int, str]) -> None:
    image = image_with_topic()
    state = state_of(image)
    assert settings(state) == (1, False)
    store(image, resource, MIN_ISR, "2", 2)
    assert settings(state) == (2, False)
    store(image, resource, UNCLEAN, "true", 3)
    assert settings(state) == (2, True)
    store(image, resource, MIN_ISR, "3", 4)
    assert settings(state) == (3, True)
    store(image, resource, MIN_ISR, None, 5)
    store(image, resource, UNCLEAN, None, 6)
    assert settings(state) == (1, False)


@pytest.mark.parametrize("resource", [OF_NODE, OF_CLUSTER, OF_TOPIC], ids=["node", "cluster", "topic"])
def test_settings_follow_a_change_that_is_undone(resource: tuple[int, str]) -> None:
    image = image_with_topic()
    state = state_of(image)
    store(image, resource, MIN_ISR, "2", 2)
    store(image, resource, UNCLEAN, "true", 3)
    assert settings(state) == (2, True)
    image.journal.rollback_to(2)
    assert settings(state) == (1, False)


def test_settings_are_those_of_the_image_that_is_used() -> None:
    state = state_of(image_with_topic())
    assert settings(state) == (1, False)
    other = image_with_topic()
    store(other, OF_CLUSTER, MIN_ISR, "2", 2)
    state.use_image(other)
    assert settings(state) == (2, False)


def test_a_config_of_a_topic_changes_nothing_for_others() -> None:
    """Thousands of topics with configs of their own do not make each request look everything up."""
    image = image_with_topic()
    store(image, OF_TOPIC, MIN_ISR, "2", 2)
    assert image.configurations.broker_changes == 0
