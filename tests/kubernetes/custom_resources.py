"""Judges objects of other projects by models made of their schemas, unknown fields among it.

`python -m tests.kubernetes.custom_resources` reads a list in JSON and prints what is wrong, a line each. It
needs the packages of crds.lock.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

MODELS = {
    "ServiceMonitor": "cloudcoil.models.prometheus_operator.v1",
    "PrometheusRule": "cloudcoil.models.prometheus_operator.v1",
    "Certificate": "cloudcoil.models.cert_manager.v1",
}
"""The module of each kind."""


def differences(given: Any, kept: Any, path: str) -> list[str]:
    """What the models leave out of an object; they ignore fields that they do not know."""
    if isinstance(given, dict) and isinstance(kept, dict):
        unknown = [f"{path}.{name}: no such field" for name in given if name not in kept]
        return unknown + [
            each
            for name in given
            if name in kept
            for each in differences(given[name], kept[name], f"{path}.{name}")
        ]
    if isinstance(given, list) and isinstance(kept, list):
        pairs = enumerate(zip(given, kept, strict=True))
        return [each for index, (one, other) in pairs for each in differences(one, other, f"{path}.{index}")]
    return []


def wrong(document: dict[str, Any]) -> list[str]:
    kind = document["kind"]
    model = getattr(importlib.import_module(MODELS[kind]), kind)
    try:
        read = model.model_validate(document)
    except ValueError as error:
        return [f"{kind}: {line}" for line in str(error).splitlines()]
    return differences(document, read.model_dump(mode="json", by_alias=True, exclude_unset=True), kind)


if __name__ == "__main__":
    for each in json.load(sys.stdin):
        print("".join(f"{line}\n" for line in wrong(each)), end="")
