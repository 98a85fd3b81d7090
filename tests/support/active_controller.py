"""A single controller that commits immediately, for tests of requests: no raft, no disk, no clock."""

from __future__ import annotations

import random

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from tests.support.controller_properties import NODE_ID, controller_properties
from tests.support.metadata_state import UNLIMITED, directory

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
ENDPOINTS = {"CONTROLLER": ("localhost", 9093)}

BASE_PROPERTIES = controller_properties("/does/not/exist")


def request_type(api_key: int) -> type[Message]:
    """The request class of an API that exists."""
    kind = request_class(api_key)
    assert kind is not None
    return kind


def incarnation(number: int) -> bytes:
    """An incarnation id."""
    return (500_000 + number).to_bytes(16, "big")


def bootstrap_records(metadata_version: int = features.LATEST_PRODUCTION) -> list[RecordAndVersion]:
    """The first records of a log that is formatted at that level."""
    levels = {features.METADATA_VERSION: metadata_version}
    for feature in sorted(features.SUPPORTED_FEATURES):
        level = features.default_level(feature, metadata_version)
        if feature not in (features.METADATA_VERSION, features.KRAFT_VERSION) and level > 0:
            levels[feature] = level
    return [
        RecordAndVersion(FeatureLevelRecord(name=name, feature_level=level), 0)
        for name, level in levels.items()
    ]


def registration(broker_id: int, *, number: int = 0, directories: int = 1) -> BrokerRegistrationRequest:
    """As a 4.3 broker sends it. `number` distinguishes incarnations."""
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=CLUSTER_ID,
        incarnation_id=incarnation(broker_id * 100 + number),
        listeners=[Listener(name="PLAINTEXT", host="localhost", port=9000 + broker_id)],
        features=[
            Feature(name=name, min_supported_version=levels.min, max_supported_version=levels.max)
            for name, levels in features.SUPPORTED_FEATURES.items()
        ],
        log_dirs=[directory(broker_id, index) for index in range(directories)],
    )


def refusal_code(controller: QuorumController, context: RequestContext) -> Errors | None:
    """The error of a request that may not be handled; None when it may."""
    error = controller.why_refused(context)
    return None if error is None else error.error


class ActiveController:
    """A claimed controller; `step_ms` moves its clock."""

    def __init__(
        self, metadata_version: int = features.LATEST_PRODUCTION, kraft_version: int = 1, **properties: str
    ) -> None:
        overrides = {name.replace("_", "."): value for name, value in properties.items()}
        self.config = ControllerConfig(BASE_PROPERTIES | overrides)
        self.controller = QuorumController(
            self.config, CLUSTER_ID, random.Random(7), bootstrap_records(metadata_version), ENDPOINTS
        )
        self.controller.follow_quorum(NODE_ID, kraft_version, [NODE_ID])
        self.units = UNLIMITED
        """Of long work, in each slice."""
        self.runs_slices = True
        """Whether long work is done with the request or timer that began it."""
        self.now_ms = 1_000_000
        self.wall_ahead_ms = 0
        self.log: list[tuple[int, RecordAndVersion]] = []
        self.batches: list[list[RecordAndVersion]] = []
        self.end_offset = 1
        for prepared in self.controller.claim(1, self.moment):
            self.write_prepared(prepared)
        self.run_due_tasks()

    @property
    def moment(self) -> Moment:
        """The present one. The wall clock is `wall_ahead_ms` ahead of the monotonic one."""
        return Moment(self.now_ms, self.now_ms + self.wall_ahead_ms, self.end_offset, self.units)

    def write(self, result: ControllerResult) -> None:
        """Append and commit."""
        self.write_prepared(self.controller.prepare(result))

    def write_prepared(self, prepared: PreparedResult) -> None:
        """Append and commit."""
        self.controller.begin_append(prepared)
        for batch in prepared.batches:
            self.controller.replay(batch.records, self.end_offset)
            for record in batch.records:
                self.log.append((self.end_offset, record))
                self.end_offset += 1
            self.batches.append(batch.records)
        self.controller.committed(self.end_offset)

    def run_due_tasks(self) -> list[RecordAndVersion]:
        """Run what is due now."""
        start = len(self.log)
        while self.run_due_task():
            if self.runs_slices:
                self.finish_work()
        return [record for _, record in self.log[start:]]

    def run_due_task(self) -> bool:
        """Run at most one task that writes something. Returns whether there was one."""
        prepared = self.controller.prepare_due_task(self.moment)
        if prepared is not None:
            self.write_prepared(prepared)
            if prepared.rest is not None:
                self.controller.continue_later(prepared.rest, None)
        return prepared is not None

    def pass_time(self, milliseconds: int) -> list[RecordAndVersion]:
        """Let time pass, run what becomes due at its deadline, return the records."""
        end_ms = self.now_ms + milliseconds
        start = len(self.log)
        while (deadline := self.controller.next_deadline_ms) is not None and deadline <= end_ms:
            self.now_ms = max(self.now_ms, deadline)
            self.run_due_tasks()
        self.now_ms = end_ms
        return [record for _, record in self.log[start:]]

    def context(
        self,
        request: Message,
        version: int | None,
        *,
        principal: KafkaPrincipal = ANONYMOUS,
        envelope: bool = False,
        listener: str = "CONTROLLER",
    ) -> RequestContext:
        return RequestContext(
            api=API_TABLE[request.API_KEY],
            version=request.HIGHEST_VERSION if version is None else version,
            client_id="test",
            principal=principal,
            listener=listener,
            client_address=b"\x7f\0\0\1",
            envelope=envelope,
        )

    def pending(self, request: Message, request_id: int = 0) -> PendingRequest:
        """The request of an anonymous client in its highest version."""
        return PendingRequest(request_id, self.context(request, None), request)

    def handle(
        self, request: Message, version: int | None = None, *, context: RequestContext | None = None
    ) -> ControllerResult:
        """The prepared result of the request; nothing is written."""
        used = self.context(request, version) if context is None else context
        decoded = type(request).decode(request.encode(used.version), used.version)
        error = self.controller.why_refused(used)
        if error is not None:
            refused = self.controller.refused(PendingRequest(0, used, decoded), error).response
            assert refused is not None
            refused.encode(used.version)
            return ControllerResult.of([], refused)
        result = self.controller.handle(used, decoded, self.moment)
        if result.response is not None:
            result.response.encode(used.version)
        return result

    def request(
        self, request: Message, version: int | None = None, *, context: RequestContext | None = None
    ) -> Message:
        """The response, with everything written and committed. Raises failures before the first append."""
        used = self.context(request, version) if context is None else context
        decoded = type(request).decode(request.encode(used.version), used.version)
        pending = PendingRequest(0, used, decoded)
        error = self.controller.why_refused(used)
        if error is None:
            prepared = self.controller.prepare_request(pending, self.moment)
        else:
            prepared = self.controller.refused(pending, error)
        self.write_prepared(prepared)
        response = prepared.response
        if prepared.rest is not None:
            self.controller.continue_later(prepared.rest, pending if response is None else None)
            if self.runs_slices:
                response = self.finish_work() or response
        assert response is not None
        response.encode(used.version)
        return response

    def finish_work(self) -> Message | None:
        """Take all slices that are left. Returns the last response."""
        response = None
        while self.controller.has_work:
            response = self.take_slice() or response
        return response

    def take_slice(self) -> Message | None:
        """Take the next slice of long work. Returns the response of a request that ends with it."""
        progress = self.controller.take_work()
        prepared = self.controller.prepare_slice(progress, self.moment)
        if prepared is not None:
            self.write_prepared(prepared)
        return None if progress.pending is None else progress.pending.response

    def response_to(self, request: Message) -> Message:
        """The response alone; nothing is written."""
        response = self.handle(request).response
        assert response is not None
        return response

    def register(self, broker_id: int, *, number: int = 0, directories: int = 1) -> int:
        """The epoch of a newly registered broker."""
        response = self.request(registration(broker_id, number=number, directories=directories))
        assert isinstance(response, BrokerRegistrationResponse)
        assert response.error_code == 0, response
        return response.broker_epoch

    def heartbeat(
        self,
        broker_id: int,
        *,
        epoch: int | None = None,
        offset: int | None = None,
        fence: bool = False,
        shut_down: bool = False,
        offline: list[bytes] | None = None,
        cordoned: list[bytes] | None = None,
        version: int = 2,
    ) -> BrokerHeartbeatResponse:
        """By default of a broker that has caught up and wants to be unfenced."""
        registered = self.controller.image.cluster.broker(broker_id)
        if epoch is None:
            epoch = -1 if registered is None else registered.epoch
        request = BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=epoch,
            current_metadata_offset=self.end_offset - 1 if offset is None else offset,
            want_fence=fence,
            want_shut_down=shut_down,
            offline_log_dirs=offline or [],
            cordoned_log_dirs=cordoned,
        )
        response = self.request(request, version)
        assert isinstance(response, BrokerHeartbeatResponse)
        return response

    def start_brokers(self, *broker_ids: int, directories: int = 1) -> None:
        """Register and unfence."""
        for broker_id in broker_ids:
            self.register(broker_id, directories=directories)
            assert not self.heartbeat(broker_id).is_fenced

    def create_topic(self, name: str, partitions: int = 1, replication_factor: int = 1) -> None:
        """A topic placed by the controller."""
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replication_factor)
        response = self.request(CreateTopicsRequest(topics=[topic]))
        assert response.topics[0].error_code == 0, response

    @property
    def records(self) -> list[Message]:
        """Everything written so far, without versions."""
        return [entry.record for _, entry in self.log]
