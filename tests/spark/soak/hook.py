"""Kills a process of a running export at a step that is named from outside, once per request.

To kill the export, a test writes `armed.json` into the control directory. Every process of the export looks
there after every step; the process in the role and at the step that it names removes it and kills the victim.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.spark.soak import processes

ARMED = "armed.json"
FIRED = "fired.json"
_seen: Counter[str] = Counter()
"""How often this process has reached the step of an arm; each task has a new copy of the hook."""


@dataclass(frozen=True)
class Arm:
    """`role` is the process of the step: `run`, `compact` or `worker`.

    `victim` is `self`, `driver`, `jvm` or `executor`.
    """

    name: str
    role: str
    step: str
    count: int
    """The count at which the step is meant."""
    victim: str


def arm(control: Path, wanted: Arm) -> None:
    (control / FIRED).unlink(missing_ok=True)
    temporary = control / "next.json"
    temporary.write_text(json.dumps(asdict(wanted)))
    temporary.replace(control / ARMED)


def disarm(control: Path) -> bool:
    """Whether it had not fired before."""
    try:
        (control / ARMED).unlink()
    except FileNotFoundError:
        return False
    return True


def fired(control: Path) -> bool:
    return (control / FIRED).exists()


class SoakHook:
    """Pickled to the workers with the tasks."""

    def __init__(self, control: Path, role: str, main: int) -> None:
        self._control = control
        self._role = role
        self._main = main

    def __call__(self, step: str) -> None:
        try:
            wanted = Arm(**json.loads((self._control / ARMED).read_text()))
        except FileNotFoundError:
            return
        role = self._role if os.getpid() == self._main else "worker"
        if (role, step) != (wanted.role, wanted.step):
            return
        _seen[wanted.name] += 1
        if _seen[wanted.name] < wanted.count:
            return
        try:
            (self._control / ARMED).rename(self._control / FIRED)
        except FileNotFoundError:
            return
        os.kill(self._victim(wanted.victim), signal.SIGKILL)

    def _victim(self, victim: str) -> int:
        if victim == "self":
            return os.getpid()
        if victim == "driver":
            return self._main
        if victim == "executor":
            return processes.executor_of(os.getpid())
        return processes.jvm_of(self._main)
