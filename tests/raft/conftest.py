"""Quorums on simulated machines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.simulator.quorum import StartQuorum, quorums


@pytest.fixture
def start_quorum() -> Iterator[StartQuorum]:
    with quorums() as start:
        yield start
