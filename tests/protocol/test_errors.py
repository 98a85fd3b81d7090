"""The error table against Kafka's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.errors import MESSAGES, Errors, error_of
from tests.support.processes.kafka import run_java_source


@pytest.mark.java
def test_same_codes_names_and_retriability_as_kafka() -> None:
    printed = run_java_source(Path(__file__).parent / "ErrorsTable.java", version="4.4.0")
    theirs = [line.split() for line in printed.splitlines() if line.count(" ") == 2]
    ours = [[str(int(error)), error.name, str(error.retriable).lower()] for error in Errors]
    assert ours == theirs


def test_every_error_has_a_message() -> None:
    assert set(MESSAGES) == {int(error) for error in Errors}
    assert all(error.message for error in Errors if error is not Errors.NONE)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(0, Errors.NONE, id="none"),
        pytest.param(-1, Errors.UNKNOWN_SERVER_ERROR, id="unknown-server-error"),
        pytest.param(41, Errors.NOT_CONTROLLER, id="not-controller"),
        pytest.param(30000, Errors.UNKNOWN_SERVER_ERROR, id="undefined-code"),
    ],
)
def test_error_of(code: int, expected: Errors) -> None:
    assert error_of(code) is expected
