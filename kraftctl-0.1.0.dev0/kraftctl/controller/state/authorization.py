"""Authorizes requests: which principal may do which operation on which resource."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorizer_log import AuthorizerLog
from kraftctl.image.metadata_image import MetadataImage

CLUSTER_NAME: Final = "kafka-cluster"


class ResourceType:
    """A resource type by its code on the wire."""

    ANY: Final = 1
    TOPIC: Final = 2
    GROUP: Final = 3
    CLUSTER: Final = 4
    TRANSACTIONAL_ID: Final = 5
    DELEGATION_TOKEN: Final = 6
    USER: Final = 7


@mypyc_attr(allow_interpreted_subclasses=True)
class Authorizer:
    """Allows everything, as without a configured authorizer; `log` stays empty."""

    def __init__(self) -> None:
        self.log = AuthorizerLog()

    @property
    def configured(self) -> bool:
        """Whether ACLs are supported; otherwise their RPCs get SECURITY_DISABLED."""
        return False

    @property
    def ready(self) -> bool:
        """Whether a refusal is final: the ACLs of the metadata log have been loaded."""
        return True

    def metadata_loaded(self) -> None:
        """Notes that everything that was committed when this process started is in the image."""

    def follow_image(self, image: MetadataImage) -> None:
        """Takes another image, when a snapshot is being loaded."""

    def allows(
        self,
        context: RequestContext,
        operation: int,
        resource_type: int,
        resource_name: str,
        logs_grant: bool = True,
        logs_denial: bool = True,
    ) -> bool:
        """Returns whether the principal of `context` may do `operation` on the resource.

        `logs_grant`: a granted operation is carried out. `logs_denial`: the client asked for it, and no
        other right replaces this one. They are `logIfAllowed` and `logIfDenied` of Kafka's Action.
        """
        return True

    def allows_on_cluster(
        self, context: RequestContext, operation: int, logs_grant: bool = True, logs_denial: bool = True
    ) -> bool:
        """Returns the same for the cluster itself."""
        return self.allows(context, operation, ResourceType.CLUSTER, CLUSTER_NAME, logs_grant, logs_denial)
