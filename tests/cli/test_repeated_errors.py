"""Each request of our tools against each error after which Kafka's clients may send a request again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import ClientConfig
from kraftctl_admin.errors import RefusedError
from kraftctl_admin.repeated_errors import NOT_ACTIVE, REPEATED, RETRIABLE
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_acls_response import DescribeAclsResponse
from kraftctl_protocol.generated.describe_client_quotas_request import DescribeClientQuotasRequest
from kraftctl_protocol.generated.describe_client_quotas_response import DescribeClientQuotasResponse
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.describe_user_scram_credentials_response import (
    DescribeUserScramCredentialsResponse,
)
from kraftctl_protocol.generated.list_config_resources_request import ListConfigResourcesRequest
from kraftctl_protocol.generated.list_config_resources_response import ListConfigResourcesResponse
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.generated.metadata_response import MetadataResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from kraftctl_protocol.generated.update_features_request import UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import UpdateFeaturesResponse
from kraftctl_protocol.message import Message
from tests.cli.tool_cases import tool_node
from tests.support.processes.called_command import call_command
from tests.support.wire.scripted_node import ScriptedNode

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (ROOT / "kraftctl/cli", ROOT / "protocol/kraftctl_admin", ROOT / "spark/kraftctl_spark/restore")
QUICK = ClientConfig(default_api_timeout_ms=5_000, request_timeout_ms=5_000, retry_backoff_ms=1)

ROWS = [
    (AddRaftVoterRequest(), AddRaftVoterResponse, []),
    (DescribeAclsRequest(1, None, 1, None, None, 1, 1), DescribeAclsResponse, sorted(RETRIABLE)),
    (DescribeClientQuotasRequest(), DescribeClientQuotasResponse, sorted(RETRIABLE)),
    (DescribeClusterRequest(), DescribeClusterResponse, []),
    (DescribeQuorumRequest(), DescribeQuorumResponse, sorted(RETRIABLE)),
    (DescribeUserScramCredentialsRequest(), DescribeUserScramCredentialsResponse, sorted(RETRIABLE)),
    (ListConfigResourcesRequest(), ListConfigResourcesResponse, sorted(RETRIABLE)),
    (MetadataRequest(), MetadataResponse, []),
    (RemoveRaftVoterRequest(), RemoveRaftVoterResponse, []),
    (UnregisterBrokerRequest(), UnregisterBrokerResponse, [Errors.REQUEST_TIMED_OUT]),
    (UnregisterControllerRequest(), UnregisterControllerResponse, [Errors.REQUEST_TIMED_OUT]),
    (UpdateFeaturesRequest(), UpdateFeaturesResponse, []),
]
"""Request, response, and the errors after which KafkaAdminClient sends it again, beside NOT_CONTROLLER."""

OF_ITEMS = {
    "AlterClientQuotasRequest",
    "CreateAclsRequest",
    "CreatePartitionsRequest",
    "CreateTopicsRequest",
    "DescribeConfigsRequest",
    "IncrementalAlterConfigsRequest",
}
"""Their responses have an error for each item: `restore` sends them again after NOT_CONTROLLER alone."""


@pytest.mark.parametrize(
    ("request_", "answer", "repeated"), [pytest.param(*row, id=row[0].NAME) for row in ROWS]
)
def test_a_request_is_repeated_after_the_errors_of_kafkas_client(
    request_: Message, answer: Callable[..., Message], repeated: list[Errors]
) -> None:
    found: list[Errors] = []
    errors = sorted({*RETRIABLE, Errors.BROKER_NOT_AVAILABLE, Errors.UNKNOWN_SERVER_ERROR} - NOT_ACTIVE)
    answers: list[int] = []
    with ScriptedNode({type(request_): lambda _: answer(error_code=answers.pop(0))}) as node:
        config = AdminClient([("127.0.0.1", node.port)], to_controllers=False, config=QUICK, clock=Clock())
        with config as client:
            for error in errors:
                answers[:] = [error, Errors.NONE]
                try:
                    client.call(request_, type(answer()), lambda each: (error_of(each.error_code), None))
                except RefusedError:
                    assert answers == [Errors.NONE]
                else:
                    found.append(error)
    assert found == [error for error in repeated if error not in NOT_ACTIVE]


def test_each_request_of_a_tool_has_a_row() -> None:
    found = {
        f"{name}Request"
        for folder in SOURCES
        for file in folder.rglob("*.py")
        for name in re.findall(r"\.call\(\s*[^,()]*(?:\([^()]*\))?,\s*(\w+)Response,", file.read_text())
    }
    assert found == set(REPEATED)
    assert {row[0].NAME for row in ROWS} == found - {"ApiVersionsRequest"} - OF_ITEMS


@pytest.mark.parametrize(
    ("operation", "request_", "answer"),
    [
        pytest.param("unregister", UnregisterBrokerRequest, UnregisterBrokerResponse, id="broker"),
        pytest.param(
            "unregister-controller",
            UnregisterControllerRequest,
            UnregisterControllerResponse,
            id="controller",
        ),
    ],
)
def test_what_is_unregistered_late_is_unregistered(
    operation: str, request_: type[Message], answer: Callable[..., Message]
) -> None:
    codes = [Errors.REQUEST_TIMED_OUT, Errors.REQUEST_TIMED_OUT, Errors.NONE]
    with tool_node() as node:
        node.script[request_] = lambda _: answer(error_code=codes.pop(0))
        called = call_command("cluster", operation, "-b", node.address, "-i", "1")
    assert (called.status, called.errors, codes) == (0, "", [])
