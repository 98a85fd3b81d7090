"""Why runs of whole nodes cannot notice a flush that counts although a truncation came between."""

from __future__ import annotations

from kraftctl.node.events import NodeEffect
from kraftctl.raft.effects import TruncateLog
from tests.support.effort import seeds
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.faults.plan import draw_plan
from tests.support.simulator.simulation import Simulation


def test_no_log_is_truncated_while_a_flush_runs() -> None:
    """A Fetch leaves only when everything is flushed, and only the response to one truncates."""
    truncations: list[bool] = []
    few = seeds(12)
    for seed in range(few.start, few.start + 100):
        if seed not in few and truncations:
            break
        simulation = Simulation(draw_plan(seed, "quorum"))
        checks = simulation.checks

        def before(process: ProcessView, effect: NodeEffect, checks=checks, check=checks.before) -> None:
            if isinstance(effect, TruncateLog):
                truncations.append(checks.quorum.running[process.node_id].log.flush_runs)
            check(process, effect)

        checks.before = before
        simulation.run()
    assert truncations
    assert not any(truncations)
