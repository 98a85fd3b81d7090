"""Which principals may not arrive in an envelope (KIP-590): those whose rights a broker must not take.

A broker forwards a request with the principal that it says the client has. So a holder of the key of one
broker has the rights of all clients, and of super users everything. As in Kafka, nothing is refused unless
`kraftctl.node.principals` binds nodes to their ids, which would contain nothing otherwise, or
`kraftctl.envelope.allowed.principals` is set: then super users and nodes are refused, except those it names.
"""

from __future__ import annotations

from kraftctl.config.node_principals import ALLOWED_KEY, is_of_node
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors


class EnvelopePrincipals:
    """The rule. Principals are Type:name; `templates` have `{id}` for the id of a node.

    `allowed` is None where the key is not set.
    """

    def __init__(self, *, super_users: list[str], templates: list[str], allowed: list[str] | None) -> None:
        self._applies = bool(templates) or allowed is not None
        self._super_users = frozenset(super_users)
        self._templates = templates
        self._allowed = frozenset(allowed or [])

    def why_refused(self, context: RequestContext) -> ApiError | None:
        """Returns CLUSTER_AUTHORIZATION_FAILED for a forwarded request of such a principal."""
        if not self._applies:
            return None
        principal = str(context.principal)
        if principal in self._allowed:
            return None
        if principal in self._super_users:
            who = "a super user"
        elif any(is_of_node(principal, template) for template in self._templates):
            who = "a broker or controller"
        else:
            return None
        reason = f"{principal} is {who}, whose requests no broker may forward unless {ALLOWED_KEY} names it"
        return ApiError(Errors.CLUSTER_AUTHORIZATION_FAILED, reason)
