"""Kafka's controller and kraftctl answer the same conversations about changes alike.

KRAFTCTL_RECORD_WRITES=1 writes what Kafka answers into the file that the quick tests read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftctl.dev.nodes import Controller, JavaController, KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl_protocol.message import Message
from tests.interop.test_sasl_compared import Talk
from tests.support.active_controller import CLUSTER_ID
from tests.support.processes.kafka import kafka
from tests.support.wire.controller_client import ControllerClient, StandInBroker
from tests.support.writes.conversations import BROKERS, RECORDED, as_file, played, recorded

pytestmark = [pytest.mark.interop, pytest.mark.long]

RELEASE = "4.3"

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "broker.session.timeout.ms": "600000",
}


class Asked:
    """Opens a connection again when it was closed."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._talk = Talk(controller)

    def ask(self, request: Message, version: int) -> object:
        answer = self._talk.ask(request, version)
        if isinstance(answer, str):
            self._talk.close()
            self._talk = Talk(self._controller)
        return answer


def responses_of(controller: Controller) -> dict[str, list[Any]]:
    """Starts the controller and three brokers that only register, and plays all conversations."""
    controller.format()
    controller.start()
    with ControllerClient(controller.port) as client:
        for broker_id in BROKERS:
            broker = StandInBroker(client, broker_id, CLUSTER_ID)
            await_result(broker.register, "the controller is active")
            await_result(broker.is_unfenced, "the broker is unfenced")
    return played(CLUSTER_ID, Asked(controller).ask)


@pytest.fixture(scope="module")
def controllers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Controller, Controller]]:
    directory: Path = tmp_path_factory.mktemp("writes")
    java = JavaController(
        kafka("4.3.1"), 3000, directory / "java", CLUSTER_ID, release_version=RELEASE, properties=PROPERTIES
    )
    ours = KraftctlController(
        3000, directory / "ours", CLUSTER_ID, release_version=RELEASE, properties=PROPERTIES
    )
    try:
        yield java, ours
    finally:
        java.kill()
        ours.kill()


def test_both_answer_alike(controllers: tuple[Controller, Controller]) -> None:
    java, ours = (responses_of(controller) for controller in controllers)
    if os.environ.get("KRAFTCTL_RECORD_WRITES"):
        RECORDED.write_text(as_file(java))
    assert java == recorded()
    assert ours == java
