"""Nothing that is built, or that builds, is whatever a name means on that day."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.supply_chain.pins import all_pins, pins_of


def test_all_that_is_fetched_is_pinned() -> None:
    pins = all_pins()
    assert [pin for pin in pins if not pin.is_exact] == []
    of_files = Counter(pin.file for pin in pins)
    fetching = {
        "Dockerfile",
        "Makefile",
        "docker-compose.yml",
        ".github/workflows/ci.yml",
        ".pre-commit-config.yaml",
    }
    assert fetching < of_files.keys()
    assert sum(count for name, count in of_files.items() if name.endswith(".lock")) > 200


@pytest.mark.parametrize(
    ("name", "text", "exact"),
    [
        pytest.param("Dockerfile", "FROM python:3.11 AS build\nFROM build\n", [False], id="tag"),
        pytest.param("a/Dockerfile", f"FROM python:3.11@sha256:{'a' * 64}\n", [True], id="digest"),
        pytest.param("Dockerfile.slim", "RUN pip install kraftctl\n", [False], id="pip"),
        pytest.param("Dockerfile", "RUN pip wheel --require-hashes \\\n -r a\n", [True], id="hashes"),
        pytest.param("pyproject.toml", '[tool.cibuildwheel]\nx = "pip install x"', [False], id="wheels"),
        pytest.param("Makefile", "\t$(PIP) install kraftctl\n", [False], id="make"),
        pytest.param("deploy/x.yaml", "      - image: grafana:1\n", [False], id="manifest"),
        pytest.param("x.yaml", 'image: "{{ .Values.image }}"\n', [], id="template"),
        pytest.param(".github/workflows/x.yml", "- uses: a/b@v4\n- uses: ./b\n", [False, True], id="action"),
        pytest.param(".github/workflows/x.yml", f"- uses: a/b@{'0' * 40} # v4\n", [True], id="commit"),
        pytest.param(".pre-commit-config.yaml", "- repo: https://x/y\n  rev: v1\n", [False], id="hook"),
    ],
)  # fmt: skip
def test_what_is_exact(name: str, text: str, exact: list[bool]) -> None:
    assert [pin.is_exact for pin in pins_of(name, text)] == exact
