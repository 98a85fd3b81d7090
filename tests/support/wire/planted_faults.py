"""PlantedFaults: a handler, an encoder or a periodic task that raises on demand.

They replace functions in modules, which has no effect on compiled code: for the sources only.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any

import kraftctl.controller.periodic_tasks as tasks
from kraftctl.controller.cluster_control.fence_stale_brokers import StaleBrokerFencing
from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.record_checks import encode_checked
from kraftctl_protocol import primitives
from kraftctl_protocol.primitives import EncodeError
from kraftctl_protocol.requests import encode_response

TEXT = "planted fault"

ERRORS = (AssertionError, AttributeError, EncodeError, IndexError, KeyError, OverflowError, TypeError)

BEFORE_HANDLER = "before the handler"
AFTER_HANDLER = "after the handler"
RECORD = "in the encoder of records"
RESPONSE = "in the encoder of responses"
PLACES = (BEFORE_HANDLER, AFTER_HANDLER, RECORD, RESPONSE)

TASKS = ("preferred_elections", "unclean_elections", "sweep_expired_tokens", "needs_registration")


def can_be_planted() -> bool:
    """Whether the code runs from the sources."""
    return (primitives.__file__ or "").endswith(".py")


class PlantedFaults:
    """Between `plant` and `remove`, `arm` makes one call fail, and `tasks_fail` every periodic task.

    `sprung` counts the failures.
    """

    def __init__(self, rng: random.Random) -> None:
        self.sprung = 0
        self.tasks_fail = False
        self._rng = rng
        self._armed: str | None = None
        self._correlation_id = -1
        self._calls_before = 0
        self._undo = ExitStack()

    def plant(self) -> None:
        self._undo.callback(HANDLERS.update, dict(HANDLERS))
        HANDLERS.update({key: self._failing_handler(handler) for key, handler in HANDLERS.items()})
        self._replace_everywhere(encode_checked, self._failing_encoder)
        self._replace_everywhere(encode_response, self._failing_response)
        for name in TASKS:
            self._replace(tasks, name, self._failing_task(getattr(tasks, name)))
        self._replace(StaleBrokerFencing, "run", self._failing_task(StaleBrokerFencing.run))

    def remove(self) -> None:
        self._undo.close()

    def arm(self, place: str, correlation_id: int) -> None:
        """The next call there fails; for responses only the one to that request."""
        self._armed = place
        self._correlation_id = correlation_id
        self._calls_before = self._rng.choice((0, 0, 1, 3)) if place == RECORD else 0

    def disarm(self) -> None:
        self._armed = None

    def _spring(self) -> None:
        self._armed = None
        self.sprung += 1
        raise self._rng.choice(ERRORS)(TEXT)

    def _failing_handler(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(handler)
        def failing(*arguments: Any) -> Any:
            if self._armed == BEFORE_HANDLER:
                self._spring()
            result = handler(*arguments)
            if self._armed == AFTER_HANDLER:
                self._spring()
            return result

        return failing

    def _failing_encoder(self, *arguments: Any) -> Any:
        if self._armed == RECORD:
            if self._calls_before == 0:
                self._spring()
            self._calls_before -= 1
        return encode_checked(*arguments)

    def _failing_response(self, correlation_id: int, *arguments: Any) -> Any:
        if self._armed == RESPONSE and correlation_id == self._correlation_id:
            self._spring()
        return encode_response(correlation_id, *arguments)

    def _failing_task(self, task: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(task)
        def failing(*arguments: Any) -> Any:
            if self.tasks_fail:
                self._spring()
            return task(*arguments)

        return failing

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)

    def _replace_everywhere(self, original: Callable[..., Any], value: Callable[..., Any]) -> None:
        """Replace it in every module that has imported it."""
        for name, module in sorted(sys.modules.items()):
            if name.startswith("kraftctl"):
                for attribute, found in list(vars(module).items()):
                    if found is original:
                        self._replace(module, attribute, value)
