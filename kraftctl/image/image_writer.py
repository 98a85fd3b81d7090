"""image_writer: the image as records, in the order of Kafka's snapshots (KIP-630).

The records are produced in slices, so that a snapshot of a large cluster never holds up the event
loop; a JournalView keeps the slices consistent with each other while the image changes. Within a kind
nothing is sorted, as in Kafka's: sorting a million topics takes seconds. Topics, brokers, ACLs and so on
are in the order in which they came into the image, and each topic is followed by its partitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from kraftctl.image.client_quotas_image import QuotaEntity
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage
from kraftctl.image.undo_journal import JournalView
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl.metadata.partition_encoding import PartitionEncoder
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record


class ImageWriter:
    """Writes the image as it was before the record at `end_offset`.

    Take slices with `next_values` until it returns an empty list, then `close`. Everything from
    `end_offset` on must still be in the journal, so it is at least the high watermark of now.
    """

    def __init__(self, image: MetadataImage, end_offset: int) -> None:
        self._image = image
        self._view = image.journal.open_view(end_offset)
        self._values = _values(image, self._view)
        self._closed = False

    def next_values(self, count_max: int) -> list[bytes]:
        """Up to `count_max` further records, encoded; empty when all have been written."""
        values: list[bytes] = []
        while len(values) < count_max:
            value = next(self._values, None)
            if value is None:
                break
            values.append(value)
        return values

    def close(self) -> None:
        """Stop keeping old values for this writer; harmless when closed already."""
        if not self._closed:
            self._closed = True
            self._image.journal.close_view(self._view)

    def free_some(self, count_max: int) -> bool:
        """After `close`: free about so many old values. Returns whether any are left."""
        return self._view.free_some(count_max)


def _values(image: MetadataImage, view: JournalView) -> Iterator[bytes]:
    committed = image.features.in_view(view)
    metadata_version, finalized = committed.metadata_version, committed.levels
    elr_enabled = finalized.get(features.ELIGIBLE_LEADER_REPLICAS_VERSION, 0) >= 1
    for entry in _feature_records(metadata_version, finalized):
        yield encode_metadata_record(entry.record, entry.version)
    for entry in _cluster_records(image, view, metadata_version):
        yield encode_metadata_record(entry.record, entry.version)
    encoder = PartitionEncoder(metadata_version, elr_enabled=elr_enabled)
    for _, topic in view.items(image.topics.topics, image.topics.topics):
        topic_id = topic.topic_id
        yield encode_metadata_record(TopicRecord(name=topic.name, topic_id=topic_id), 0)
        for index, partition in _partitions(image, view, topic):
            yield encoder.encode(topic_id, index, partition)
    for entry in _config_records(image, view):
        yield encode_metadata_record(entry.record, entry.version)
    for entry in _quota_records(image, view):
        yield encode_metadata_record(entry.record, entry.version)
    for entry in _other_records(image, view, metadata_version):
        yield encode_metadata_record(entry.record, entry.version)


def _feature_records(metadata_version: int, finalized: dict[str, int]) -> Iterator[RecordAndVersion]:
    """metadata.version comes first: readers need it to understand the rest."""
    if metadata_version > 0:
        record = FeatureLevelRecord(name=features.METADATA_VERSION, feature_level=metadata_version)
        yield RecordAndVersion(record, 0)
    for name, level in sorted(finalized.items()):
        yield RecordAndVersion(FeatureLevelRecord(name=name, feature_level=level), 0)


def _cluster_records(
    image: MetadataImage, view: JournalView, metadata_version: int
) -> Iterator[RecordAndVersion]:
    for _, broker in view.items(image.cluster.brokers, image.cluster.brokers):
        yield cast(BrokerRegistration, broker).to_record(metadata_version)
    if features.is_controller_registration_supported(metadata_version):
        for _, controller in view.items(image.cluster.controllers, image.cluster.controllers):
            yield cast(ControllerRegistration, controller).to_record()


def _partitions(
    image: MetadataImage, view: JournalView, topic: TopicImage
) -> Iterator[tuple[int, PartitionRegistration]]:
    """As they are in the view, which alone has those that were removed."""
    topic_id, partitions = topic.topic_id, topic.partitions
    groups = view.groups(image.topics)
    indexes = partitions.keys()
    members = groups.get(topic_id)
    if members is not None:
        indexes += [index for index in members if index not in partitions]
    for index in indexes:
        value: object = partitions.get(index)
        members = groups.get(topic_id)
        if members is not None:
            value = members.get(index, value)
        if isinstance(value, PartitionRegistration):
            yield index, value


def _config_records(image: MetadataImage, view: JournalView) -> Iterator[RecordAndVersion]:
    for resource in image.configurations.resources_in_view(view):
        for name, value in image.configurations.config_in_view(view, resource):
            record = ConfigRecord(
                resource_type=resource[0], resource_name=resource[1], name=name, value=value
            )
            yield RecordAndVersion(record, 0)


def _quota_records(image: MetadataImage, view: JournalView) -> Iterator[RecordAndVersion]:
    for parts, quotas in view.items(image.client_quotas.quotas, image.client_quotas.quotas):
        entity = cast(QuotaEntity, parts)
        for key, value in sorted(cast("dict[str, float]", quotas).items()):
            record = ClientQuotaRecord(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                key=key,
                value=value,
                remove=False,
            )
            yield RecordAndVersion(record, 0)


def _other_records(
    image: MetadataImage, view: JournalView, metadata_version: int
) -> Iterator[RecordAndVersion]:
    next_producer_id = cast(int, view.value(image.producer_ids, None, image.producer_ids.next_producer_id))
    if next_producer_id >= 0:
        record = ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=next_producer_id)
        yield RecordAndVersion(record, 0)
    for acl_id, acl in view.items(image.acls, image.acls.acls):
        entry = AccessControlEntryRecord(
            id=acl_id,
            resource_type=acl.resource_type,
            resource_name=acl.resource_name,
            pattern_type=acl.pattern_type,
            principal=acl.principal,
            host=acl.host,
            operation=acl.operation,
            permission_type=acl.permission_type,
        )
        yield RecordAndVersion(entry, 0)
    if features.is_scram_supported(metadata_version):
        credentials = image.scram.credentials
        for (mechanism, user), credential in view.items(credentials, credentials):
            scram = UserScramCredentialRecord(
                name=user,
                mechanism=mechanism,
                salt=credential.salt,
                stored_key=credential.stored_key,
                server_key=credential.server_key,
                iterations=credential.iterations,
            )
            yield RecordAndVersion(scram, 0)
    if features.is_delegation_token_supported(metadata_version):
        tokens = image.delegation_tokens.tokens
        for token_id, token in view.items(tokens, tokens):
            token_record = DelegationTokenRecord(
                owner=token.owner,
                requester=token.requester,
                renewers=list(token.renewers),
                issue_timestamp=token.issue_timestamp_ms,
                max_timestamp=token.max_timestamp_ms,
                expiration_timestamp=token.expiration_timestamp_ms,
                token_id=token_id,
            )
            yield RecordAndVersion(token_record, 0)
