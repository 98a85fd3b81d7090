"""native/trashcan.h: what is released deep within other objects writes into none of its neighbours.

Compiled classes outside the cyclic collector have no header for the links of CPython's trashcan. An image,
a chain of batches and the frames of a deep traceback hold them. The allocator of `PYTHONMALLOC=debug`
looks at the bytes before each object, and aborts.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import under_test

pytestmark = pytest.mark.skipif(under_test() == "sources", reason="sources have headers, all of them")

CLASSES_MIN = 250
"""That the nesting has to reach: the messages alone are more."""

NESTED = """
import importlib, pkgutil, sys
import kraftctl, kraftctl_protocol
from kraftctl.metadata.interned_tuples import InternedTuples
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.metadata_record import RecordAndVersion

HAVE_GC = 1 << 14

def subclasses(base):
    for each in type.__subclasses__(base):
        yield each
        yield from subclasses(each)

def make(kind):
    if kind is PartitionRegistration:
        return kind(replicas=(1,), isr=(1,), shared=InternedTuples().usual, packed_directories=0, leader=1,
            leader_epoch=0, partition_epoch=0)
    return kind(NoOpRecord(), 0) if kind is RecordAndVersion else kind()

for package in (kraftctl, kraftctl_protocol):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
reached = set()
for kind in set(subclasses(object)):
    if kind.__flags__ & HAVE_GC or not str(kind.__dict__.get("__module__")).startswith("kraftctl"):
        continue
    for depth in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            held = [make(kind) for _ in range(3)]
        except TypeError:
            break
        for _ in range(depth):
            held = [held]
        del held
        reached.add(kind)
assert {PartitionRegistration, RecordAndVersion} <= reached
print(len(reached))
"""
"""Classes that cannot be made without arguments are left out, except for the two that are most numerous."""

CHAINED = """
from kraftctl_protocol.generated.partition_record import PartitionRecord

class Batch:
    def __init__(self, previous):
        self.messages = [PartitionRecord() for _ in range(3)]
        self.previous = previous

last = None
for _ in range(20_000):
    last = Batch(last)
del last
"""

TRACED = """
from kraftctl_protocol.generated.partition_record import PartitionRecord

def descend(levels):
    held = [PartitionRecord() for _ in range(3)]
    if levels == 0:
        raise ValueError
    descend(levels - 1)

for levels in (60, 900):
    try:
        descend(levels)
    except ValueError:
        pass
"""


DEPTHS = (45, 55) if sys.version_info < (3, 13) else (9930, 9960)
"""Around the one where the trashcan begins to defer: 50 levels, with CPython 3.13 the last 50 of 10,000."""


def run_with_checked_memory(script: str) -> str:
    command = [sys.executable, "-X", "faulthandler", "-c", script, *map(str, DEPTHS)]
    environment = os.environ | {"PYTHONMALLOC": "debug"}
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, env=environment | paths, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    return ran.stdout.decode()


def test_every_class_outside_the_collector_may_lie_deep() -> None:
    assert int(run_with_checked_memory(NESTED)) >= CLASSES_MIN


@pytest.mark.parametrize("script", [pytest.param(CHAINED, id="chain"), pytest.param(TRACED, id="traceback")])
def test_messages_in_deep_structures_are_released(script: str) -> None:
    run_with_checked_memory(script)
