"""Known bugs of Kafka's controller do not occur here; each test names the issue."""

from __future__ import annotations

import random

import pytest

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.metadata import features
from kraftctl.metadata.registration_limits import DIRECTORIES_MAX
from kraftctl_protocol import config_resource
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.register_controller_record import ControllerFeature, RegisterControllerRecord
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.active_controller import ActiveController
from tests.support.effort import seeds
from tests.support.metadata_state import directory

ALICE = KafkaPrincipal("User", "alice")
LITERAL, PREFIXED = 3, 4
DENY, ALLOW = 2, 3
UPGRADE = 1


@pytest.mark.prevents("KAFKA-13959")
def test_a_broker_is_unfenced_though_the_log_never_rests() -> None:
    """KAFKA-13959: a broker has read its registration, but the end of the log has moved since."""
    active = ActiveController()
    active.register(1)
    registered_at = active.controller.image.cluster.registration_offsets[1]
    active.pass_time(5_000)
    assert active.end_offset > registered_at + 5
    assert active.heartbeat(1, offset=registered_at - 1).is_fenced
    assert not active.heartbeat(1, offset=registered_at).is_fenced


@pytest.mark.prevents("KAFKA-17793")
@pytest.mark.parametrize(
    ("epoch_before", "directories", "expected"),
    [
        pytest.param(0, 0, Errors.NONE, id="answered"),
        pytest.param(0, DIRECTORIES_MAX + 1, Errors.INVALID_REQUEST, id="refused"),
        pytest.param(1, 0, Errors.STALE_BROKER_EPOCH, id="of-another-incarnation"),
    ],
)
def test_a_heartbeat_counts_whatever_it_leads_to(
    epoch_before: int, directories: int, expected: Errors
) -> None:
    """KAFKA-17793: nothing that happens to a heartbeat later makes a broker that sends them a silent one."""
    active = ActiveController()
    active.start_brokers(1, 2)
    brokers = active.controller.image.cluster.brokers
    offline = [directory(number) for number in range(1_000, 1_000 + directories)]
    for _ in range(5):
        active.pass_time(4_000)
        response = active.heartbeat(1, epoch=brokers[1].epoch - epoch_before, offline=offline)
        assert response.error_code == expected
    assert brokers[1].fenced == (expected == Errors.STALE_BROKER_EPOCH)
    assert brokers[2].fenced


@pytest.mark.prevents("KAFKA-13173")
@pytest.mark.parametrize(
    "metadata_version",
    [
        pytest.param(features.LATEST_PRODUCTION, id="elr"),
        pytest.param(features.IBP_3_5_IV2, id="no-elr"),
    ],
)
def test_brokers_whose_sessions_end_together_are_fenced_one_after_the_other(metadata_version: int) -> None:
    """KAFKA-13173: made from one state, the changes for the second broker elect the first one again."""
    active = ActiveController(metadata_version)
    active.start_brokers(1, 2, 3, 4)
    assignments = [[2, 1], [2, 3], [3, 2], [4, 3], [3, 4]]
    topic = CreatableTopic(
        name="t",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=broker_ids)
            for index, broker_ids in enumerate(assignments)
        ],
    )
    active.request(CreateTopicsRequest(topics=[topic]))
    active.pass_time(5_000)
    for broker_id in (1, 4):
        active.heartbeat(broker_id)
    fenced = [
        entry.record.broker_id
        for entry in active.pass_time(5_000)
        if isinstance(entry.record, BrokerRegistrationChangeRecord)
    ]
    assert sorted(fenced) == [2, 3]
    image = active.controller.image.topics.topic_by_name("t")
    assert image is not None
    partitions = [partition for _, partition in sorted(image.partitions.items())]
    assert [partition.leader for partition in partitions] == [1, -1, -1, 4, 4]
    in_sync_or_eligible = [[*partition.isr, *partition.elr] for partition in partitions]
    last = fenced[-1:]
    assert in_sync_or_eligible == [[1], last, last, [4], [4]], "only the last one has all records"


@pytest.mark.prevents("strimzi#10735")
def test_a_registered_controller_that_cannot_run_a_level_blocks_it() -> None:
    """strimzi#10735: the level is refused when it is set, not when a node reads it."""
    active = ActiveController(21)
    old = RegisterControllerRecord(
        controller_id=3001,
        incarnation_id=bytes(range(16)),
        features=[
            ControllerFeature(name="metadata.version", min_supported_version=7, max_supported_version=21)
        ],
    )
    active.write(ControllerResult.of([RecordAndVersion(old, 0)]))
    request = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature="metadata.version", max_version_level=25, upgrade_type=UPGRADE)
        ]
    )
    before = active.end_offset
    response = active.request(request)
    assert response.error_code == Errors.INVALID_UPDATE_VERSION  # type: ignore[attr-defined]
    assert "Controller 3001 only supports versions 7-21" in response.error_message  # type: ignore[attr-defined]
    assert active.end_offset == before


@pytest.mark.prevents("KAFKA-13861")
def test_replacing_all_configs_can_be_tried_out() -> None:
    """KAFKA-13861: validateOnly of the older AlterConfigs leaves no record behind either."""
    active = ActiveController()
    active.start_brokers(1)
    active.create_topic("t")
    request = legacy.AlterConfigsRequest(
        resources=[
            legacy.AlterConfigsResource(
                resource_type=config_resource.TOPIC,
                resource_name="t",
                configs=[legacy.AlterableConfig(name="retention.ms", value="5000")],
            )
        ],
        validate_only=True,
    )
    before = active.end_offset
    response = active.request(request)
    assert [result.error_code for result in response.responses] == [0]  # type: ignore[attr-defined]
    assert active.end_offset == before
    request.validate_only = False
    active.request(request)
    assert active.end_offset == before + 1


@pytest.mark.prevents("KAFKA-17608")
@pytest.mark.parametrize("uncommitted", [False, True])
def test_a_controller_that_removed_itself_keeps_what_is_committed(uncommitted: bool) -> None:
    """KAFKA-17608: KRaftVoters is committed behind the last record that was replayed."""
    active = ActiveController()
    active.start_brokers(1)
    active.create_topic("kept")
    voters_offset = active.end_offset
    active.end_offset += 1
    if uncommitted:
        request = CreateTopicsRequest(
            topics=[CreatableTopic(name="undone", num_partitions=1, replication_factor=1)]
        )
        prepared = active.controller.prepare_request(active.pending(request), active.moment)
        active.controller.begin_append(prepared)
        active.controller.replay(prepared.batches[0].records, active.end_offset)
        assert active.controller.image.topics.topic_by_name("undone") is not None
    active.controller.committed(voters_offset + 1)
    active.controller.renounce()
    image = active.controller.image
    assert image.topics.topic_by_name("kept") is not None
    assert image.topics.topic_by_name("undone") is None
    assert active.controller.next_replay_offset == voters_offset + 1


Rule = tuple[str, int, int, int]
"""(name, pattern type, operation, permission type), all of them for Alice and topics."""


class SecuredController:
    """Gives and takes Alice's rights by requests; `rules` is what must be in force."""

    def __init__(self) -> None:
        self.active = ActiveController(
            authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            super_users="User:ANONYMOUS",
        )
        self.rules: list[Rule] = []

    def add(self, rule: Rule) -> None:
        name, pattern, operation, permission = rule
        creation = AclCreation(
            resource_type=ResourceType.TOPIC,
            resource_name=name,
            resource_pattern_type=pattern,
            principal="User:alice",
            host="*",
            operation=operation,
            permission_type=permission,
        )
        self.active.request(CreateAclsRequest(creations=[creation]))
        self.rules.append(rule)

    def remove(self, rule: Rule) -> None:
        name, pattern, operation, permission = rule
        wanted = DeleteAclsFilter(
            resource_type_filter=ResourceType.TOPIC,
            resource_name_filter=name,
            pattern_type_filter=pattern,
            principal_filter="User:alice",
            host_filter="*",
            operation=operation,
            permission_type=permission,
        )
        self.active.request(DeleteAclsRequest(filters=[wanted]))
        self.rules.remove(rule)

    def may(self, operation: int, name: str) -> bool:
        context = self.active.context(DescribeAclsRequest(), None, principal=ALICE)
        authorizer = self.active.controller.state.authorizer
        return authorizer.allows(context, operation, ResourceType.TOPIC, name)

    def should(self, operation: int, name: str) -> bool:
        """By the plain rule: every pattern that covers the name counts, and one DENY wins."""
        permissions = [
            permission
            for resource, pattern, allowed, permission in self.rules
            if (name.startswith(resource) if pattern == PREFIXED else name == resource)
            and allowed == operation
        ]
        return ALLOW in permissions and DENY not in permissions


@pytest.mark.prevents("KAFKA-14265", "CVE-2024-27309")
@pytest.mark.parametrize("seed", seeds(20))
def test_no_rule_hides_another_one_and_each_goes_alone(seed: int) -> None:
    """KAFKA-14265, CVE-2024-27309: prefixes within prefixes; a DENY outlives its removed neighbours."""
    rng = random.Random(seed)
    controller = SecuredController()
    names = ["f", "fo", "foo", "foobar", "foobaz", "g"]
    operations = [AclOperation.READ, AclOperation.WRITE]
    for _ in range(40):
        if controller.rules and rng.random() < 0.4:
            controller.remove(rng.choice(controller.rules))
        else:
            rule = (
                rng.choice(names),
                rng.choice([LITERAL, PREFIXED]),
                rng.choice(operations),
                rng.choice([ALLOW, ALLOW, DENY]),
            )
            if rule not in controller.rules:
                controller.add(rule)
        for name in [*names, "foobarbaz"]:
            for operation in operations:
                assert controller.may(operation, name) == controller.should(operation, name)
