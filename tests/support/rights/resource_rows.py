"""Rows of APIs whose rights are per topic, group or user."""

from __future__ import annotations

from kraftctl.controller.state.authorization import ResourceType
from kraftctl_protocol import config_resource
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated import incremental_alter_configs_request as incremental
from kraftctl_protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from tests.support.rights.cluster_rows import always
from tests.support.rights.grants import DENY, PREFIXED, Grant, Grants
from tests.support.rights.row import ALLOWED, Refusal, Row

TOPIC_REFUSED = int(Errors.TOPIC_AUTHORIZATION_FAILED)
GROUP_REFUSED = int(Errors.GROUP_AUTHORIZATION_FAILED)
CLUSTER_REFUSED = int(Errors.CLUSTER_AUTHORIZATION_FAILED)

NODE = "3000"
"""The id of the controller that is asked."""


def on_topic(operation: int, name: str, permission: int = 3) -> Grant:
    return Grant(operation, ResourceType.TOPIC, name, permission)


CREATION: Refusal = (("topics.error_code", TOPIC_REFUSED),)
HIDDEN_CONFIGS: Refusal = (("topics.topic_config_error_code", TOPIC_REFUSED),)
CREATE = on_topic(AclOperation.CREATE, "new")

TOPIC_CREATION = Row(
    "create-topics",
    always(
        CreateTopicsRequest(
            topics=[CreatableTopic(name="new", num_partitions=1, replication_factor=1)], validate_only=True
        )
    ),
    (Grant(AclOperation.CREATE), CREATE),
    CREATION,
    granted=HIDDEN_CONFIGS,
    others={
        "with-create-on-its-prefix": (
            (Grant(AclOperation.CREATE, ResourceType.TOPIC, "ne", pattern=PREFIXED),),
            HIDDEN_CONFIGS,
        ),
        "with-create-on-another": ((on_topic(AclOperation.CREATE, "ne"),), CREATION),
        "with-configs": ((CREATE, on_topic(AclOperation.DESCRIBE_CONFIGS, "new")), ALLOWED),
        "with-alteration-of-configs": ((CREATE, on_topic(AclOperation.ALTER_CONFIGS, "new")), ALLOWED),
        "with-configs-denied": (
            (
                CREATE,
                on_topic(AclOperation.ALTER_CONFIGS, "new"),
                on_topic(AclOperation.DESCRIBE_CONFIGS, "*", DENY),
            ),
            HIDDEN_CONFIGS,
        ),
        "denied-on-the-topic": ((CREATE, on_topic(AclOperation.CREATE, "new", DENY)), CREATION),
        "denied-on-the-topic-only": (
            (Grant(AclOperation.CREATE), on_topic(AclOperation.CREATE, "new", DENY)),
            HIDDEN_CONFIGS,
        ),
    },
)

DELETION: Refusal = (("responses.error_code", TOPIC_REFUSED),)
DELETE = on_topic(AclOperation.DELETE, "doomed")

DELETERS: dict[str, tuple[Grants, Refusal]] = {
    "may-describe": ((on_topic(AclOperation.DESCRIBE, "doomed"),), DELETION),
    "denied-after-all": ((DELETE, on_topic(AclOperation.DELETE, "doomed", DENY)), DELETION),
}

DELETION_BY_NAME = Row(
    "delete-topics-by-name",
    always(
        DeleteTopicsRequest(
            topics=[DeleteTopicState(name="doomed")], topic_names=["doomed"], timeout_ms=60_000
        )
    ),
    (Grant(AclOperation.DELETE), DELETE),
    DELETION,
    others={
        **DELETERS,
        # By its id it may: there, only the name is hidden.
        "may-not-describe": ((DELETE, on_topic(AclOperation.DESCRIBE, "doomed", DENY)), DELETION),
    },
    deletes=True,
)

DELETION_BY_ID = Row(
    "delete-topics-by-id",
    lambda world: DeleteTopicsRequest(
        topics=[DeleteTopicState(name=None, topic_id=world.doomed_id)], timeout_ms=60_000
    ),
    (Grant(AclOperation.DELETE), DELETE),
    DELETION,
    others={
        **DELETERS,
        "may-not-describe": ((DELETE, on_topic(AclOperation.DESCRIBE, "doomed", DENY)), ALLOWED),
    },
    deletes=True,
)

DELETION_OF_UNKNOWN = Row(
    "delete-topics-that-do-not-exist",
    always(
        DeleteTopicsRequest(
            topics=[DeleteTopicState(name="ghost"), DeleteTopicState(name=None, topic_id=b"g" * 16)],
            topic_names=["ghost"],
            timeout_ms=60_000,
        )
    ),
    (Grant(AclOperation.DELETE), on_topic(AclOperation.DESCRIBE, "ghost")),
    DELETION,
)

NEW_PARTITIONS = Row(
    "create-partitions",
    always(
        CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name="kept", count=2, assignments=None)],
            timeout_ms=60_000,
            validate_only=True,
        )
    ),
    (on_topic(AclOperation.ALTER, "kept"), on_topic(AclOperation.ALTER, "*")),
    (("results.error_code", TOPIC_REFUSED),),
    others={
        "with-alter-on-the-cluster": ((Grant(AclOperation.ALTER),), (("results.error_code", TOPIC_REFUSED),))
    },
)


VALID = {
    config_resource.TOPIC: ("retention.ms", "50000"),
    config_resource.GROUP: ("consumer.session.timeout.ms", "50000"),
    config_resource.BROKER: ("log.cleaner.threads", "1"),
    config_resource.CLIENT_METRICS: ("interval.ms", "50000"),
    config_resource.BROKER_LOGGER: ("root", "INFO"),
}


def configs(kind: int, name: str, label: str, need: Grant, error: int) -> list[Row]:
    """Description and both alterations of one resource. What alters it may describe it, too."""
    described = DescribeConfigsRequest(
        resources=[DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)]
    )
    key, value = VALID[kind]
    replaced = legacy.AlterConfigsRequest(
        resources=[
            legacy.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[legacy.AlterableConfig(name=key, value=value)],
            )
        ],
        validate_only=True,
    )
    altered = incremental.IncrementalAlterConfigsRequest(
        resources=[
            incremental.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[incremental.AlterableConfig(name=key, value=value)],
            )
        ],
        validate_only=True,
    )
    describe = Grant(AclOperation.DESCRIBE_CONFIGS, need.resource_type, need.resource_name)
    alter = Grant(AclOperation.ALTER_CONFIGS, need.resource_type, need.resource_name)
    responses: Refusal = (("responses.error_code", error),)
    reader = {"with-describe-configs": ((describe,), responses)}
    alone = {"with-denial-of-alteration": ((describe, denial(alter)), ALLOWED)}
    rows = [
        Row(f"describe-configs-of-{label}", always(described), (describe, alter),
            (("results.error_code", error),), others=alone, errors_only=True,
            has_loggers=kind == config_resource.BROKER_LOGGER),
    ]  # fmt: skip
    if kind == config_resource.BROKER_LOGGER:
        # Levels of loggers are changed on the node itself.
        action = Grant(AclOperation.CLUSTER_ACTION)
        return [*rows, Row(f"alter-{label}", always(altered), (action,), responses, others=reader)]
    return [
        *rows,
        Row(f"alter-configs-of-{label}", always(replaced), (alter,), responses, others=reader),
        Row(f"incremental-alter-configs-of-{label}", always(altered), (alter,), responses, others=reader),
    ]


def denial(grant: Grant) -> Grant:
    return Grant(grant.operation, grant.resource_type, grant.resource_name, DENY)


ON_CLUSTER = Grant(AclOperation.ALTER_CONFIGS)

CONFIGS = [
    *configs(
        config_resource.TOPIC, "kept", "a-topic", on_topic(AclOperation.ALTER_CONFIGS, "kept"), TOPIC_REFUSED
    ),
    *configs(
        config_resource.GROUP,
        "readers",
        "a-group",
        Grant(AclOperation.ALTER_CONFIGS, ResourceType.GROUP, "readers"),
        GROUP_REFUSED,
    ),
    *configs(config_resource.BROKER, "", "all-brokers", ON_CLUSTER, CLUSTER_REFUSED),
    *configs(config_resource.BROKER, NODE, "a-broker", ON_CLUSTER, CLUSTER_REFUSED),
    *configs(config_resource.CLIENT_METRICS, "m", "client-metrics", ON_CLUSTER, CLUSTER_REFUSED),
    *configs(config_resource.BROKER_LOGGER, NODE, "a-logger", ON_CLUSTER, CLUSTER_REFUSED),
]

NOT_ALLOWED: Refusal = (("error_code", int(Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)),)
NOT_FOR_OTHERS: Refusal = (("error_code", int(Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED)),)
NOT_OWNER: Refusal = (("error_code", int(Errors.DELEGATION_TOKEN_OWNER_MISMATCH)),)

FOR_A_THIRD = Grant(AclOperation.CREATE_TOKENS, ResourceType.USER, "User:p")

TOKENS = [
    Row("create-delegation-token", always(CreateDelegationTokenRequest()),
        token=NOT_ALLOWED, anonymous=NOT_ALLOWED),
    Row(
        "create-delegation-token-for-another",
        always(CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="o")),
        (Grant(AclOperation.CREATE_TOKENS, ResourceType.USER, "User:o"),),
        NOT_FOR_OTHERS,
        others={
            "for-a-third": ((FOR_A_THIRD,), NOT_FOR_OTHERS),
            "with-alter-on-the-cluster": ((Grant(AclOperation.ALTER),), NOT_FOR_OTHERS),
        },
        token=NOT_ALLOWED,
        anonymous=NOT_ALLOWED,
    ),
    Row(
        "create-delegation-token-that-a-group-renews",
        always(
            CreateDelegationTokenRequest(
                renewers=[CreatableRenewers(principal_type="Group", principal_name="g")]
            )
        ),
        token=NOT_ALLOWED,
        anonymous=NOT_ALLOWED,
    ),
    Row(
        "renew-delegation-token",
        lambda world: RenewDelegationTokenRequest(hmac=world.token_hmac, renew_period_ms=-1),
        (),
        NOT_OWNER,
        known={"owner": ALLOWED, "renewer": ALLOWED, "super": NOT_OWNER},
        token=NOT_ALLOWED,
        anonymous=NOT_ALLOWED,
    ),
    Row(
        "expire-delegation-token",
        lambda world: ExpireDelegationTokenRequest(hmac=world.token_hmac, expiry_time_period_ms=60_000),
        (),
        NOT_OWNER,
        known={"owner": ALLOWED, "renewer": ALLOWED, "super": NOT_OWNER},
        token=NOT_ALLOWED,
        anonymous=NOT_ALLOWED,
    ),
]  # fmt: skip

RESOURCE_ROWS = [
    TOPIC_CREATION,
    DELETION_BY_NAME,
    DELETION_BY_ID,
    DELETION_OF_UNKNOWN,
    NEW_PARTITIONS,
    *CONFIGS,
    *TOKENS,
]
