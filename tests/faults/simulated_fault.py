"""SimulatedFault: a planted fault that runs of whole simulated controllers have to notice."""

from __future__ import annotations

from dataclasses import dataclass

from tests.faults.catalogue import CATALOGUE
from tests.faults.planted_fault import PlantedFault

RUNS_MAX = 300
"""Within this many runs a fault is found: a run is about a third of a second, uncompiled."""

BY_NAME = {fault.name: fault for fault in CATALOGUE}


@dataclass(frozen=True)
class SimulatedFault:
    """The seeds from 1 on of `profile` are run until one notices `fault`, but not more than `runs_max`."""

    fault: PlantedFault
    profile: str = "narrow"
    runs_max: int = RUNS_MAX

    @property
    def name(self) -> str:
        return self.fault.name


def known(name: str, profile: str = "narrow", runs_max: int = RUNS_MAX) -> SimulatedFault:
    """A fault of the catalogue that tests notice has to be noticed by the simulator as well."""
    return SimulatedFault(BY_NAME[name], profile, runs_max)


def planted(
    name: str, file: str, old: str, new: str, why: str, profile: str = "narrow", runs_max: int = RUNS_MAX
) -> SimulatedFault:
    """A fault of the simulator's own catalogue. `file`, `old` and `new` are as in PlantedFault."""
    return SimulatedFault(PlantedFault(name, file, old, new, (), why), profile, runs_max)
