"""The exporter installed by itself, with each extra, in a clean environment without a C compiler.

Needs a package index. The wheel is built without compiled code, so one fits every interpreter.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.spark.log_directory import LogDirectory
from tests.support.processes.spark_export import SPARK_ARGUMENTS

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(1500)]

ROOT = Path(__file__).parents[2]
SDIST = ("kraftctl", "protocol", "spark", "pyproject.toml", "setup.py", "native", "MANIFEST.in",
         "README.md", "ARCHITECTURE.md", "CHANGELOG.md")  # fmt: skip
NEWEST_MINOR = 20
COMPILER = re.compile(
    r"(.+-)?(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|cpp|c89|c99|tcc|as|ld|python3?|pip3?)(-?[\d.]+)?"
)
RECORDS = 60

LOWEST = re.findall(r"^[\w.-]+==[\w.]+", (ROOT / "requirements-lowest.lock").read_text(), re.MULTILINE)
"""The lower bounds of all dependencies, and not only of Spark's: tests/packaging/test_lowest_versions.py."""

READ = """
import sys
from pyspark.sql import SparkSession
from kraftctl_spark.datasource.registration import register_source

spark = SparkSession.builder.master("local[1]").getOrCreate()
register_source(spark)
table = spark.read.format("kraft").option("directory", sys.argv[1]).load()
rows = table.where("offset BETWEEN 7 AND 9").collect()
print("offsets", [row["offset"] for row in rows])
try:
    spark.read.format("kraft").option("directory", sys.argv[1]).option("endingOffset", 61).load().count()
except Exception as error:
    print("refused", str(error).splitlines()[0])
"""


def newest_python() -> str:
    """The newest CPython on the PATH, which may be this one. A version manager is asked for each version."""
    for minor in range(NEWEST_MINOR, sys.version_info.minor, -1):
        name = f"3.{minor}"
        if shutil.which(f"python{name}"):
            found = subprocess.run(
                [f"python{name}", "-c", "import sys; print(sys.executable)"],
                env={**os.environ, "PYENV_VERSION": name},
                capture_output=True,
                text=True,
            )
            if found.returncode == 0:
                return found.stdout.strip()
    return sys.executable


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: the tree has no other results of a build than those of `make build`."""
    sources = tmp_path_factory.mktemp("sources")
    for name in SDIST:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, sources / name)
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    environment = {**os.environ, "KRAFTCTL_PURE": "1", "PYTHONSAFEPATH": "1"}
    subprocess.run([*command, "-w", target, sources], check=True, cwd=target, env=environment)
    (made,) = target.glob("kraftctl-*-py3-none-any.whl")
    return made


class Installed:
    """An environment with the wheel, one extra, and what that requires."""

    def __init__(self, directory: Path, python: str, wheel: Path, extra: str, constraints: str = "") -> None:
        self.directory = directory
        subprocess.run([python, "-m", "venv", directory / "venv"], check=True)
        self._bin = directory / "venv" / "bin"
        left_out = ("PYTHON", "PYSPARK", "SPARK", "KRAFTCTL_", "VIRTUAL_ENV", "CC")
        self.variables = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
        java = shutil.which("java")
        assert java is not None
        tools = directory / "tools"
        tools.mkdir()
        for tool in Path("/usr/bin").iterdir():  # Spark's scripts and Hadoop run some of them.
            if not COMPILER.fullmatch(tool.name):
                (tools / tool.name).symlink_to(tool)
        self.variables |= {
            "JAVA_HOME": str(Path(java).resolve().parents[1]),
            "PATH": f"{self._bin}:{tools}",
            "PYSPARK_SUBMIT_ARGS": SPARK_ARGUMENTS,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(directory),
        }
        assert not [name for name in ("cc", "gcc", "g++") if shutil.which(name, path=self.variables["PATH"])]
        (directory / "constraints").write_text(constraints)
        self.run("pip", "install", "-q", "-c", str(directory / "constraints"), f"{wheel}{extra}")

    def run(self, command: str, *arguments: str, status: int = 0) -> str:
        """What a command of the environment prints."""
        ran = subprocess.run(
            [self._bin / command, *arguments],
            env=self.variables,
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
        )
        assert ran.returncode == status, ran.stdout
        return ran.stdout

    def export(self, log: Path) -> Path:
        """The tables of a directory; every offset is in them."""
        tables = self.directory / "tables"
        where = ("--directory", str(log), "--output", str(tables), "--master", "local[1]")
        printed = self.run("kraftctl-export", "run", *where, "--available-now")
        assert f"committed offsets 0 to {RECORDS - 1}: {RECORDS} records" in printed
        assert (
            json.loads(self.run("kraftctl-export", "status", "--output", str(tables), "--json"))["offset"]
            == RECORDS
        )
        return tables


@contextmanager
def installed(
    wheel: Path, extra: str, constraints: str = "", python: str = sys.executable
) -> Iterator[Installed]:
    """More than a gigabyte, so not in a directory that pytest keeps."""
    with TemporaryDirectory(prefix="installed-") as directory:
        yield Installed(Path(directory), python, wheel, extra, constraints)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    directory = LogDirectory(tmp_path / "log")
    directory.append(RECORDS)
    directory.close()
    return directory.path


def test_without_an_extra(wheel: Path, log: Path) -> None:
    with installed(wheel, "") as environment:
        printed = environment.run("kraftctl-export", "status", "--output", "tables", status=2)
        assert printed.startswith("kraftctl-export status needs pyarrow: ")
        assert printed.endswith(" install 'duckdb>=2.0' 'plotly>=7.1' 'pyarrow>=21'\n")
        assert environment.run("kraftctl-export", "--version").startswith("kraftctl-export 0.")


@pytest.mark.parametrize(
    "constraints",
    [pytest.param("\n".join(LOWEST), id="lowest"), pytest.param("", id="newest")],
)
def test_with_spark_and_without_what_only_a_controller_needs(
    wheel: Path, log: Path, constraints: str
) -> None:
    with installed(wheel, "[spark]", constraints) as environment:
        environment.run("pip", "uninstall", "-q", "-y", "uvloop")
        environment.export(log)
        printed = environment.run("python", "-c", READ, str(log))
        assert "offsets [7, 8, 9]" in printed
        assert "refused [PYTHON_DATA_SOURCE_ERROR]" in printed
        assert "ValueError: option endingOffset=61: the log is committed up to 60" in printed
        refused = environment.run("kraftctl-export", "report", "--output", "x", "--to", "y", status=2)
        assert "needs duckdb and plotly: " in refused
        assert refused.endswith(" install 'duckdb>=2.0' 'plotly>=7.1' 'pyarrow>=21'\n")


def test_with_the_report_on_the_newest_python(wheel: Path, log: Path) -> None:
    """The page needs neither Spark nor Java; the tables do."""
    with installed(wheel, "[spark,report]", python=newest_python()) as environment:
        tables = environment.export(log)
        environment.run("pip", "uninstall", "-q", "-y", "pyspark", "uvloop")
        del environment.variables["JAVA_HOME"]
        page = environment.directory / "report.html"
        environment.run("kraftctl-export", "report", "--output", str(tables), "--to", str(page))
        assert "<html" in page.read_text()[:1000]
