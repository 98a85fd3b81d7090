"""Each fault of the catalogue is planted, and some test fails: this finds tests that cannot fail.

`make test` plants one in sixty-four, `make test-long` the others. Each version of a file has other ones.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.faults.catalogue import CATALOGUE
from tests.faults.planted_fault import PlantedFault
from tests.faults.planting import AT_A_TIME, ROOT, complaint, complaint_without_fault, occurrences

PLANTED_ONE_IN = 64
EVERY_FAULT = [pytest.param(fault, id=fault.name) for fault in CATALOGUE]


def is_left_to_test_long(fault: PlantedFault) -> bool:
    return zlib.crc32(fault.name.encode() + (ROOT / fault.file).read_bytes()) % PLANTED_ONE_IN != 0


PLANTED = [
    pytest.param(fault, id=fault.name, marks=[pytest.mark.long] if is_left_to_test_long(fault) else [])
    for fault in CATALOGUE
]


def test_every_fault_has_a_name_of_its_own() -> None:
    assert len({fault.name for fault in CATALOGUE}) == len(CATALOGUE) >= 23


@pytest.mark.parametrize("fault", EVERY_FAULT)
def test_a_fault_changes_one_place_and_names_tests_that_exist(fault: PlantedFault) -> None:
    """Otherwise the entry does not fit the code any more: adapt it."""
    assert occurrences(fault) == 1
    assert fault.old != fault.new
    assert fault.tests
    assert [test for test in fault.tests if not (ROOT / test.partition("::")[0]).is_file()] == []


@pytest.fixture(scope="module")
def complaints(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[str]]]:
    """Complaints by name of fault, for the selected ones; and the complaint without any fault."""
    slow = [item for item in request.session.items if "complaints" in getattr(item, "fixturenames", ())]
    faults = [item.callspec.params["fault"] for item in slow if hasattr(item, "callspec")]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        yield {
            "": pool.submit(complaint_without_fault, faults or list(CATALOGUE)),
            **{fault.name: pool.submit(complaint, fault) for fault in faults},
        }


@pytest.mark.prevents("tests-that-cannot-fail")
@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_is_noticed(fault: PlantedFault, complaints: dict[str, Future[str]]) -> None:
    text = complaints[fault.name].result()
    assert not text, text


@pytest.mark.slow
@pytest.mark.timeout(1800)  # All tests that any of the faults names, one after the other.
def test_without_a_fault_the_same_tests_pass(complaints: dict[str, Future[str]]) -> None:
    text = complaints[""].result()
    assert not text, text


NEVER_NOTICED = PlantedFault(
    "a-docstring",
    "kraftctl/raft/high_watermark.py",
    "Returns `UNKNOWN_OFFSET` while no majority is known.",
    "Returns `UNKNOWN_OFFSET` else.",
    ("tests/raft/test_high_watermark.py",),
    "Nothing would go wrong.",
)

BROKEN_EDIT = PlantedFault(
    "a-broken-edit",
    "kraftctl/raft/high_watermark.py",
    "        return end_offsets[0]\n",
    "        return end_offset[0]\n",
    ("tests/raft/test_high_watermark.py",),
    "Any test would fail of that.",
)

ROTTEN = PlantedFault("rotten", "kraftctl/raft/high_watermark.py", "no such text", "", ("",), "Not any more.")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param(NEVER_NOTICED, "a-docstring: no test noticed", id="not-noticed"),
        pytest.param(BROKEN_EDIT, "the tests broke", id="broken-edit"),
        pytest.param(ROTTEN, "occurs 0 times", id="rotten"),
    ],
)
def test_what_is_no_notice_is_said(fault: PlantedFault, expected: str) -> None:
    """Checks the checker."""
    assert expected in complaint(fault)
