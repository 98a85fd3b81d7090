"""The wheel of `make build`: the tests run the wheel that users install, also without the repository.

`make build` builds it in isolation from the sdist and installs it; nothing is compiled here.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import kraftctl
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import random_id
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_spark.history.questions.write import files
from tests.support.compiled_rim import compiled_rim
from tests.support.controller_properties import controller_properties, properties_file
from tests.support.wire.controller_client import ControllerClient

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SOURCE_ROOTS = {
    "kraftctl": ".",
    "kraftctl_admin": "protocol",
    "kraftctl_observer": "protocol",
    "kraftctl_protocol": "protocol",
    "kraftctl_security": "protocol",
    "kraftctl_spark": "spark",
}
STOP_SECONDS_MAX = 30

pytestmark = [pytest.mark.wheel, pytest.mark.slow]


def only(directory: Path, pattern: str) -> Path:
    found = list(directory.glob(pattern))
    assert len(found) == 1, f"{found}: run `make build`"
    return found[0]


@pytest.fixture(scope="module")
def wheel() -> Path:
    return only(BUILD / "wheel", "kraftctl-*.whl")


PACKAGED = (".py", ".java", ".sql", ".typed", ".css", ".html", ".js")


def packaged_files() -> set[str]:
    """Every file of the packages in the tree, by its name in the wheel."""
    return {
        path.relative_to(ROOT / root).as_posix()
        for package, root in SOURCE_ROOTS.items()
        for path in (ROOT / root / package).rglob("*")
        if path.is_file() and path.suffix in PACKAGED
    }


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        written = {f"kraftctl_spark/history/sql/{path}": text for path, text in files()}
        assert {name for name in names if not name.endswith(".so")} == packaged_files() | written.keys()
        assert {name: archive.read(name).decode() for name in written} == written
        for name in packaged_files():
            source = ROOT / SOURCE_ROOTS[name.partition("/")[0]] / name
            assert archive.read(name) == source.read_bytes(), f"{name} has changed since `make build`"
    compiled = {name.partition(".")[0] for name in names if name.endswith(".so")}
    expected = {"kraftctl/node/controller_node", "kraftctl_protocol/primitives", "kraftctl/raft/raft_node"}
    assert expected <= compiled
    around = {name for name in compiled if name.startswith(("kraftctl/server/", "kraftctl/storage/"))}
    assert around == {module.replace(".", "/") for module in compiled_rim()}


def test_the_sdist_holds_no_more_than_a_build_needs() -> None:
    with tarfile.open(only(BUILD / "sdist", "kraftctl-*.tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "setup.py", "native/trashcan.h", "README.md"} <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "schemas/", "build/"))]


def test_what_is_tested_is_this_wheel(wheel: Path) -> None:
    """Digest by digest: the tests' environment has the files of the wheel and no others."""
    installed = metadata.distribution("kraftctl")
    assert Path(kraftctl.__file__) == Path(str(installed.locate_file("kraftctl/__init__.py")))
    with zipfile.ZipFile(wheel) as archive:
        record = archive.read(f"kraftctl-{installed.version}.dist-info/RECORD").decode()
    in_wheel = {name: digest for name, digest, _ in csv.reader(record.splitlines()) if digest}
    here = {str(path): f"{path.hash.mode}={path.hash.value}" for path in installed.files or () if path.hash}
    added_by_pip = {"INSTALLER", "REQUESTED", "direct_url.json"}
    assert in_wheel == {
        name: digest
        for name, digest in here.items()
        if Path(name).name not in added_by_pip and not name.startswith("../")
    }


class CleanEnvironment:
    """A virtual environment with the wheel and what it asks for; a PATH that holds nothing else."""

    def __init__(self, directory: Path) -> None:
        self._bin = directory / "bin"
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        left_out = ("PYTHON", "KRAFTCTL_", "CC", "VIRTUAL_ENV")
        self.variables = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
        self.variables["PATH"] = str(self._bin)
        compilers = ("cc", "gcc", "clang", "c++", "g++")
        assert not [name for name in compilers if shutil.which(name, path=str(self._bin))]

    def start(self, command: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self._bin / command), *arguments],
            cwd=self._bin,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def output(self, command: str, *arguments: str) -> str:
        process = self.start(command, *arguments)
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
        return output


@pytest.fixture(scope="module")
def clean_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> CleanEnvironment:
    """What the wheel depends on comes from the files that requirements.lock names, by name."""
    environment = CleanEnvironment(tmp_path_factory.mktemp("clean") / "venv")
    environment.output(
        "python", "-m", "pip", "install", "-q", "--disable-pip-version-check",
        "--no-index", "--find-links", str(BUILD / "requirements"), str(wheel),
    )  # fmt: skip
    return environment


def test_a_clean_environment_says_its_version(clean_environment: CleanEnvironment) -> None:
    assert clean_environment.output("kraftctl", "--version") == f"kraftctl {kraftctl.__version__}\n"
    code = "from kraftctl_protocol import primitives; print(primitives.__file__)"
    assert clean_environment.output("python", "-c", code).strip().endswith(".so")
    assert "No broken requirements" in clean_environment.output("python", "-m", "pip", "check")


def test_without_its_extra_the_exporter_says_what_to_install(clean_environment: CleanEnvironment) -> None:
    """Each extra by itself, on two interpreters: tests/spark/test_installed_exporter.py."""
    process = clean_environment.start("kraftctl-export", "run", "--directory", "log", "--output", "tables")
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 2, printed
    assert printed.startswith("kraftctl-export run needs pyspark and pyarrow: ")
    assert printed.endswith(
        " install 'pyarrow>=21' 'pyspark<4.4,>=4.2'; or add --engine local, which needs pyarrow alone\n"
    )


@pytest.fixture
def properties(tmp_path: Path) -> str:
    port = free_port()
    made = controller_properties(tmp_path / "data", address=f"localhost:{port}")
    return str(properties_file(tmp_path, made))


@pytest.fixture
def controller(clean_environment: CleanEnvironment, properties: str) -> Iterator[subprocess.Popen[str]]:
    """Started on a directory that it has formatted."""
    clean_environment.output("kraftctl", "format", "--standalone", "-t", random_id(), "-c", properties)
    process = clean_environment.start("kraftctl", "start", properties)
    yield process
    process.kill()
    process.communicate()


def test_a_clean_environment_runs_a_controller(controller: subprocess.Popen[str]) -> None:
    """Formatted, started, asked over the wire, stopped."""
    assert controller.stdout is not None
    lines: list[str] = []
    port = 0
    for line in controller.stdout:
        lines.append(line)
        if match := re.search(r"Awaiting socket connections on .* \(port (\d+)\)", line):
            port = int(match.group(1))
            break
    assert port, "".join(lines)
    client = ControllerClient(port)
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    assert 63 in {api.api_key for api in client.call(request, 4, ApiVersionsResponse).api_keys}
    client.close()
    controller.send_signal(signal.SIGTERM)
    rest, _ = controller.communicate(timeout=STOP_SECONDS_MAX)
    output = "".join(lines) + rest
    assert controller.returncode == 0, output
    assert "Traceback" not in output
