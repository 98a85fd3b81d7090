"""What brokers need and this machine lacks is said in one line, before anything is fetched or compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

JAVA_21 = 'openjdk version "21.0.2" 2024-01-16'
JAVA_11 = 'openjdk version "11.0.22" 2024-01-16'
JAVA_8 = 'java version "1.8.0_402"'

CASES = [
    pytest.param(None, False, ["no java on the PATH", "no mvn on the PATH"], id="nothing"),
    pytest.param(None, True, ["no java on the PATH"], id="no-java"),
    pytest.param(JAVA_21, False, ["no mvn on the PATH"], id="no-maven"),
    pytest.param(JAVA_11, True, ["is Java 11"], id="java-11"),
    pytest.param(JAVA_8, True, ["is Java 8"], id="java-8"),
    pytest.param("Error: no JVM found", True, ["says: Error: no JVM found"], id="a-stub-of-the-system"),
    pytest.param("", True, ["says: exit status 0"], id="silent"),
    pytest.param(JAVA_21, True, [], id="all-there"),
]


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{shutil.which('sh')}\n{text}\n")
    path.chmod(0o755)


def make_dev_asks(directory: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As the Makefile runs it, where nothing has been fetched."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("JAVA_HOME", "PATH") and not name.startswith("PYTHON")
    }
    environment = {**kept, "PATH": str(directory / "bin"), "KRAFTCTL_CACHE": str(directory / "cache")}
    command = [sys.executable, "-S", "-m", "kraftctl.dev.kafka_distribution"]
    return subprocess.run(
        command, cwd=ROOT, env={**environment, **variables}, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(("java", "maven", "said"), CASES)
def test_one_line_says_what_is_missing(
    tmp_path: Path, java: str | None, maven: bool, said: list[str]
) -> None:
    (tmp_path / "bin").mkdir()
    if java is not None:
        executable(tmp_path / "bin" / "java", f"echo '{java}'")
    if maven:
        executable(tmp_path / "bin" / "mvn", "exit 0")
    done = make_dev_asks(tmp_path)
    assert done.stdout == ""
    assert done.returncode == bool(said), done.stderr
    assert len(done.stderr.splitlines()) == bool(said)
    assert [words for words in said if words not in done.stderr] == []
    assert ("Next step" in done.stderr) == bool(said)


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "java", f"echo '{JAVA_11}'")
    executable(tmp_path / "bin" / "mvn", "exit 0")
    executable(tmp_path / "home" / "bin" / "java", f"echo '{JAVA_21}'")
    assert make_dev_asks(tmp_path, JAVA_HOME=str(tmp_path / "home")).returncode == 0
    assert "is Java 11" in make_dev_asks(tmp_path, JAVA_HOME=str(tmp_path / "nowhere")).stderr
    (tmp_path / "bin" / "java").unlink()
    gone = make_dev_asks(tmp_path, JAVA_HOME=str(tmp_path / "nowhere"))
    assert f"nor is JAVA_HOME={tmp_path / 'nowhere'} one" in gone.stderr


def test_maven_is_not_needed_for_what_was_fetched(tmp_path: Path) -> None:
    """Of the same release, and while its jars are there."""
    from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION, _pom

    executable(tmp_path / "bin" / "java", f"echo '{JAVA_21}'")
    jar = tmp_path / "kafka.jar"
    jar.touch()
    remembered = tmp_path / "cache" / f"kafka-{DEFAULT_KAFKA_VERSION}"
    remembered.mkdir(parents=True)
    (remembered / "pom.xml").write_text(_pom(DEFAULT_KAFKA_VERSION))
    (remembered / "classpath.txt").write_text(str(jar))
    assert make_dev_asks(tmp_path).returncode == 0
    jar.unlink()
    assert "no mvn on the PATH" in make_dev_asks(tmp_path).stderr
