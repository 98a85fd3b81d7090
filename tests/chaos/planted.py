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

READS_WITHOUT_A_ROUND = """
from kraftctl.raft.raft_node import RaftNode
RaftNode.confirm_leadership = lambda node, now_ms, wall_ms: (0, [])
"""
"""A leader that is cut off answers reads as if it led: what it says is old. From source only: compiled classes
cannot be changed."""

PLANTED = {
    "acknowledged-before-the-flush": ACKNOWLEDGED_BEFORE_THE_FLUSH,
    "reads-without-a-round": READS_WITHOUT_A_ROUND,
}
