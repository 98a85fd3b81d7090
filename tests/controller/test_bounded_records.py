"""What no batch can hold is refused before anything is appended; registrations have limits of their own."""

from __future__ import annotations

import pytest

from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.batch_limits import (
    BATCH_BYTES_MAX,
    RECORDS_PER_BATCH_MAX,
    why_batch_too_large,
)
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.metadata.registration_limits import (
    DIRECTORIES_MAX,
    FEATURES_MAX,
    HOST_BYTES_MAX,
    LISTENERS_MAX,
    NAME_BYTES_MAX,
    RACK_BYTES_MAX,
)
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import controller_registration_request as controllers
from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_protocol.record_batch import encode_batch
from tests.support.active_controller import ActiveController, incarnation, registration
from tests.support.metadata_state import directory


def listeners(count: int, name: str = "L", host: str = "h") -> list[Listener]:
    return [Listener(name=f"{index:02}{name}", host=host, port=9092) for index in range(count)]


def longest(request: BrokerRegistrationRequest) -> BrokerRegistrationRequest:
    """Everything at its limit."""
    request.listeners = listeners(LISTENERS_MAX, "n" * (NAME_BYTES_MAX - 2), "h" * HOST_BYTES_MAX)
    request.rack = "r" * RACK_BYTES_MAX
    request.log_dirs = [directory(1_000 + index) for index in range(DIRECTORIES_MAX)]
    for index in range(FEATURES_MAX - len(request.features)):
        request.features.append(Feature(name=f"{index:03}" + "f" * (NAME_BYTES_MAX - 3)))
    return request


def changed(field: str, value: object) -> BrokerRegistrationRequest:
    request = longest(registration(5))
    setattr(request, field, value)
    return request


def test_a_registration_at_every_limit_is_served_and_small() -> None:
    active = ActiveController()
    active.start_brokers(1)
    assert active.request(longest(registration(5))).error_code == Errors.NONE
    (batch,) = active.batches[-1:]
    values = active.controller.prepare(ControllerResult.of(batch)).batches[0].values
    assert len(encode_batch(0, 1, 0, values)) < 128 * 1024


@pytest.mark.prevents("oversized-record")
@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(changed("listeners", listeners(LISTENERS_MAX + 1)), id="listeners"),
        pytest.param(changed("listeners", listeners(1, "n" * (NAME_BYTES_MAX - 1))), id="listener-name"),
        pytest.param(changed("listeners", listeners(1, host="h" * (HOST_BYTES_MAX + 1))), id="host"),
        pytest.param(changed("listeners", listeners(600, "x" * 32_000)), id="19-megabytes-of-listeners"),
        pytest.param(changed("rack", "r" * (RACK_BYTES_MAX + 1)), id="rack"),
        pytest.param(
            changed("log_dirs", [directory(index) for index in range(DIRECTORIES_MAX + 1)]), id="directories"
        ),
        pytest.param(
            changed("features", [Feature(name=f"f{index}") for index in range(FEATURES_MAX + 1)]),
            id="features",
        ),
        pytest.param(changed("features", [Feature(name="f" * (NAME_BYTES_MAX + 1))]), id="feature-name"),
    ],
)
def test_a_larger_registration_is_refused(request_: BrokerRegistrationRequest) -> None:
    active = ActiveController()
    before = active.end_offset
    assert active.request(request_).error_code == Errors.INVALID_REGISTRATION
    (line,) = active.controller.take_refusals()
    assert "longer than" in line or "more than" in line
    assert active.end_offset == before


@pytest.mark.parametrize(
    ("count", "name", "error"),
    [
        pytest.param(LISTENERS_MAX, "n" * (NAME_BYTES_MAX - 2), Errors.NONE, id="at-the-limits"),
        pytest.param(LISTENERS_MAX + 1, "n", Errors.INVALID_REGISTRATION, id="listeners"),
        pytest.param(1, "n" * (NAME_BYTES_MAX - 1), Errors.INVALID_REGISTRATION, id="listener-name"),
    ],
)
def test_registrations_of_controllers(count: int, name: str, error: Errors) -> None:
    active = ActiveController()
    request = ControllerRegistrationRequest(
        controller_id=3001,
        incarnation_id=incarnation(1),
        listeners=[
            controllers.Listener(name=f"{index:02}{name}", host="h", port=9093) for index in range(count)
        ],
    )
    before = active.end_offset
    response = active.request(request)
    assert response.error_code == error
    assert active.end_offset == before + (error == Errors.NONE)


@pytest.mark.parametrize("field", ["offline", "cordoned"])
def test_directories_of_a_heartbeat(field: str) -> None:
    active = ActiveController()
    active.start_brokers(1)
    most = [directory(index) for index in range(DIRECTORIES_MAX)]
    too_many = [*most, directory(9_999)]
    if field == "offline":
        refused, served = active.heartbeat(1, offline=too_many), active.heartbeat(1, offline=most)
    else:
        refused, served = active.heartbeat(1, cordoned=too_many), active.heartbeat(1, cordoned=most)
    assert (refused.error_code, served.error_code) == (Errors.INVALID_REQUEST, Errors.NONE)


class TestBatches:
    def test_bytes(self) -> None:
        """The overhead of a record counts at its longest: no batch is larger than calculated."""
        most = 8_386_000
        assert why_batch_too_large([b"x" * most]) is None
        assert len(encode_batch(0, 1, 0, [b"x" * most])) <= BATCH_BYTES_MAX
        assert why_batch_too_large([b"x" * (BATCH_BYTES_MAX - 81)]) is not None
        assert why_batch_too_large([b"x" * (most // 2 + 1_400)] * 2) is not None

    def test_records(self) -> None:
        assert why_batch_too_large([b"x"] * RECORDS_PER_BATCH_MAX) is None
        assert why_batch_too_large([b"x"] * (RECORDS_PER_BATCH_MAX + 1)) is not None

    @pytest.mark.prevents("oversized-record")
    @pytest.mark.parametrize(("renewers", "error"), [(250, Errors.NONE), (270, Errors.POLICY_VIOLATION)])
    def test_one_record_that_no_batch_can_hold(
        self, monkeypatch: pytest.MonkeyPatch, renewers: int, error: Errors
    ) -> None:
        """Its list has no limit of its own in the schema."""
        active = ActiveController(delegation_token_secret_key="secret")
        names = [f"User:{index:03}" + "r" * 31_990 for index in range(renewers)]
        record = DelegationTokenRecord(owner="User:a", requester="User:a", renewers=names, token_id="t")
        result = ControllerResult.atomic_of([RecordAndVersion(record, 0)], CreateDelegationTokenResponse())
        monkeypatch.setitem(HANDLERS, ApiKey.CREATE_DELEGATION_TOKEN, lambda *_: result)
        request = CreateDelegationTokenRequest()
        context = active.context(request, None, principal=KafkaPrincipal("User", "a"), envelope=True)
        before = active.end_offset
        assert active.request(request, context=context).error_code == error
        assert active.end_offset == before + (error == Errors.NONE)

    def test_a_result_that_may_be_cut_is_refused_for_its_largest_record(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        active = ActiveController()
        record = RegisterBrokerRecord(broker_id=1, log_dirs=[directory(0)] * 600_000)
        result = ControllerResult.of([RecordAndVersion(record, 3)], active.response_to(registration(1)))
        monkeypatch.setitem(HANDLERS, ApiKey.BROKER_REGISTRATION, lambda *_: result)
        before = active.end_offset
        assert active.request(registration(1)).error_code == Errors.POLICY_VIOLATION
        assert active.end_offset == before

    def test_more_records_than_a_batch_can_have_are_not_encoded(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first of them cannot be, and nothing fails."""
        active = ActiveController()
        records = [RecordAndVersion(RegisterBrokerRecord(), 99)] * (RECORDS_PER_BATCH_MAX + 1)
        result = ControllerResult.atomic_of(records, active.response_to(registration(1)))
        monkeypatch.setitem(HANDLERS, ApiKey.BROKER_REGISTRATION, lambda *_: result)
        before = active.end_offset
        assert active.request(registration(1)).error_code == Errors.POLICY_VIOLATION
        assert active.end_offset == before

    def test_a_timer_whose_records_no_batch_can_hold_fails_alone(self) -> None:
        active = ActiveController()
        record = RegisterBrokerRecord(broker_id=1, log_dirs=[directory(0)] * 600_000)
        result = ControllerResult.of([RecordAndVersion(record, 3)])
        before = active.end_offset
        tasks = active.controller._tasks
        assert tasks is not None
        task = tasks._no_op

        def write_too_much(moment: Moment) -> ControllerResult:
            task.due_ms = moment.now_ms + 60_000
            return result

        task.run = write_too_much
        active.pass_time(1_000)
        assert active.end_offset == before
        assert active.controller.failures.metadata_error_count > 0
