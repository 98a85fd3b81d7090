"""What a run has measured, as JSON: every window, the machine, and the versions of everything."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kraftctl import __version__
from tests.bench.compare.figures import FIGURES, Figures
from tests.bench.compare.interleaved import Pace, Sample
from tests.support.processes.kafka import kafka


@dataclass(frozen=True)
class Results:
    """Of one run. `about` says where, when and how it was measured."""

    about: dict[str, str]
    samples: Sequence[Sample]
    failures: Sequence[str] = ()
    """What could not be measured, and why."""

    def medians(self, scenario: str, load: str, subject: str) -> Figures:
        """Of each figure, over the rounds; empty when this was not measured."""
        rounds = [
            sample.figures
            for sample in self.samples
            if (sample.scenario, sample.load, sample.subject) == (scenario, load, subject)
        ]
        return {
            name: statistics.median(values)
            for name in FIGURES
            if (values := [figures[name] for figures in rounds if name in figures])
        }

    def loads(self) -> list[tuple[str, str]]:
        """Scenario and load, in the order in which they ran."""
        return list(dict.fromkeys((sample.scenario, sample.load) for sample in self.samples))

    def subjects(self, scenario: str, load: str) -> list[str]:
        found = [
            sample.subject for sample in self.samples if (sample.scenario, sample.load) == (scenario, load)
        ]
        return list(dict.fromkeys(found))

    def write(self, path: Path) -> None:
        """A line for each window."""
        about, failures = json.dumps(self.about), json.dumps(list(self.failures))
        samples = ",\n".join(json.dumps(asdict(sample)) for sample in self.samples)
        path.write_text(f'{{"about": {about},\n"failures": {failures},\n"samples": [\n{samples}\n]}}\n')


def read_results(path: Path) -> Results:
    found = json.loads(path.read_text())
    return Results(found["about"], [Sample(**sample) for sample in found["samples"]], found["failures"])


def about(pace: Pace, is_compiled: bool) -> dict[str, str]:
    """The machine, what is installed on it, and how long each window is."""
    java = subprocess.run([kafka().java, "-version"], capture_output=True, text=True, check=True).stderr
    return {
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "processor": f"{processor_name()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "kraftctl": f"{__version__}, {how_compiled() if is_compiled else 'uncompiled'}, "
        f"CPython {platform.python_version()} {how_built()}",
        "kafka": f"{kafka().version}, {java.splitlines()[0]}",
        "rounds": f"{pace.rounds} of {pace.window_s:g} s after {pace.warm_up_s:g} s of warm-up",
        "load": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


def how_compiled() -> str:
    """With the level that make passes to the C compiler."""
    level = os.environ.get("KRAFTCTL_OPT_LEVEL")
    return f"compiled with -O{level}" if level else "compiled"


def how_built() -> str:
    """An interpreter without profile-guided optimisation takes a quarter more time."""
    if sys.base_prefix == "/usr":
        return "of the distribution"
    optimised = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    return f"built {'with' if optimised else 'without'} --enable-optimizations"


def processor_name() -> str:
    """As Linux names it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
