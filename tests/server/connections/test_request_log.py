"""Every answered request is counted, and described if the controller was started at level DEBUG."""

from __future__ import annotations

import logging

import pytest

from kraftctl.server.connections.metrics import RequestMetrics
from kraftctl.server.connections.request_log import RequestLog
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.requests import ParsedRequest

REQUEST = ParsedRequest(
    RequestHeader(correlation_id=7, client_id="broker-1"),
    int(ApiKey.BROKER_HEARTBEAT),
    2,
    BrokerHeartbeatRequest(),
)


@pytest.mark.parametrize(("level", "described"), [(logging.INFO, False), (logging.DEBUG, True)])
def test_requests_are_described_at_level_debug(
    caplog: pytest.LogCaptureFixture, level: int, described: bool
) -> None:
    caplog.set_level(level)
    metrics = RequestMetrics()
    RequestLog(metrics).completed("127.0.0.1:9092", REQUEST, 50, 15, 0.002)
    assert metrics.take()[ApiKey.BROKER_HEARTBEAT].count == 1
    line = (
        "Completed request: api=BrokerHeartbeatRequest version=2 correlationId=7 clientId=broker-1 "
        "connection=127.0.0.1:9092 requestBytes=50 responseBytes=15 totalTimeMs=2.000"
    )
    assert caplog.messages == ([line] if described else [])
