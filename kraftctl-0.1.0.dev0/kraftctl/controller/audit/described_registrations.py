"""What a registration or a change of the voters asks for, for the audit log."""

from __future__ import annotations

from kraftctl.controller.audit.change_list import MEMBERS_MAX, ChangeList
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import Uuid, uuid_to_string


def describe_broker_registration(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, BrokerRegistrationRequest)
    known = image.cluster.brokers.get(request.broker_id)
    listeners = [(each.name, each.host, each.port) for each in request.listeners[:MEMBERS_MAX]]
    found.add(
        {
            "broker_id": request.broker_id,
            "old": None if known is None else uuid_to_string(known.incarnation_id),
            "new": uuid_to_string(request.incarnation_id),
            "listeners": _endpoints(listeners, found),
            "rack": found.text(request.rack),
        }
    )


def describe_unregister_broker(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, UnregisterBrokerRequest)
    found.add({"broker_id": request.broker_id})


def describe_controller_registration(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, ControllerRegistrationRequest)
    known = image.cluster.controllers.get(request.controller_id)
    listeners = [(each.name, each.host, each.port) for each in request.listeners[:MEMBERS_MAX]]
    found.add(
        {
            "controller_id": request.controller_id,
            "old": None if known is None else uuid_to_string(known.incarnation_id),
            "new": uuid_to_string(request.incarnation_id),
            "listeners": _endpoints(listeners, found),
        }
    )


def describe_unregister_controller(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, UnregisterControllerRequest)
    found.add({"controller_id": request.controller_id})


def describe_add_voter(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, AddRaftVoterRequest)
    listeners = [(each.name, each.host, each.port) for each in request.listeners[:MEMBERS_MAX]]
    _add_voter(request.voter_id, request.voter_directory_id, listeners, found)


def describe_remove_voter(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, RemoveRaftVoterRequest)
    _add_voter(request.voter_id, request.voter_directory_id, [], found)


def describe_update_voter(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, UpdateRaftVoterRequest)
    listeners = [(each.name, each.host, each.port) for each in request.listeners[:MEMBERS_MAX]]
    _add_voter(request.voter_id, request.voter_directory_id, listeners, found)


def _add_voter(
    voter_id: int, directory_id: Uuid, listeners: list[tuple[str, str, int]], found: ChangeList
) -> None:
    found.add(
        {
            "voter_id": voter_id,
            "directory_id": uuid_to_string(directory_id),
            "listeners": _endpoints(listeners, found),
        }
    )


def _endpoints(listeners: list[tuple[str, str, int]], found: ChangeList) -> list[object]:
    return [found.text(f"{name}://{host}:{port}") for name, host, port in listeners]
