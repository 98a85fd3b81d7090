"""`kraftctl random-uuid`: print an id for a new cluster or directory, as `kafka-storage random-uuid` does."""

from __future__ import annotations

import argparse
import random

from kraftctl_protocol.uuids import random_uuid, uuid_to_string

NAME = "random-uuid"
PRINTS_ONLY = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments, because the command takes none."""


def run(args: argparse.Namespace) -> int:
    print(uuid_to_string(random_uuid(random.SystemRandom())))
    return 0
