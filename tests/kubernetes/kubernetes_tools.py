"""Helm, built from its sources, and the schemas of Kubernetes: brought once to each machine, by hash."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from kraftctl.dev.kafka_distribution import cache_directory
from tests.kubernetes.custom_resources import MODELS

TOOLS = Path(__file__).with_name("tools")

CHART = Path(__file__).parents[2] / "deploy" / "kubernetes" / "chart"

PLAIN = CHART.parent / "kraftctl.yaml"

CLUSTER_ID = "CLUSTER_ID_OF_22_CHARS"
PLACEHOLDER = "REPLACE-BY-THE-CLUSTER-ID"
"""In the plain manifests: `kraftctl format` refuses it."""
"""As the plain manifests have it: a placeholder."""

HEADER = f"""\
# Written by `python -m tests.kubernetes.plain_manifests` from the chart beside it.
# Replace {PLACEHOLDER} by the id of your cluster, and the image by yours: docs/operations/kubernetes.md.
"""

KUBERNETES = "1.35"
"""The release whose schemas are asked; the oldest that the chart is for is in its Chart.yaml."""


BUILD_SECONDS_MAX = 1800.0
"""Minutes of processor time, the first time."""


def _run(*command: str) -> None:
    done = subprocess.run(
        command, cwd=TOOLS, capture_output=True, text=True, timeout=BUILD_SECONDS_MAX, check=False
    )
    assert done.returncode == 0, done.stderr


@cache
def tools() -> Path:
    """The directory with `helm`, of the version in go.mod, and with `schemas`, which Python imports."""
    files = [TOOLS / name for name in ("go.mod", "go.sum", "schemas.lock")]
    version = hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:16]
    place = cache_directory() / f"kubernetes-{version}"
    if not (place / "helm").exists():
        go = shutil.which("go") or "/usr/local/go/bin/go"
        flags = ("-trimpath", "-buildvcs=false", "-o", str(place / "helm"))
        _run(go, "build", *flags, "helm.sh/helm/v4/cmd/helm")
    _install(place / "schemas", "schemas.lock")
    return place


def _install(place: Path, lock: str) -> None:
    if not place.exists():
        unfinished = place.with_suffix(".new")
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(unfinished))
        _run(*pip, "--require-hashes", "-r", lock)
        unfinished.rename(place)


@cache
def models() -> Path:
    """The directory with the models of custom resources, which Python imports."""
    version = hashlib.sha256((TOOLS / "crds.lock").read_bytes()).hexdigest()[:16]
    place = cache_directory() / f"custom-resources-{version}"
    _install(place, "crds.lock")
    return place


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(tools() / "helm"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60.0, check=False)


def with_values(directory: Path, values: Mapping[str, Any]) -> list[str]:
    """The flags for these values, with an id unless they have one."""
    file = directory / "values.yaml"
    file.write_text(json.dumps({"clusterId": CLUSTER_ID, **values}))
    return ["--values", str(file)]


def rendered(directory: Path, values: Mapping[str, Any]) -> str:
    done = helm("template", "kraftctl", str(CHART), "--namespace", "kafka", *with_values(directory, values))
    assert done.returncode == 0, done.stderr
    return done.stdout


def plain_manifests(directory: Path) -> str:
    """What deploy/kubernetes/kraftctl.yaml has to be."""
    lines = rendered(directory, {}).replace(CLUSTER_ID, PLACEHOLDER).splitlines(keepends=True)
    return HEADER + "".join(line for line in lines if not line.startswith("# Source:"))


def judged(manifests: str) -> list[str]:
    """What the schemas of Kubernetes refuse, and those of the custom resources, unknown fields among it."""
    found = [each for each in yaml.safe_load_all(manifests) if each]
    ours = [each for each in found if each["kind"] not in MODELS]
    return _judged_by_kubernetes(ours) + _judged_by_models([each for each in found if each["kind"] in MODELS])


def _judged_by_models(custom: list[Any]) -> list[str]:
    if not custom:
        return []
    done = subprocess.run(
        [sys.executable, "-m", "tests.kubernetes.custom_resources"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(models()), str(CHART.parents[2])])},
        input=json.dumps(custom),
        capture_output=True,
        text=True,
        timeout=120.0,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _judged_by_kubernetes(ours: list[Any]) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "kubernetes_validate",
        "--strict",
        "--quiet",
        "-k",
        KUBERNETES,
        "/dev/stdin",
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(tools() / "schemas")},
        input=yaml.safe_dump_all(ours),
        capture_output=True,
        text=True,
        timeout=120.0,
        check=False,
    )
    found = (done.stdout + done.stderr).splitlines()
    assert (done.returncode == 0) == (found == []), found
    return found
