"""`kraftctl explain` that is pointed at a broker: brokers do not serve the metadata log."""

from __future__ import annotations

import threading
import time

import pytest

from kraftctl.cli import main
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_response import ApiVersion
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC_ID
from tests.cli.quorum_cases import CASES
from tests.support.wire.scripted_node import Script, ScriptedNode

SECONDS_MAX = 5.5


class ScriptedBroker(ScriptedNode):
    """It lists Produce, forwards DescribeQuorum, and knows no topic with the id of the metadata log."""

    def _api_keys(self) -> list[ApiVersion]:
        return [ApiVersion(api_key=ApiKey.PRODUCE, min_version=3, max_version=13), *super()._api_keys()]


def unknown_topic(_: Message) -> FetchResponse:
    partition = PartitionData(
        partition_index=0, error_code=Errors.UNKNOWN_TOPIC_ID, high_watermark=-1, records=None
    )
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchResponse(responses=[topic])


def silent(_: Message) -> None:
    threading.Event().wait(4.0)


FORWARDS: Script = {
    DescribeQuorumRequest: lambda _: CASES["one-voter"].quorum.described(),
    FetchRequest: unknown_topic,
}
REACHES_NO_LEADER: Script = {
    **FORWARDS,
    DescribeQuorumRequest: lambda _: DescribeQuorumResponse(error_code=Errors.REQUEST_TIMED_OUT),
}
IS_SILENT: Script = {**FORWARDS, DescribeQuorumRequest: silent}

STEP = "name controllers with --bootstrap-controllers: controller.quorum.bootstrap.servers"


@pytest.mark.parametrize("subject", [["quorum"], ["broker", "1"]], ids=["quorum", "broker"])
def test_a_broker_that_reaches_the_leader(subject: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedBroker(FORWARDS) as broker:
        began = time.monotonic()
        assert main(["explain", *subject, "--bootstrap-controllers", broker.address]) == 1
        assert time.monotonic() - began < SECONDS_MAX
    printed = capsys.readouterr().err
    why = "it is a broker, which does not serve the metadata log"
    assert f"{broker.address}: {why}. Next step: {STEP}" in printed


@pytest.mark.parametrize("script", [REACHES_NO_LEADER, IS_SILENT], ids=["an-error", "silence"])
def test_a_broker_that_reaches_no_leader(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedBroker(script) as broker:
        assert main(["explain", "quorum", "--bootstrap-controllers", broker.address]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  because only brokers were asked: whether a controller leads is not known"
    assert lines[2].startswith(f"  {broker.address} is a broker, and ")
    assert lines[3].startswith(f"Next: {STEP}")
