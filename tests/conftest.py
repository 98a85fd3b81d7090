"""Selects the code under test: the installed (compiled) package if there is one, otherwise the sources.

The source roots go to the end of the path. PYTHONPATH puts them in front: that is how
`make test-pure` runs the same tests against uncompiled sources. KRAFTCTL_UNDER_TEST names the
expected one of the two, and a run that would test the other one stops.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

if TYPE_CHECKING:
    from tests.support.simulator.quorum import StartQuorum

ASYNC_TEST_SECONDS_MAX = 120.0
LONG_TEST_SECONDS_MAX = 1_800

LoopFactory = Callable[[], asyncio.AbstractEventLoop]

ROOT = Path(__file__).resolve().parent.parent

for root in (ROOT, ROOT / "protocol", ROOT / "spark"):
    if str(root) not in sys.path:
        sys.path.append(str(root))


def under_test() -> str:
    """`compiled` or `sources`."""
    from kraftctl_protocol import primitives

    return "sources" if (primitives.__file__ or "").endswith(".py") else "compiled"


def pytest_configure(config: pytest.Config) -> None:
    expected = os.environ.get("KRAFTCTL_UNDER_TEST")
    if expected is not None and expected != under_test():
        raise pytest.UsageError(f"KRAFTCTL_UNDER_TEST={expected}, but {under_test()} would be tested")
    from kraftctl.dev import ports
    from tests.support.effort import use_effort

    use_effort()
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # As a shell starts a job in the background. Processes that tests interrupt would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "KRAFTCTL_TEST_PORTS" in os.environ:
        ports.CANDIDATES = range(*map(int, os.environ["KRAFTCTL_TEST_PORTS"].split("-")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what runs a whole quorum; `make test-quick` leaves it out. Gives long tests more time."""
    for item in items:
        if "start_quorum" in getattr(item, "fixturenames", ()):
            item.add_marker("quorum")
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_TEST_SECONDS_MAX))
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.obj = limited(item.obj)


def limited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Coroutine[Any, Any, None]]:
    """Ends a test that waits for ever: uvloop does not let the alarm of pytest-timeout do it."""

    @functools.wraps(test)
    async def within_time(*arguments: Any, **named: Any) -> None:
        async with asyncio.timeout(ASYNC_TEST_SECONDS_MAX):
            await test(*arguments, **named)

    return within_time


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> dict[str, LoopFactory]:
    """An async test runs on the loop that production uses; marked `both_loops`, on asyncio's own as well.

    Once is enough for each test: from the sources, or, marked so, where no lane runs them from the sources.
    """
    factories: dict[str, LoopFactory] = {"uvloop": uvloop.new_event_loop}
    marker = item.get_closest_marker("both_loops")
    if marker is not None and (under_test() == "sources" or "compiled" in marker.args):
        factories["asyncio"] = asyncio.new_event_loop
    return factories


def pytest_unconfigure(config: pytest.Config) -> None:
    """A controller in this process has frozen all objects for the collector; frozen objects leak at exit."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Commands configure logging, and some tests run them in this process."""
    root = logging.getLogger()
    handlers, hook = list(root.handlers), sys.excepthook
    levels = {logger: logger.level for logger in (root, *_loggers())}
    yield
    root.handlers[:] = handlers
    sys.excepthook = hook
    for logger in (root, *_loggers()):
        if logger.level != (level := levels.get(logger, logging.NOTSET)):
            logger.setLevel(level)


@pytest.fixture
def start_quorum() -> Iterator[StartQuorum]:
    """Quorums on simulated machines."""
    from tests.support.simulator.quorum import quorums

    with quorums() as start:
        yield start


def _loggers() -> list[logging.Logger]:
    return [each for each in logging.Logger.manager.loggerDict.values() if isinstance(each, logging.Logger)]


def pytest_report_header(config: pytest.Config) -> str:
    import kraftctl

    return f"kraftctl under test: {under_test()}, {Path(kraftctl.__file__).parent}"
