"""Defects that a run of chaos must find: lines of Python that change a controller before it starts."""

from __future__ import annotations

ACKNOWLEDGED_BEFORE_THE_FLUSH = """
from functools import partial
from kraftctl.raft.events import LogFlushed
from kraftctl.server.effect_executor import EffectExecutor
def flush(executor):
    flushed = LogFlushed(executor._storage.log.end_offset)
    executor._scheduler.call_soon(partial(executor._inbox.offer, flushed))
    executor._scheduler.run_on_flush_thread(executor._storage.flush, lambda flushing: None)
EffectExecutor._flush = flush
"""
"""What was appended counts as durable while it is being forced: a power failure loses it."""

PLANTED = {"acknowledged-before-the-flush": ACKNOWLEDGED_BEFORE_THE_FLUSH}
