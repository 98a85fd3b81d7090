"""The jars of a pom, which Maven fetches once."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kraftctl.dev.kafka_distribution import cache_directory

FETCHED_SECONDS_MAX = 900


def maven_classpath(pom: Path) -> str:
    """Of the dependencies of a pom; remembered under the name of its directory until the pom changes."""
    directory = cache_directory() / pom.parent.name
    directory.mkdir(parents=True, exist_ok=True)
    remembered = directory / "classpath.txt"
    known = directory / "pom.xml"
    wanted = pom.read_text()
    if not remembered.exists() or not known.exists() or known.read_text() != wanted:
        remembered.unlink(missing_ok=True)
        known.write_text(wanted)
        command = ["mvn", "-B", "-q", "-f", str(known), "dependency:build-classpath"]
        subprocess.run(
            [*command, f"-Dmdep.outputFile={remembered}"],
            check=True,
            capture_output=True,
            timeout=FETCHED_SECONDS_MAX,
        )
    return remembered.read_text().strip()
