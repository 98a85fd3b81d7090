"""Says after which errors a request is sent again, as Kafka's admin client does: one row for each request.

Every request is sent again after an error of a node that is not the active controller. A change is sent again
only where a second attempt does no harm.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.errors import Errors

NOT_ACTIVE: Final = frozenset((Errors.NOT_CONTROLLER, Errors.NOT_LEADER_OR_FOLLOWER))

RETRIABLE: Final = frozenset(error for error in Errors if error.retriable)

TIMED_OUT: Final = frozenset((Errors.REQUEST_TIMED_OUT,))

REPEATED: Final[dict[str, frozenset[Errors]]] = {
    "AddRaftVoterRequest": frozenset(),
    "AlterClientQuotasRequest": frozenset(),
    "ApiVersionsRequest": frozenset(),
    "CreateAclsRequest": frozenset(),
    "CreatePartitionsRequest": frozenset(),
    "CreateTopicsRequest": frozenset(),
    "DescribeAclsRequest": RETRIABLE,
    "DescribeClientQuotasRequest": RETRIABLE,
    "DescribeClusterRequest": frozenset(),
    "DescribeConfigsRequest": frozenset(),
    "DescribeQuorumRequest": RETRIABLE,
    "DescribeUserScramCredentialsRequest": RETRIABLE,
    "IncrementalAlterConfigsRequest": frozenset(),
    "ListConfigResourcesRequest": RETRIABLE,
    "MetadataRequest": frozenset(),
    "RemoveRaftVoterRequest": frozenset(),
    "UnregisterBrokerRequest": TIMED_OUT,
    "UnregisterControllerRequest": TIMED_OUT,
    "UpdateFeaturesRequest": frozenset(),
}
"""The errors of 4.3.1, and of 4.4.0 for UnregisterController, beside NOT_ACTIVE."""


def is_repeated(request_name: str, error: Errors) -> bool:
    """Returns whether a request that ended with an error is sent again, until its time is over."""
    return error in NOT_ACTIVE or error in REPEATED[request_name]
