"""What run.py and report.py both know of the figures of a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

BROKE = "broke: "
"""So begins what was found by a run that could not come to its end."""


def commit() -> str:
    """Returns the commit of these sources, or "" where there is no git or no repository."""
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""
