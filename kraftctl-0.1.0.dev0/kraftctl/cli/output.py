"""The flag `--output`: the text of Kafka's tool, which is the default, or JSON, which Kafka's tools lack."""

from __future__ import annotations

import argparse
import json
from typing import Final

JSON: Final = "json"


def add_output_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", choices=["text", JSON], default="text", help="the text of Kafka's tool (default), or JSON"
    )


def print_output(args: argparse.Namespace, text: str, value: object) -> None:
    """Prints the one of both that `--output` asks for."""
    print(json.dumps(value) if args.output == JSON else text)
