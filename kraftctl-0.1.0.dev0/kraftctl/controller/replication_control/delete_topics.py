"""DeleteTopics (KIP-4, KIP-516, KIP-599), by name or by id: one RemoveTopicRecord each."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import why_too_many_items
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.request_deadline import timed_out
from kraftctl.controller.results.sliced_request import ATOMIC_IF_SHORT, SlicedRequest
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.mutation_quota import MutationQuota
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import ZERO_UUID, Uuid

TOPIC_DELETION_DISABLED_SINCE: Final = 3
"""Older versions do not know the error and get INVALID_REQUEST."""

STRICT_QUOTA_SINCE: Final = 5
"""Clients of older versions do not know THROTTLING_QUOTA_EXCEEDED (KIP-599)."""

REMOVALS_PER_UNIT: Final = 8
"""This many partitions are removed with their topic in the time of one change."""


def delete_topics(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Writes one record for each topic.

    Results are shuffled: their order does not reveal whether a hidden topic exists.
    """
    assert isinstance(request, DeleteTopicsRequest)
    refusal = why_too_many_items(context, request, len(request.topics) + len(request.topic_names))
    if refusal is not None:
        return refusal
    strict = context.version >= STRICT_QUOTA_SINCE
    quota = state.mutation_quotas.quota_for(
        state.image.client_quotas, context, strict=strict, now_ms=moment.now_ms
    )
    if not state.config.delete_topic_enable:
        return ControllerResult.atomic_of([], _deletion_disabled(request, context.version))
    deletion = _TopicDeletion(state, context, request, quota)
    late = timed_out(context, request, moment) if deletion.looks_up else None
    return deletion.next_slice(moment) if late is None else late


def _deletion_disabled(request: DeleteTopicsRequest, version: int) -> DeleteTopicsResponse:
    """Returns the same error for every topic of the request."""
    error = ApiError(Errors.TOPIC_DELETION_DISABLED, "Topic deletion is disabled.")
    if version < TOPIC_DELETION_DISABLED_SINCE:
        error = ApiError(Errors.INVALID_REQUEST, "Topics cannot be deleted: delete.topic.enable is false.")
    results = [_result(name, ZERO_UUID, error) for name in request.topic_names]
    results += [_result(topic.name, topic.topic_id, error) for topic in request.topics]
    return DeleteTopicsResponse(responses=results)


class _TopicDeletion(SlicedRequest):
    """The state of one request: its topics are looked up first, and deleted one after the other."""

    def __init__(
        self,
        state: ControllerState,
        context: RequestContext,
        request: DeleteTopicsRequest,
        quota: MutationQuota,
    ) -> None:
        self._state = state
        self._topics = state.image.topics
        self._authorizer = state.authorizer
        self._quota = quota
        self._rehearsed_quota = quota
        # As in Kafka, a denial is logged of the topics, which may have rights of their own.
        self._may_delete_any = state.authorizer.allows_on_cluster(
            context, AclOperation.DELETE, logs_denial=False
        )
        self._context = context
        self._accepted: dict[Uuid, str] = {}
        self._duplicate_ids: set[Uuid] = set()
        self._results: list[DeletableTopicResult] = []
        names, ids = self._sort_out(request)
        self._named_by_id = set(ids)
        self.looks_up = bool(names or ids)
        """Whether some topic is named once: what is refused for its names alone takes no time in Kafka."""
        self._resolve_ids(ids)
        self._resolve_names(names)
        self._topic_ids = list(self._accepted)
        self._next_topic = 0
        self._refused_count = len(self._results)
        super().__init__(
            context,
            request,
            rehearses=len(self._topic_ids) > RECORDS_PER_BATCH_MAX,
            atomicity=ATOMIC_IF_SHORT,
        )
        if self.rehearsing:
            self._rehearsed_quota = quota.rehearsal()

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        self._quota.now_ms = moment.now_ms
        return None

    def has_next(self) -> bool:
        return self._next_topic < len(self._topic_ids)

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        """Deletes a topic, which costs what its partitions cost when the record is replayed."""
        topic_id = self._topic_ids[self._next_topic]
        name = self._accepted[topic_id]
        self._next_topic += 1
        self.spent += 1
        topic = self._topics.topic(topic_id)
        if topic is None:
            by_id = topic_id in self._named_by_id
            gone = Errors.UNKNOWN_TOPIC_ID if by_id else Errors.UNKNOWN_TOPIC_OR_PARTITION
            self._results.append(
                _result(None if by_id else name, topic_id if by_id else ZERO_UUID, ApiError(gone))
            )
            return []
        count = len(topic.partitions)
        quota = self._rehearsed_quota if self.rehearsing else self._quota
        throttled = quota.admit(count)
        if throttled is not None:
            self._results.append(_result(name, topic_id, throttled))
            return []
        self._results.append(_result(name, topic_id, ApiError(Errors.NONE)))
        if not self.rehearsing:
            self.spent += count // REMOVALS_PER_UNIT
        return [RecordAndVersion(RemoveTopicRecord(topic_id=topic_id), 0)]

    def rewind(self) -> None:
        self._next_topic = 0
        del self._results[self._refused_count :]

    def answer(self) -> Message:
        self._state.rng.shuffle(self._results)
        return DeleteTopicsResponse(throttle_time_ms=self._quota.throttle_time_ms, responses=self._results)

    def _sort_out(self, request: DeleteTopicsRequest) -> tuple[list[str], list[Uuid]]:
        """Finds names and ids that were given once; everything else is refused."""
        names: dict[str, int] = {}
        ids: dict[Uuid, int] = {}
        for name in request.topic_names:
            names[name] = names.get(name, 0) + 1
        for topic in request.topics:
            if topic.name is None:
                if topic.topic_id == ZERO_UUID:
                    self._invalid(None, ZERO_UUID, "The topic has neither a name nor an id.")
                else:
                    ids[topic.topic_id] = ids.get(topic.topic_id, 0) + 1
            elif topic.topic_id == ZERO_UUID:
                names[topic.name] = names.get(topic.name, 0) + 1
            else:
                self._invalid(topic.name, topic.topic_id, "The topic has a name and an id: give one of them.")
        for name, count in names.items():
            if count > 1:
                self._invalid(name, ZERO_UUID, "Duplicate topic name.")
        for topic_id, count in ids.items():
            if count > 1:
                self._duplicate_ids.add(topic_id)
                self._invalid(None, topic_id, "Duplicate topic id.")
        return (
            [name for name, count in names.items() if count == 1],
            [topic_id for topic_id, count in ids.items() if count == 1],
        )

    def _resolve_ids(self, ids: list[Uuid]) -> None:
        """Resolves ids, but not to names that the principal may not describe."""
        for topic_id in ids:
            topic = self._topics.topic(topic_id)
            if topic is None:
                self._results.append(_result(None, topic_id, ApiError(Errors.UNKNOWN_TOPIC_ID)))
            elif self._may(AclOperation.DELETE, topic.name):
                self._accepted[topic_id] = topic.name
            else:
                shown = topic.name if self._may(AclOperation.DESCRIBE, topic.name) else None
                self._results.append(_result(shown, topic_id, ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)))

    def _resolve_names(self, names: list[str]) -> None:
        """Resolves names, but hides whether a topic exists that the principal may not describe."""
        for name in names:
            topic = self._topics.topic_by_name(name)
            if not self._may(AclOperation.DESCRIBE, name):
                error = ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)
                self._results.append(_result(name, ZERO_UUID, error))
            elif topic is None:
                error = ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)
                self._results.append(_result(name, ZERO_UUID, error))
            elif not self._may(AclOperation.DELETE, name):
                error = ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)
                self._results.append(_result(name, ZERO_UUID, error))
            elif topic.topic_id in self._duplicate_ids or topic.topic_id in self._accepted:
                self._accepted.pop(topic.topic_id, None)
                self._invalid(name, topic.topic_id, "The topic is named here, and by its id as well.")
            else:
                self._accepted[topic.topic_id] = name

    def _may(self, operation: int, name: str) -> bool:
        return self._may_delete_any or self._authorizer.allows(
            self._context, operation, ResourceType.TOPIC, name
        )

    def _invalid(self, name: str | None, topic_id: Uuid, reason: str) -> None:
        self._results.append(_result(name, topic_id, ApiError(Errors.INVALID_REQUEST, reason)))


def _result(name: str | None, topic_id: Uuid, error: ApiError) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name, topic_id=topic_id, error_code=error.code, error_message=error.message
    )
