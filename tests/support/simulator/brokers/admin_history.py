"""What users asked for and were answered, and whether the committed metadata agrees with it.

An operation is *acknowledged*, *refused*, or of *unknown* outcome: a lost answer, a timeout or NOT_CONTROLLER
do not say whether the records were, or will be, committed. A refusal after such a try is unknown, too.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import cast

from kraftctl.image.client_quotas_image import QuotaEntity
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.config_resource import TOPIC

PRESENT, ABSENT = "present", "absent"
"""The values of something that is there or not, as an ACL."""

UNKNOWN_AT_FIRST = "unknown at first"
"""Before the first operation, for `check_last_value`."""


class Outcome(Enum):
    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Operation:
    """One operation, with all its tries. `answered_us` and `error` are those of the last one.

    `may_come_again`: a try that had no response in time may still be on its way in a broker.
    """

    __slots__ = ("answered_us", "error", "kind", "may_come_again", "outcome", "sent_us", "subject", "value")

    def __init__(self, kind: str, subject: Hashable, value: int | str | None, sent_us: int) -> None:
        self.kind = kind
        self.subject = subject
        self.value = value
        self.sent_us = sent_us
        self.answered_us: int | None = None
        self.outcome = Outcome.UNKNOWN
        self.may_come_again = False
        self.error = ""

    def __repr__(self) -> str:
        return (
            f"{self.kind} {self.subject} = {self.value}: {self.outcome.value} {self.error}"
            f" ({self.sent_us}-{self.answered_us} us)"
        )


class AdminHistory:
    """All operations in the order in which they were sent; those on one subject do not overlap."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._by_subject: dict[tuple[str, Hashable], list[Operation]] = {}

    def begin(self, kind: str, subject: Hashable, value: int | str | None, now_us: int) -> Operation:
        """An operation is sent for the first time; its outcome is unknown."""
        operation = Operation(kind, subject, value, now_us)
        self.operations.append(operation)
        self._by_subject.setdefault((kind, subject), []).append(operation)
        return operation

    def of(self, kind: str, subject: Hashable) -> list[Operation]:
        return self._by_subject.get((kind, subject), [])

    def subjects(self, kind: str) -> list[Hashable]:
        """In the order of their first operation."""
        return [subject for each, subject in self._by_subject if each == kind]

    def check_final(self, image: MetadataImage) -> None:
        """`image` is committed, and nothing is in flight any more. AssertionError if they disagree."""
        self._check_topics(image)
        for (kind, subject), operations in self._by_subject.items():
            if kind == "create_partitions":
                if not self._may_be_anew(subject):
                    self._check_partition_count(image, str(subject), operations)
            elif kind == "alter_configs":
                assert isinstance(subject, tuple)
                topic = image.topics.topic_by_name(subject[0])
                if topic is not None and not self._may_be_anew(topic.name):
                    check_last_value(
                        operations,
                        image.configurations.config(TOPIC, topic.name).get(subject[1]),
                        None if subject[1] == "retention.ms" else UNKNOWN_AT_FIRST,
                    )
            elif kind == "alter_quotas":
                quota = image.client_quotas.quota((("user", str(subject)),)).get("producer_byte_rate")
                check_last_value(operations, None if quota is None else int(quota), None)
            elif kind == "update_features":
                level = image.features.level(str(subject))
                check_last_value(operations, level, UNKNOWN_AT_FIRST)
            elif kind == "alter_scram":
                check_presence(operations[0], image.scram.credential(1, str(subject)) is not None)
            elif kind == "create_acls":
                names = [acl.resource_name for acl in image.acls.acls.values()]
                check_presence(operations[0], str(subject) in names)
            else:
                self._check_wide(image, kind, subject, operations)

    def _check_wide(
        self, image: MetadataImage, kind: str, subject: Hashable, operations: list[Operation]
    ) -> None:
        """What can be set and removed again."""
        if kind == "alter_acl":
            is_there = subject in {acl.identity for acl in image.acls.acls.values()}
            check_last_value(operations, _presence(is_there), ABSENT)
        elif kind == "alter_user":
            check_last_value(operations, _presence(subject in image.scram.credentials), ABSENT)
        elif kind == "alter_quota":
            entity, key = cast("tuple[QuotaEntity, str]", subject)
            quota = image.client_quotas.quota(entity).get(key)
            check_last_value(operations, None if quota is None else int(quota), None)
        elif kind == "alter_resource":
            resource_type, name, key = cast("tuple[int, str, str]", subject)
            if key != "min.insync.replicas":  # switching KIP-966 on sets that of the cluster, too
                check_last_value(operations, image.configurations.config(resource_type, name).get(key), None)
        elif kind == "create_token" and operations[0].value is not None:
            ended = self.of("expire_token", operations[0].value)
            is_there = operations[0].value in image.delegation_tokens.tokens
            check_last_value([_created(operations[0]), *ended], _presence(is_there), ABSENT)

    def _check_topics(self, image: MetadataImage) -> None:
        for name in self.subjects("create_topic"):
            create = self.of("create_topic", name)[0]
            deletes = self.of("delete_topic", name)
            topic = image.topics.topic_by_name(str(name))
            if topic is None:
                if all(delete.outcome is Outcome.REFUSED for delete in deletes):
                    check_presence(create, False)
                continue
            check_presence(create, True)
            if create.may_come_again:
                continue  # a delayed try may have created it anew, after it was deleted
            for delete in deletes:
                assert delete.outcome is not Outcome.ACKNOWLEDGED, (
                    f"NoCommittedRecordLost: topic {name} exists after {delete!r}"
                )
            if create.outcome is Outcome.ACKNOWLEDGED:
                assert create.value is None or topic.topic_id.hex() == create.value, (
                    f"NoCommittedRecordLost: topic {name} has id {topic.topic_id.hex()} after {create!r}"
                )

    def _may_be_anew(self, topic_name: Hashable) -> bool:
        """Whether a delayed try may have created the topic again, as it was first, after it was deleted."""
        deletes = self.of("delete_topic", topic_name)
        creates = self.of("create_topic", topic_name)
        was_deleted = any(delete.outcome is not Outcome.REFUSED for delete in deletes)
        return was_deleted and any(create.may_come_again for create in creates)

    def _check_partition_count(self, image: MetadataImage, name: str, operations: list[Operation]) -> None:
        topic = image.topics.topic_by_name(name)
        if topic is None:
            return
        count = len(topic.partitions)
        for operation in operations:
            wanted = int(operation.value or 0)
            if operation.outcome is Outcome.ACKNOWLEDGED:
                assert count >= wanted, f"NoCommittedRecordLost: {count} partitions after {operation!r}"
            elif operation.outcome is Outcome.REFUSED:
                assert count != wanted, f"RefusedIsNotDone: {count} partitions after {operation!r}"


def check_presence(create: Operation, is_there: bool) -> None:
    """Of something that is created once and not removed."""
    if create.outcome is Outcome.ACKNOWLEDGED:
        assert is_there, f"NoCommittedRecordLost: nothing is there of {create!r}"
    elif create.outcome is Outcome.REFUSED:
        assert not is_there, f"RefusedIsNotDone: it is there: {create!r}"


def _presence(is_there: bool) -> str:
    return PRESENT if is_there else ABSENT


def _created(operation: Operation) -> Operation:
    """The same, with a value like those of what may remove it; another try has created another one."""
    created = Operation(operation.kind, operation.subject, PRESENT, operation.sent_us)
    created.outcome = operation.outcome
    return created


def check_last_value(operations: list[Operation], final: int | str | None, first: int | str | None) -> None:
    """The last acknowledged value, or one of an operation that may be carried out later, or again.

    That one may even be older: what was delayed on its way is carried out last. `first` was there before.
    """
    allowed: set[str] = set()
    last = None
    for operation in operations:
        if operation.outcome is Outcome.ACKNOWLEDGED:
            last = operation
        if operation.outcome is Outcome.UNKNOWN or operation.may_come_again:
            allowed.add(str(operation.value))
    if last is not None:
        allowed.add(str(last.value))
        assert str(final) in allowed, f"NoCommittedRecordLost: the value is {final} after {last!r}"
    elif first != UNKNOWN_AT_FIRST:
        allowed.add(str(first))
        assert str(final) in allowed, f"RefusedIsNotDone: the value is {final}: {operations!r}"
