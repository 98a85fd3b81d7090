"""Writes deploy/kubernetes/kraftctl.yaml: `python -m tests.kubernetes.plain_manifests`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.kubernetes.kubernetes_tools import PLAIN, plain_manifests

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        PLAIN.write_text(plain_manifests(Path(directory)))
