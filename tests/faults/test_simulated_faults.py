"""The faults that the simulator has to notice still fit the code; `make simulate-faults` plants them."""

from __future__ import annotations

import pytest

from tests.faults import (
    kafkas_faults,
    last_copy_faults,
    quorum_faults,
    raft_faults,
    storage_faults,
    undo_faults,
    voter_faults,
)
from tests.faults.planted_fault import PlantedFault
from tests.faults.planting import ROOT, occurrences
from tests.faults.simulated_fault import BY_NAME, SimulatedFault
from tests.faults.simulating import verdict
from tests.faults.simulator_catalogue import NOT_SIMULATED, SIMULATED
from tests.support.simulator.faults.plan import PROFILES

EVERY_FAULT = [pytest.param(simulated, id=simulated.name) for simulated in SIMULATED]


def test_every_fault_has_a_name_of_its_own() -> None:
    assert len({simulated.name for simulated in SIMULATED}) == len(SIMULATED) >= 44


def test_every_fault_of_raft_and_storage_is_simulated_or_has_a_reason_not_to_be() -> None:
    simulated = {each.name for each in SIMULATED}
    names = {fault.name for fault in (*raft_faults.FAULTS, *voter_faults.FAULTS, *storage_faults.FAULTS)}
    names |= {fault.name for fault in last_copy_faults.FAULTS}
    names |= {
        fault.name
        for fault in (*kafkas_faults.FAULTS, *quorum_faults.FAULTS, *undo_faults.FAULTS)
        if fault.file.startswith("kraftctl/raft/")
    }
    assert names <= simulated | set(NOT_SIMULATED)
    assert not simulated & set(NOT_SIMULATED)
    assert set(NOT_SIMULATED) <= set(BY_NAME)


@pytest.mark.parametrize("simulated", EVERY_FAULT)
def test_a_fault_changes_one_place_of_the_product(simulated: SimulatedFault) -> None:
    """Otherwise the entry does not fit the code any more: adapt it."""
    fault = simulated.fault
    assert occurrences(fault) == 1
    assert fault.old != fault.new
    assert fault.file.startswith(("kraftctl/", "protocol/"))
    assert simulated.profile in PROFILES
    compile((ROOT / fault.file).read_text().replace(fault.old, fault.new), fault.file, "exec")


HIGH_WATERMARK = "kraftctl/raft/high_watermark.py"

HARMLESS = PlantedFault("harmless", HIGH_WATERMARK, "Returns `UNKNOWN_OFFSET` while", "While", (), "Nothing.")

BROKEN = PlantedFault(
    "broken",
    HIGH_WATERMARK,
    "        return end_offsets[0]\n",
    "        return end_offsets.first\n",
    (),
    "It ends.",
)

AT_ONCE = PlantedFault(
    "at-once", HIGH_WATERMARK, "    assert end_offsets, ", "    assert not end_offsets, ", (), "It ends."
)

ROTTEN = PlantedFault("rotten", HIGH_WATERMARK, "no such text", "", (), "Not any more.")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param(HARMLESS, "not noticed in 2 runs", id="not-noticed"),
        pytest.param(BROKEN, "the run broke", id="broken-edit"),
        pytest.param(AT_ONCE, "no plausible defect", id="nothing-works"),
        pytest.param(ROTTEN, "occurs 0 times", id="rotten"),
    ],
)
def test_what_is_no_notice_is_said(fault: PlantedFault, expected: str) -> None:
    """Checks the checker."""
    assert expected in verdict(SimulatedFault(fault, "calm", 2)).complaint
