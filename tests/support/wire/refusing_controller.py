"""A controller with brokers and topics that requests are refused about, and the errors in its responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.wire.controller_client import HEARTBEAT_VERSION, ControllerClient, StandInBroker
from tests.support.wire.refused_requests import (
    refused_requests,
    throttled_requests,
    unauthorized_requests,
)

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "broker.session.timeout.ms": "3600000",
}

RECORDED = Path(__file__).parents[2] / "data" / "kafka-4.3.1-refusals.tsv"

TEXT, NO_TEXT = "text", "-"

TOPICS = {
    "kept": [[1, 2], [2, 1]],
    "single": [[1]],
    "fenced-first": [[4, 1]],
    "leaderless": [[4]],
    "much_used": [[1]],
}
FENCED = 4

SLOW, STRANGER = "slow", "stranger"
"""A principal whose quota is used up, and one without rights."""


@dataclass(frozen=True)
class Refusal:
    """One error of a response: where, the code, and the text."""

    place: str
    error: Errors
    text: str | None

    def has_text(self, standard_texts: Mapping[str, str]) -> bool:
        """Whether the text says more than the code does."""
        return bool(self.text) and self.text != standard_texts[self.error.name]


def prepare(port: int, cluster_id: str) -> None:
    """Brokers 1 to 3, a fenced one, topics, and the principals."""
    with ControllerClient(port) as client:
        for broker_id in range(1, 5):
            broker = StandInBroker(client, broker_id, cluster_id)
            await_result(broker.register, "the controller is active")
            await_result(broker.is_unfenced, "the broker is unfenced")
        topics = [
            CreatableTopic(
                name=name,
                num_partitions=-1,
                replication_factor=-1,
                assignments=[
                    CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
                    for index, replicas in enumerate(partitions)
                ],
            )
            for name, partitions in TOPICS.items()
        ]
        _accepted(client, CreateTopicsRequest(topics=topics, timeout_ms=10_000))
        fence = BrokerHeartbeatRequest(broker_id=FENCED, broker_epoch=broker.broker_epoch, want_fence=True)
        client.call(fence, HEARTBEAT_VERSION, Message)
        entry = EntryData(
            entity=[EntityData(entity_type="user", entity_name=SLOW)],
            ops=[OpData(key="controller_mutation_rate", value=1e-6)],
        )
        _accepted(client, AlterClientQuotasRequest(entries=[entry]))
        rights = [
            AclCreation(
                resource_type=kind, resource_name=name, resource_pattern_type=3, principal=f"User:{SLOW}",
                host="*", operation=2, permission_type=3,
            )
            for kind, name in ((2, "*"), (4, "kafka-cluster"))
        ]  # fmt: skip
        _accepted(client, CreateAclsRequest(creations=rights))


def refused(port: int) -> dict[str, list[Refusal]]:
    """What a prepared controller answers to each request that is refused, by the name of the request."""
    with ControllerClient(port) as client:
        found = {
            name: list(refusals(client.call(request, request.HIGHEST_VERSION, Message)))
            for name, request in refused_requests().items()
        }
        for name, request in unauthorized_requests().items():
            found[f"{name}: {STRANGER}"] = list(refusals(forwarded(client, STRANGER, request)))
        for name, request in throttled_requests().items():
            forwarded(client, SLOW, request)
            found[f"{name}: {SLOW}"] = list(refusals(forwarded(client, SLOW, request)))
    return found


def _accepted(client: ControllerClient, request: Message) -> None:
    assert not list(refusals(client.call(request, request.HIGHEST_VERSION, Message)))


def forwarded(client: ControllerClient, principal: str, request: Message) -> Message:
    """The response to a principal whose request a broker forwards."""
    version = request.HIGHEST_VERSION
    header = RequestHeader(
        request_api_key=request.API_KEY, request_api_version=version, correlation_id=1, client_id="c"
    )
    envelope = EnvelopeRequest(
        request_data=encode_request(header, request),
        request_principal=serialize_principal(KafkaPrincipal("User", principal)),
        client_host_address=b"\x7f\0\0\1",
    )
    response = client.call(envelope, 0, EnvelopeResponse)
    if response.response_data is None:
        return response
    return decode_response(response.response_data, request.API_KEY, version)[1]


def refusals(message: Message, place: str = "") -> Iterator[Refusal]:
    """The errors of a response, with the names and numbers that say whose they are."""
    fields = {field.name: getattr(message, field.name) for field in message.FIELDS}
    if fields.get("error_code"):
        yield Refusal(place, Errors(fields["error_code"]), fields.get("error_message"))
    for name, value in fields.items():
        for index, item in enumerate(value if isinstance(value, list) else []):
            if isinstance(item, Message):
                yield from refusals(item, f"{place}/{name}[{index}]")


def recorded() -> dict[str, list[tuple[str, str, str]]]:
    """The file: what Kafka refuses, by request: place, error, and whether it has a text."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for line in RECORDED.read_text().splitlines():
        name, *rest = line.split("\t")
        rows = found.setdefault(name, [])
        if rest:
            rows.append((rest[0], rest[1], rest[2]))
    return found


def lines_of(found: Mapping[str, list[Refusal]], standard_texts: Mapping[str, str]) -> str:
    """The content of the file."""
    lines: list[str] = []
    for name, answers in found.items():
        lines += [
            f"{name}\t{each.place}\t{each.error.name}\t{TEXT if each.has_text(standard_texts) else NO_TEXT}"
            for each in answers
        ] or [name]
    return "".join(f"{line}\n" for line in lines)
