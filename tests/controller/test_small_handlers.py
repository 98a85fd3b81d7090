"""AllocateProducerIds, DescribeCluster, ApiVersions; who is unregistered; APIs that are not supported."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import ClassVar

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.metadata import features
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.requests import decode_response
from tests.support.active_controller import (
    CLUSTER_ID,
    ENDPOINTS,
    NODE_ID,
    ActiveController,
    bootstrap_records,
)

FRAMES = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "broker-controller-frames.jsonl"


class TestProducerIds:
    def test_blocks_follow_each_other(self):
        active = ActiveController()
        active.start_brokers(1)
        epoch = active.controller.image.cluster.brokers[1].epoch
        for start in (0, 1_000, 2_000):
            response = active.request(AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch))
            assert (response.error_code, response.producer_id_start, response.producer_id_len) == (
                0,
                start,
                1_000,
            )
            record = active.records[-1]
            assert isinstance(record, ProducerIdsRecord)
            assert (record.broker_id, record.broker_epoch, record.next_producer_id) == (
                1,
                epoch,
                start + 1_000,
            )

    def test_a_stale_broker_gets_none(self):
        active = ActiveController()
        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=0)
        assert active.request(request).error_code == Errors.STALE_BROKER_EPOCH

    def test_exhausted(self):
        active = ActiveController()
        active.start_brokers(1)
        epoch = active.controller.image.cluster.brokers[1].epoch
        active.controller.image.producer_ids.next_producer_id = (1 << 63) - 1_000
        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch)
        assert active.request(request).error_code == Errors.UNKNOWN_SERVER_ERROR


class TestUnregister:
    def test_a_broker_leaves_isrs_and_is_forgotten(self):
        active = ActiveController()
        active.start_brokers(1, 2)
        active.create_topic("t", partitions=2, replication_factor=2)
        assert active.request(UnregisterBrokerRequest(broker_id=1)).error_code == 0
        assert isinstance(active.records[-1], UnregisterBrokerRecord)
        image = active.controller.image
        assert sorted(image.cluster.brokers) == [2]
        topic = image.topics.topic_by_name("t")
        assert all(partition.isr == (2,) for partition in topic.partitions.values())
        assert active.heartbeat(1, epoch=0).error_code == Errors.STALE_BROKER_EPOCH
        assert active.pass_time(30_000)

    def test_unknown(self):
        active = ActiveController()
        response = active.request(UnregisterBrokerRequest(broker_id=1))
        assert response.error_code == Errors.BROKER_ID_NOT_REGISTERED


class TestUnregisterController:
    """KIP-1312."""

    GHOST = 3999

    def with_ghost(self, metadata_version=features.LATEST_PRODUCTION):
        active = ActiveController(metadata_version)
        request = ControllerRegistrationRequest(controller_id=self.GHOST, incarnation_id=b"g" * 16)
        assert active.request(request).error_code == 0
        assert self.GHOST in active.controller.image.cluster.controllers
        return active

    def test_a_controller_is_forgotten(self):
        active = self.with_ghost()
        assert active.request(UnregisterControllerRequest(controller_id=self.GHOST)).error_code == 0
        assert active.records[-1] == UnregisterControllerRecord(controller_id=self.GHOST)
        assert sorted(active.controller.image.cluster.controllers) == [NODE_ID]

    @pytest.mark.parametrize(
        ("metadata_version", "controller_id", "error"),
        [
            pytest.param(33, NODE_ID, Errors.INVALID_REQUEST, id="itself"),
            pytest.param(32, NODE_ID, Errors.INVALID_REQUEST, id="itself-before-the-level"),
            pytest.param(32, GHOST, Errors.UNSUPPORTED_VERSION, id="level"),
            pytest.param(32, 7, Errors.UNSUPPORTED_VERSION, id="level-before-the-id"),
            pytest.param(33, 7, Errors.CONTROLLER_ID_NOT_REGISTERED, id="unknown"),
            pytest.param(33, -1, Errors.CONTROLLER_ID_NOT_REGISTERED, id="negative"),
        ],
    )
    def test_refused_in_kafkas_order(self, metadata_version, controller_id, error):
        active = self.with_ghost(metadata_version)
        before = active.end_offset
        response = active.request(UnregisterControllerRequest(controller_id=controller_id))
        assert (response.error_code, active.end_offset) == (error, before)
        assert str(controller_id) in response.error_message or error == Errors.UNSUPPORTED_VERSION
        if error == Errors.INVALID_REQUEST:  # of two voters, none may be stopped
            assert "stop" not in response.error_message
            assert "quorum remove-controller" in response.error_message

    def test_its_features_no_longer_limit_the_cluster(self):
        """It registered with no feature at all, so nothing could be finalized."""
        active = self.with_ghost()
        raised = UpdateFeaturesRequest(
            feature_updates=[FeatureUpdateKey(feature="share.version", max_version_level=1, upgrade_type=2)]
        )
        assert active.request(raised, 2).error_code == Errors.INVALID_UPDATE_VERSION
        assert active.request(UnregisterControllerRequest(controller_id=self.GHOST)).error_code == 0
        assert active.request(raised, 2).error_code == 0


class TestDescribeCluster:
    def test_controllers_of_the_listener(self):
        active = ActiveController()
        response = active.request(DescribeClusterRequest(endpoint_type=2))
        assert (response.error_code, response.cluster_id, response.controller_id) == (0, CLUSTER_ID, NODE_ID)
        assert [(n.broker_id, n.host, n.port) for n in response.brokers] == [(NODE_ID, "localhost", 9093)]
        assert response.cluster_authorized_operations == -(1 << 31)

    def test_another_listener_has_no_endpoints(self):
        active = ActiveController()
        request = DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=True)
        response = active.request(request, context=active.context(request, 2, listener="OTHER"))
        assert (response.brokers, response.controller_id) == ([], -1)
        assert response.cluster_authorized_operations == sum(1 << bit for bit in (5, 7, 8, 9, 10, 11, 12))

    @pytest.mark.parametrize(
        ("endpoint_type", "version", "error"),
        [
            (1, 0, Errors.INVALID_REQUEST),
            (1, 1, Errors.MISMATCHED_ENDPOINT_TYPE),
            (1, 2, Errors.MISMATCHED_ENDPOINT_TYPE),
            (3, 2, Errors.UNSUPPORTED_ENDPOINT_TYPE),
        ],
    )
    def test_endpoint_types(self, endpoint_type, version, error):
        active = ActiveController()
        request = DescribeClusterRequest(endpoint_type=endpoint_type)
        response = active.request(request, version)
        assert response.error_code == error
        what = "controllers listen here" if endpoint_type == 1 else "endpoint type 3 is not known here"
        assert response.error_message.startswith(what)
        assert ("--bootstrap-controller" in response.error_message) == (endpoint_type == 1)

    def test_old_levels(self):
        active = ActiveController(features.IBP_3_6_IV2)
        response = active.request(DescribeClusterRequest(endpoint_type=2))
        assert response.error_code == Errors.UNSUPPORTED_VERSION


class TestApiVersions:
    REQUEST = ApiVersionsRequest(client_software_name="apache-kafka-java", client_software_version="4.3.1")

    RAISED_BY_4_4: ClassVar[dict[str, int]] = {features.METADATA_VERSION: 33, features.SHARE_VERSION: 2}

    def test_as_a_kafka_controller_says_it(self):
        """That of 4.3.1, whose frames were recorded, and what 4.4 has added."""
        line = next(json.loads(text) for text in FRAMES.read_text().splitlines() if '"api": 18' in text)
        _, theirs = decode_response(bytes.fromhex(line["rsp"]), ApiKey.API_VERSIONS, 4)
        ours = ActiveController(features.IBP_4_3_IV0).request(self.REQUEST, 4)
        assert isinstance(theirs, ApiVersionsResponse)
        assert isinstance(ours, ApiVersionsResponse)
        for key in theirs.api_keys:
            if key.api_key == ApiKey.ALTER_PARTITION:
                key.min_version = 0  # Kafka 4.0 dropped versions 0 and 1; they are still served here
            if key.api_key == ApiKey.API_VERSIONS:
                key.max_version = 5
        theirs.api_keys.append(ApiVersion(api_key=int(ApiKey.UNREGISTER_CONTROLLER)))
        for feature in theirs.supported_features:
            feature.max_version = self.RAISED_BY_4_4.get(feature.name, feature.max_version)
        assert [repr(key) for key in ours.api_keys] == [repr(key) for key in theirs.api_keys]
        for attribute in ("supported_features", "finalized_features"):
            assert sorted(map(repr, getattr(ours, attribute))) == sorted(
                map(repr, getattr(theirs, attribute))
            )

    @pytest.mark.parametrize("version", [0, 1, 2, 3, 4, 5])
    def test_every_version(self, version):
        response = ActiveController().request(self.REQUEST, version)
        assert len(response.api_keys) == len(API_TABLE)
        assert bool(response.supported_features) == (version >= 3)
        lowest = [feature.min_version for feature in response.supported_features]
        assert (0 in lowest) == (version >= 4)

    def test_a_feature_that_starts_at_0_is_left_out_for_clients_that_cannot_read_it(self):
        """Kafka's controller does so since KAFKA-17492: none of them learns of a level that is not there."""
        response = ActiveController().request(self.REQUEST, 3)
        assert [each.name for each in response.supported_features] == [features.METADATA_VERSION]

    @pytest.mark.parametrize(
        ("name", "software_version", "version", "error"),
        [
            pytest.param("apache-kafka-java", "4.3.1", 4, Errors.NONE, id="java-client"),
            pytest.param("librdkafka", "2.6-1.x", 3, Errors.NONE, id="librdkafka"),
            pytest.param("", "1", 3, Errors.INVALID_REQUEST, id="no-name"),
            pytest.param("-x", "1", 3, Errors.INVALID_REQUEST, id="starts-with-a-dash"),
            pytest.param("x", "1.", 4, Errors.INVALID_REQUEST, id="ends-with-a-dot"),
            pytest.param("a b", "1", 3, Errors.INVALID_REQUEST, id="blank"),
            pytest.param("x\nINFO all is well", "1", 3, Errors.INVALID_REQUEST, id="line-break"),
            pytest.param("", "", 2, Errors.NONE, id="too-old-to-say"),
        ],
    )
    def test_client_software_must_be_a_plain_name(self, name, software_version, version, error):
        request = ApiVersionsRequest(client_software_name=name, client_software_version=software_version)
        response = ActiveController().request(request, version)
        assert response.error_code == error
        assert bool(response.api_keys) == (error == Errors.NONE)

    @pytest.mark.parametrize(
        ("cluster_id", "node_id", "error"),
        [
            pytest.param(None, -1, Errors.NONE, id="neither"),
            pytest.param(CLUSTER_ID, NODE_ID, Errors.NONE, id="both"),
            pytest.param("another", 7, Errors.NONE, id="not-compared"),
            pytest.param("", 0, Errors.NONE, id="an-empty-cluster-id"),
            pytest.param(CLUSTER_ID, -1, Errors.INVALID_REQUEST, id="no-node"),
            pytest.param(None, NODE_ID, Errors.INVALID_REQUEST, id="no-cluster"),
        ],
    )
    def test_a_client_names_both_its_cluster_and_its_node_or_none(self, cluster_id, node_id, error):
        """KIP-1242."""
        request = ApiVersionsRequest(
            client_software_name="a", client_software_version="1", cluster_id=cluster_id, node_id=node_id
        )
        assert ActiveController().request(request, 5).error_code == error

    def test_before_the_log_is_read(self):
        active = ActiveController()
        controller = QuorumController(
            active.config, CLUSTER_ID, random.Random(1), bootstrap_records(), ENDPOINTS
        )
        response = controller.handle(active.context(self.REQUEST, None), self.REQUEST, active.moment).response
        assert (response.finalized_features, response.finalized_features_epoch) == ([], -1)


def test_sasl_after_authentication():
    assert ActiveController().request(SaslHandshakeRequest()).error_code == Errors.ILLEGAL_SASL_STATE
