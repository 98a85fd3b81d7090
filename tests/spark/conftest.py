"""A quorum of one fake controller, or more when a test asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.spark.fake_controller import FakeController, FakeQuorum


@pytest.fixture
def quorum() -> FakeQuorum:
    return FakeQuorum()


@pytest.fixture
def controller(quorum: FakeQuorum) -> Iterator[FakeController]:
    node = FakeController(quorum, 1)
    yield node
    node.close()


@pytest.fixture
def second_controller(quorum: FakeQuorum) -> Iterator[FakeController]:
    node = FakeController(quorum, 2)
    yield node
    node.close()
