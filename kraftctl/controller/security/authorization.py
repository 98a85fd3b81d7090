"""Authorization of requests: which principal may do which operation on which resource."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.request_context import RequestContext
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
    """Without a configured authorizer everything is allowed."""

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

    def allows(self, context: RequestContext, operation: int, resource_type: int, resource_name: str) -> bool:
        """Whether the principal of `context` may do `operation` on the resource."""
        return True

    def allows_on_cluster(self, context: RequestContext, operation: int) -> bool:
        """The same for the cluster itself."""
        return self.allows(context, operation, ResourceType.CLUSTER, CLUSTER_NAME)
