"""The planted faults that the simulator of whole controllers has to notice; see `simulated_fault`."""

from __future__ import annotations

from tests.faults import simulated_controller_faults, simulated_raft_faults, simulated_storage_faults
from tests.faults.simulated_fault import SimulatedFault

SIMULATED: tuple[SimulatedFault, ...] = (
    *simulated_raft_faults.FAULTS,
    *simulated_storage_faults.FAULTS,
    *simulated_controller_faults.FAULTS,
)
