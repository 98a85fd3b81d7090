"""Makes the tree of an image, with the names that kafka-metadata-shell has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kraftctl import __version__
from kraftctl.cli.shell.java_texts import (
    acl_text,
    broker_text,
    controller_text,
    double_text,
    partition_text,
    time_text,
)
from kraftctl.cli.shell.loaded_metadata import LoadedMetadata
from kraftctl.cli.shell.tree_node import NodeDirectory, NodeFile, TreeNode
from kraftctl.image.client_quotas_image import ClientQuotasImage, QuotaEntity
from kraftctl.image.configurations_image import ConfigurationsImage, Resource
from kraftctl.image.delegation_tokens_image import DelegationToken
from kraftctl.image.features_image import FeaturesImage
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.scram_image import ScramImage
from kraftctl.image.topics_image import TopicImage, TopicsImage
from kraftctl.metadata import features
from kraftctl_protocol.config_resource import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC
from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_protocol.secrets import REDACTED, shown_value
from kraftctl_protocol.uuids import Uuid, uuid_to_string

T = TypeVar("T")

Entries = dict[str, Callable[[], TreeNode]]

RESOURCE_TYPES = {
    TOPIC: "TOPIC",
    BROKER: "BROKER",
    BROKER_LOGGER: "BROKER_LOGGER",
    CLIENT_METRICS: "CLIENT_METRICS",
    GROUP: "GROUP",
}

QUOTA_TYPES = {"client-id": "clientId", "ip": "ip", "user": "user"}


def root_node(loaded: LoadedMetadata, *, show_secrets: bool) -> NodeDirectory:
    provenance = f"offset {loaded.last_offset}, epoch {loaded.last_epoch}, time {time_text(loaded.time_ms)}"
    return NodeDirectory(
        {
            "image": lambda: _image_node(loaded.image, provenance, show_secrets),
            "local": lambda: _files({"commitId": "unknown", "version": __version__}),
        }
    )


def _image_node(image: MetadataImage, provenance: str, show_secrets: bool) -> NodeDirectory:
    acls = {uuid_to_string(acl_id): acl for acl_id, acl in image.acls.acls.items()}
    brokers = {str(broker_id): broker for broker_id, broker in image.cluster.brokers.items()}
    controllers = {str(node_id): node for node_id, node in image.cluster.controllers.items()}
    return NodeDirectory(
        {
            "acls": lambda: _directories({"byId": _texts(acls, acl_text)}),
            "clientQuotas": lambda: _client_quotas_node(image.client_quotas),
            "cluster": lambda: _directories(
                {
                    "brokers": _texts(brokers, broker_text),
                    "controllers": _texts(controllers, controller_text),
                }
            ),
            "configs": lambda: _configs_node(image.configurations, show_secrets),
            "delegationToken": lambda: _directories(
                {"tokens": _texts(image.delegation_tokens.tokens, _token_text)}
                if image.delegation_tokens.tokens
                else {}
            ),
            "features": lambda: _features_node(image.features),
            "producerIds": lambda: _producer_ids_node(image),
            "provenance": lambda: NodeFile(provenance),
            "scram": lambda: _scram_node(image.scram, show_secrets),
            "topics": lambda: _topics_node(image.topics),
        }
    )


def _topics_node(topics: TopicsImage) -> NodeDirectory:
    def topic_node(topic_id: Uuid) -> NodeDirectory:
        return _topic_node(topics.topics[topic_id])

    by_id: Entries = {uuid_to_string(topic_id): partial(topic_node, topic_id) for topic_id in topics.topics}
    by_name: Entries = {name: partial(topic_node, topic_id) for name, topic_id in topics.ids_by_name.items()}
    return _directories({"byId": by_id, "byName": by_name})


def _topic_node(topic: TopicImage) -> NodeDirectory:
    def partition_node(index: int) -> NodeFile:
        return NodeFile(partition_text(topic.partitions[index]))

    indexes = topic.partitions.keys()
    entries: Entries = {str(index): partial(partition_node, index) for index in indexes}
    entries["id"] = lambda: NodeFile(uuid_to_string(topic.topic_id))
    entries["name"] = lambda: NodeFile(topic.name)
    return NodeDirectory(entries)


def _configs_node(configurations: ConfigurationsImage, show_secrets: bool) -> NodeDirectory:
    def resource_node(resource: Resource) -> NodeDirectory:
        shown = {
            name: value if show_secrets else shown_value(resource[0], name, value)
            for name, value in configurations.resources[resource].items()
        }
        return _files(shown)

    entries: Entries = {}
    for resource in configurations.resources:
        kind, name = RESOURCE_TYPES.get(resource[0], f"UNKNOWN_{resource[0]}"), resource[1]
        entries[f"{kind}:{name}" if name else kind] = partial(resource_node, resource)
    return NodeDirectory(entries)


def _client_quotas_node(client_quotas: ClientQuotasImage) -> NodeDirectory:
    def entity_node(entity: QuotaEntity) -> NodeDirectory:
        return _files({key: double_text(value) for key, value in client_quotas.quotas[entity].items()})

    return NodeDirectory(
        {_entity_name(entity): partial(entity_node, entity) for entity in client_quotas.quotas}
    )


def _entity_name(entity: QuotaEntity) -> str:
    """Returns a name such as `clientId(a)_user(b)`; that of a default is empty."""
    return "_".join(f"{QUOTA_TYPES.get(kind, kind)}({_escaped(name or '')})" for kind, name in entity)


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _features_node(image: FeaturesImage) -> NodeDirectory:
    texts = {f"finalized_{name}": str(level) for name, level in image.finalized.items()}
    name = features.METADATA_VERSION_NAMES.get(image.metadata_version)
    texts["metadataVersion"] = "Optional.empty" if name is None else f"Optional[{name}]"
    return _files(texts)


def _producer_ids_node(image: MetadataImage) -> NodeDirectory:
    return _files({"nextProducerId": str(image.producer_ids.next_producer_id)})


def _scram_node(scram: ScramImage, show_secrets: bool) -> NodeDirectory:
    by_mechanism: dict[str, Entries] = {name: {} for name in MECHANISM_NAMES.values()}
    for (mechanism, user), credential in scram.credentials.items():
        hidden = (credential.salt, credential.stored_key, credential.server_key)
        salt, stored_key, server_key = (each.hex() if show_secrets else REDACTED for each in hidden)
        text = (
            f"ScramCredentialData(salt={salt}, storedKey={stored_key}, serverKey={server_key},"
            f" iterations={credential.iterations})"
        )
        by_mechanism[MECHANISM_NAMES[mechanism]][user] = partial(NodeFile, text)
    return _directories(by_mechanism)


def _token_text(token: DelegationToken) -> str:
    return (
        f"DelegationTokenData(tokenId={token.token_id}, owner={token.owner}, requester={token.requester},"
        f" renewers=[{', '.join(token.renewers)}], issueTimestamp={token.issue_timestamp_ms},"
        f" maxTimestamp={token.max_timestamp_ms}, expiryTimestamp={token.expiration_timestamp_ms})"
    )


def _directories(entries: dict[str, Entries]) -> NodeDirectory:
    return NodeDirectory({name: partial(NodeDirectory, each) for name, each in entries.items()})


def _files(texts: dict[str, str]) -> NodeDirectory:
    return NodeDirectory({name: partial(NodeFile, text) for name, text in texts.items()})


def _texts(values: dict[str, T], text_of: Callable[[T], str]) -> Entries:
    return {name: partial(_text_file, value, text_of) for name, value in values.items()}


def _text_file(value: T, text_of: Callable[[T], str]) -> NodeFile:
    return NodeFile(text_of(value))
