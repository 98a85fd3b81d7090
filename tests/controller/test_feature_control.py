"""UpdateFeatures: which nodes must support a level, refused downgrades, the records of enabling ELR."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from tests.support.active_controller import ActiveController, registration

UPGRADE, SAFE, UNSAFE = 1, 2, 3


def update(active, name, level, kind=UPGRADE, *, version=2, validate_only=False):
    request = UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature=name, max_version_level=level)], validate_only=validate_only
    )
    if version > 0:
        request.feature_updates[0].upgrade_type = kind
    return active.request(request, version)


@pytest.mark.parametrize(
    ("start", "name", "level", "kind", "reason"),
    [
        pytest.param(30, "group.version", 1, 0, "upgrade type", id="unknown-type"),
        pytest.param(30, "group.version", -1, UPGRADE, "negative", id="negative"),
        pytest.param(30, "group.version", 2, UPGRADE, "only supports versions 0-1", id="beyond-this-node"),
        pytest.param(30, "group.version", 0, UPGRADE, "Can't downgrade", id="down-without-saying-so"),
        pytest.param(21, "group.version", 1, SAFE, "newer version", id="up-by-downgrade"),
        pytest.param(30, "metadata.version", 29, SAFE, "might delete metadata", id="metadata-changed"),
        pytest.param(30, "metadata.version", 29, UNSAFE, "Unsafe", id="metadata-changed-unsafe"),
        pytest.param(
            33, "metadata.version", 32, SAFE, "might delete metadata", id="unregistered-controllers"
        ),
        pytest.param(32, "metadata.version", 31, SAFE, "might delete metadata", id="networks-in-acls"),
        pytest.param(33, "metadata.version", 30, SAFE, "might delete metadata", id="across-4.4"),
        pytest.param(33, "metadata.version", 34, UPGRADE, "only supports versions 7-33", id="not-production"),
        pytest.param(33, "share.version", 3, UPGRADE, "only supports versions 0-2", id="share-version"),
        pytest.param(30, "kraft.version", 0, SAFE, "cannot be lowered", id="kraft-version-never-falls"),
        pytest.param(
            22, "eligible.leader.replicas.version", 1, UPGRADE, "needs metadata.version 23", id="dependency"
        ),
        pytest.param(30, "no.such.feature", 0, UPGRADE, "No controller knows", id="unknown-feature"),
        pytest.param(30, "no.such.feature", 1, UPGRADE, "does not support", id="unknown-feature-level"),
    ],
)
def test_refused(start, name, level, kind, reason):
    active = ActiveController(start)
    before = active.end_offset
    response = update(active, name, level, kind)
    assert response.error_code == Errors.INVALID_UPDATE_VERSION
    assert response.error_message.startswith("The update failed for all features")
    assert reason in response.error_message
    assert active.end_offset == before


@pytest.mark.parametrize(
    ("start", "name", "level", "kind"),
    [
        pytest.param(21, "metadata.version", 30, UPGRADE, id="metadata-version-up"),
        pytest.param(29, "metadata.version", 28, SAFE, id="metadata-version-down-without-loss"),
        pytest.param(30, "group.version", 0, SAFE, id="switch-off"),
        pytest.param(30, "group.version", 1, UPGRADE, id="same-level-again"),
    ],
)
def test_accepted(start, name, level, kind):
    active = ActiveController(start)
    response = update(active, name, level, kind)
    assert (response.error_code, response.error_message) == (0, None)
    record = active.records[-1]
    assert isinstance(record, FeatureLevelRecord)
    assert (record.name, record.feature_level) == (name, level)
    assert active.controller.image.features.level(name) == level


@pytest.mark.prevents("strimzi#10735")
def test_a_registered_broker_that_cannot_run_the_level_blocks_it_even_when_dead():
    """strimzi#10735: it may come back, and ends at the first record that it does not know."""
    active = ActiveController(21)
    old = registration(21)
    for feature in old.features:
        if feature.name == "metadata.version":
            feature.min_supported_version, feature.max_supported_version = 1, 21
    assert active.request(old).error_code == 0
    response = update(active, "metadata.version", 25)
    assert response.error_code == Errors.INVALID_UPDATE_VERSION
    assert "Broker 21 only supports versions 1-21" in response.error_message


def test_static_voters_must_have_registered():
    active = ActiveController(
        30, kraft_version=0, controller_quorum_voters="3000@localhost:9093,3001@localhost:9094"
    )
    assert "controller 3001 has not registered" in update(active, "group.version", 0, SAFE).error_message


@pytest.mark.prevents("KAFKA-16540")
def test_enabling_elr_settles_min_insync_replicas_first():
    active = ActiveController(25, min_insync_replicas="2")
    response = update(active, "eligible.leader.replicas.version", 1)
    assert response.error_code == 0
    config, feature = active.records[-2:]
    assert isinstance(config, ConfigRecord)
    assert (config.resource_name, config.name, config.value) == ("", "min.insync.replicas", "2")
    assert isinstance(feature, FeatureLevelRecord)
    assert active.controller.image.features.elr_enabled


def test_all_or_nothing():
    active = ActiveController(21)
    request = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature="metadata.version", max_version_level=25),
            FeatureUpdateKey(feature="group.version", max_version_level=9),
        ]
    )
    before = active.end_offset
    assert active.request(request).error_code == Errors.INVALID_UPDATE_VERSION
    assert active.end_offset == before


def test_a_level_may_depend_on_another_update_of_the_request():
    active = ActiveController(21)
    request = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature="eligible.leader.replicas.version", max_version_level=1),
            FeatureUpdateKey(feature="metadata.version", max_version_level=25),
        ]
    )
    assert active.request(request).error_code == 0


def test_kraft_version_at_its_level_gives_the_client_an_offset_to_wait_for():
    active = ActiveController()
    assert update(active, features.KRAFT_VERSION, 1).error_code == 0
    assert active.records[-1].NAME == "NoOpRecord"


def test_validate_only():
    active = ActiveController(21)
    before = active.end_offset
    assert update(active, "metadata.version", 25, validate_only=True).error_code == 0
    assert active.end_offset == before


@pytest.mark.parametrize(("version", "results"), [(0, 1), (1, 1), (2, 0)])
def test_every_version(version, results):
    active = ActiveController(28)
    response = update(active, "metadata.version", 29, version=version)
    assert response.error_code == 0
    assert len(response.results) == results


def test_unstable_levels_are_offered_on_request():
    """unstable.feature.versions.enable: the level under development counts as supported."""
    assert features.supported_features(False) == features.SUPPORTED_FEATURES
    offered = features.supported_features(True)
    assert offered.pop(features.METADATA_VERSION).max == features.LATEST_TESTING
    assert offered.items() <= features.SUPPORTED_FEATURES.items()
