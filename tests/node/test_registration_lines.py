"""A leader that raises epochs, or does not answer, makes few lines and few requests of a standby."""

from __future__ import annotations

import pytest

from kraftctl.node.registration import NodeRegistration
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.controller_registration_response import ControllerRegistrationResponse
from kraftctl_protocol.message import Message

ANSWERS: dict[str, Message | None] = {
    "none": None,
    "refused": ControllerRegistrationResponse(error_code=int(Errors.INVALID_REQUEST), error_message="no"),
    "registered": ControllerRegistrationResponse(),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_outcomes_make_few_lines(answer: str) -> None:
    """3,500 lines in four seconds before."""
    registration = NodeRegistration()
    lines = [
        line.text
        for now_ms in range(4_000)
        for line in registration.answered(ANSWERS[answer], 20_000 + now_ms)
    ]
    assert len(lines) == 20
    later = [line.text for line in registration.answered(ANSWERS[answer], 40_000)]
    assert later[1] == "3980 similar lines were left out (registration)"
