"""Names with several addresses, for the tests of clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from kraftctl.server.peers import connecting
from kraftctl_security import blocking_race
from tests.clients.situation import Situation
from tests.support.wire.bad_addresses import resolving


@pytest.fixture
def situation(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Situation]]:
    for module in (connecting, blocking_race):
        monkeypatch.setattr(module, "ATTEMPT_DELAY_SECONDS", 0.05)
    with ExitStack() as stack:
        names = stack.enter_context(resolving(monkeypatch))
        yield lambda protocol: Situation(names, stack, protocol)
