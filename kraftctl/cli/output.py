"""The flag `--output`: the text of Kafka's tool, which is the default, or JSON, which Kafka's tools lack."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Final

JSON: Final = "json"


def add_output_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", choices=["text", JSON], default="text", help="the text of Kafka's tool (default), or JSON"
    )


def print_output(args: argparse.Namespace, text: str, value: object) -> None:
    """Prints the one of both that `--output` asks for."""
    args.has_output = True
    print(json.dumps(value) if args.output == JSON else text)


def print_failure(args: argparse.Namespace, text: str, **fields: object) -> None:
    """Prints a reason on standard error. Where `--output` asks for JSON that was not printed yet, that is an
    object with `error` and the other `fields`: a program need not read two streams.
    """
    print(text, file=sys.stderr)
    if getattr(args, "output", "") == JSON and not getattr(args, "has_output", False):
        print(json.dumps({**fields, "error": text}))
