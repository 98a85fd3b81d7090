"""What the slim image sets by itself: lines above the mounted file, so that this and variables replace them.

As variables of the image they would be below the file, and would replace it: another `log.dirs` than the
file's is an empty log of the same voter.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

LOG_DIRS: Final = "log.dirs"

DEFAULTS: Final = {
    "process.roles": "controller",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://:9093",
    LOG_DIRS: "/var/lib/kafka/data",
    "kraftctl.operate.listeners": "http://127.0.0.1:9099",
}
"""Probes are for this container alone, until a file or a variable says otherwise."""

SAME_AS: Final = {LOG_DIRS: "log.dir"}
"""What Kafka reads where the first key is not set."""

KAFKAS_LOG_DIR: Final = Path("/tmp/kafka-logs")
"""The log of a controller that moves here from the apache/kafka image without `log.dirs`."""


def default_lines(properties: Mapping[str, str], kafkas_log_dir: Path = KAFKAS_LOG_DIR) -> bytes:
    """Returns the lines of the keys that the mounted file and the variables leave open."""
    decided = set(properties) | {key for key, other in SAME_AS.items() if other in properties}
    if (kafkas_log_dir / "meta.properties").exists():
        decided.add(LOG_DIRS)
    return "".join(f"{key}={value}\n" for key, value in DEFAULTS.items() if key not in decided).encode()
