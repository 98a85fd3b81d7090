"""A controller process whose audit log is on a full disk serves as before, and says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.processes import ProcessFailedError
from kraftctl.dev.settings import random_id
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from tests.support.wire.controller_client import ControllerClient

AUDIT_LOG = "kraftctl.audit.log.path"


def controller(directory: Path, audit_log: str) -> KraftctlController:
    node = KraftctlController(3000, directory, random_id(), properties={AUDIT_LOG: audit_log})
    node.format()
    return node


def quota(number: int) -> AlterClientQuotasRequest:
    entity = EntityData(entity_type="client-id", entity_name=str(number))
    op = OpData(key="producer_byte_rate", value=1.0)
    return AlterClientQuotasRequest(entries=[EntryData(entity=[entity], ops=[op])])


def test_a_full_disk_does_not_end_a_controller(tmp_path: Path) -> None:
    node = controller(tmp_path, "/dev/full")
    node.start()
    try:
        node.await_log("Becoming the active controller")
        with ControllerClient(node.port) as client:
            for number in range(20):
                answer = client.call(quota(number), 1, AlterClientQuotasResponse)
                assert answer.entries[0].error_code == Errors.NONE
        assert "No space left on device" in node.await_log("/dev/full cannot be written")
    finally:
        assert node.stop() == 0


def test_a_file_that_cannot_be_opened_is_named_at_start(tmp_path: Path) -> None:
    node = controller(tmp_path, str(tmp_path / "missing" / "audit.log"))
    with pytest.raises(ProcessFailedError, match=rf"{AUDIT_LOG}=.*missing/audit.log: cannot open"):
        node.start()
