"""Authorization of requests: which principal may do which operation on which resource."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorizer_log import AuthorizerLog
from kraftctl.image.metadata_image import MetadataImage

CLUSTER_NAME: Final = "kafka-cluster"


class ResourceType:
    """Codes of the wire."""

    ANY: Final = 1
    TOPIC: Final = 2
    GROUP: Final = 3
    CLUSTER: Final = 4
    TRANSACTIONAL_ID: Final = 5
    DELEGATION_TOKEN: Final = 6
    USER: Final = 7


@mypyc_attr(allow_interpreted_subclasses=True)
class Authorizer:
    """Without a configured authorizer everything is allowed, and `log` stays empty."""

    def __init__(self) -> None:
        self.log = AuthorizerLog()

    @property
    def configured(self) -> bool:
        """Whether ACLs are supported; otherwise their RPCs answer SECURITY_DISABLED."""
        return False

    @property
    def ready(self) -> bool:
        """Whether a refusal is final: the ACLs of the metadata log have been loaded."""
        return True

    def metadata_loaded(self) -> None:
        """Everything that was committed when this process started is in the image."""

    def follow_image(self, image: MetadataImage) -> None:
        """The image was replaced: a snapshot is being loaded."""

    def allows(
        self,
        context: RequestContext,
        operation: int,
        resource_type: int,
        resource_name: str,
        logs_grant: bool = True,
        logs_denial: bool = True,
    ) -> bool:
        """Whether the principal of `context` may do `operation` on the resource.

        `logs_grant`: what is allowed is done then. `logs_denial`: it was asked for, and nothing replaces
        this right. As in Kafka's Action, where they are `logIfAllowed` and `logIfDenied`.
        """
        return True

    def allows_on_cluster(
        self, context: RequestContext, operation: int, logs_grant: bool = True, logs_denial: bool = True
    ) -> bool:
        """The same for the cluster itself."""
        return self.allows(context, operation, ResourceType.CLUSTER, CLUSTER_NAME, logs_grant, logs_denial)
