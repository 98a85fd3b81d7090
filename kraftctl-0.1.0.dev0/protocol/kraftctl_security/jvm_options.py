"""Options that Kafka's scripts pass to the JVM in the environment variable KAFKA_OPTS."""

from __future__ import annotations

from typing import Final

KAFKA_OPTS: Final = "KAFKA_OPTS"


def last_option(kafka_opts: str, prefix: str) -> str | None:
    """Returns what follows `prefix` in the last option that begins with it, as in Java; None without one."""
    for option in reversed(kafka_opts.split()):
        if option.startswith(prefix):
            return option.removeprefix(prefix)
    return None
