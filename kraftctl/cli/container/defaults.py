"""What the slim image sets by itself: lines above the mounted file, so that this and variables replace them.

As variables of the image they would be below the file, and would replace it: another `log.dirs` than the
file's is an empty log of the same voter.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

LOG_DIRS: Final = "log.dirs"
METADATA_LOG_DIR: Final = "metadata.log.dir"

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
    if _is_formatted(kafkas_log_dir):
        decided.add(LOG_DIRS)
    return "".join(f"{key}={value}\n" for key, value in DEFAULTS.items() if key not in decided).encode()


def check_log_dirs(
    given: Mapping[str, str],
    resolved: Mapping[str, str],
    images_log_dir: Path,
    kafkas_log_dir: Path = KAFKAS_LOG_DIR,
) -> None:
    """Raises ValueError where the log would silently be another one than that in the directory of the image.

    `given` is what the mounted file and the variables set, `resolved` has the defaults of the image, too.
    """
    if not _is_formatted(images_log_dir):
        return
    other = SAME_AS[LOG_DIRS]
    named = resolved.get(LOG_DIRS) or resolved.get(other) or str(kafkas_log_dir)
    names = [*named.split(","), resolved.get(METADATA_LOG_DIR, "")]
    directories = [Path(name.strip()) for name in names if name.strip()]
    is_chosen_here = given.keys().isdisjoint({LOG_DIRS, other, METADATA_LOG_DIR})
    if is_chosen_here and _is_formatted(kafkas_log_dir):
        raise ValueError(
            f"{images_log_dir} and {kafkas_log_dir} both have meta.properties, and nothing says which is"
            f" meant. Next step: set {LOG_DIRS} to the one that was used last, or move the other one"
        )
    is_named = images_log_dir.resolve() in [directory.resolve() for directory in directories]
    if not is_named and not any(map(_is_formatted, directories)):
        raise ValueError(
            f"{images_log_dir} has meta.properties, but {', '.join(map(str, directories))} would be used,"
            f" which has none: an empty log of the same node. Next step: set {LOG_DIRS}={images_log_dir}, or"
            " move it"
        )


def _is_formatted(directory: Path) -> bool:
    return (directory / "meta.properties").exists()
