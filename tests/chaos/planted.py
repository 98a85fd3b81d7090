"""Defects that a run of chaos must find: lines of Python that change a controller before it starts."""

from __future__ import annotations

ACKNOWLEDGED_BEFORE_THE_FLUSH = """
from concurrent.futures import Future
from functools import partial
from kraftctl.server.process.storage_threads import StorageThreads
run = StorageThreads.run_on_flush_thread
def run_on_flush_thread(threads, flush, done):
    flushed = Future()
    flushed.set_result(flush.__self__.log.end_offset)
    threads.call_soon(partial(done, flushed))
    run(threads, flush, lambda flushing: None)
StorageThreads.run_on_flush_thread = run_on_flush_thread
"""
"""What was appended counts as durable while it is being forced: a power failure loses it."""

READS_AT_ONCE = """
from kraftctl.controller.quorum_controller import QuorumController
park = QuorumController.park
def answer_reads(controller, pending, now_ms):
    return pending.context.api.key != 46 and park(controller, pending, now_ms)
QuorumController.park = answer_reads
"""
"""A leader that is cut off answers ListPartitionReassignments from what it knows, as Kafka's does. From
source only: a compiled class cannot be changed."""

PLANTED = {
    "acknowledged-before-the-flush": ACKNOWLEDGED_BEFORE_THE_FLUSH,
    "reads-at-once": READS_AT_ONCE,
}
"""The defects of `--plant`."""
