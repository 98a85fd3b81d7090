"""Unregisters a controller that has left the voters (KIP-1312), after a check that the cluster can do it."""

from __future__ import annotations

from typing import Final

from kraftctl import SOFTWARE
from kraftctl.metadata import features
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import AdminError, RefusedError
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from kraftctl_security.peer_versions import api_versions_request

NOTHING_REMOVED: Final = (
    "Nothing was removed. Next step: raise metadata.version to 4.4-IV2, when all brokers and controllers can,"
    " this one included (there is no way back, and brokers of 4.3 cannot join then); or repeat this without"
    " --unregister. Then the cluster stays within what this controller supports, until it is unregistered."
)


def check_unregistration(client: AdminClient) -> None:
    """Raises AdminError unless the cluster unregisters controllers: a removal without it is not undone."""
    response = client.call(api_versions_request(*SOFTWARE), ApiVersionsResponse, _error_of_versions)
    levels = {feature.name: feature.max_version_level for feature in response.finalized_features}
    level = levels.get(features.METADATA_VERSION)
    if level is None:
        raise AdminError(
            "The node does not say which metadata.version is finalized, and --unregister needs 4.4-IV2."
            " Nothing was removed. Next step: repeat this when there is a leader, or with another node."
        )
    if not features.is_controller_unregistration_supported(level):
        name = features.metadata_version_name(level)
        raise AdminError(
            f"metadata.version is {name}, and --unregister needs 4.4-IV2 or later. {NOTHING_REMOVED}"
        )
    if all(api.api_key != UnregisterControllerRequest.API_KEY for api in response.api_keys):
        raise AdminError(
            "The node does not serve UnregisterControllerRequest, which --unregister needs. Nothing was"
            " removed. Next step: ask nodes of a later release, or repeat this without --unregister."
        )


def unregister(client: AdminClient, controller_id: int) -> str:
    """Returns a line for the operator when there is no registration, any more. Raises AdminError."""
    request = UnregisterControllerRequest(controller_id=controller_id)
    try:
        client.call(request, UnregisterControllerResponse, _error_in)
    except RefusedError as error:
        if error.error != Errors.CONTROLLER_ID_NOT_REGISTERED:
            raise
        return f"KRaft controller {controller_id} is not registered: nothing is left to unregister"
    return unregistered_text(controller_id, dry_run=False)


def unregistered_text(controller_id: int, *, dry_run: bool) -> str:
    verb = "DRY RUN of unregistering" if dry_run else "Unregistered"
    return f"{verb} KRaft controller {controller_id}"


def _error_of_versions(response: ApiVersionsResponse) -> tuple[Errors, str | None]:
    return error_of(response.error_code), None


def _error_in(response: UnregisterControllerResponse) -> tuple[Errors, str | None]:
    return error_of(response.error_code), response.error_message
