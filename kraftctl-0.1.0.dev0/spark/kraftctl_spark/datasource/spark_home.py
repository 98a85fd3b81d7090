"""A SPARK_HOME for a pip-installed Spark with which Python workers start fast enough.

Spark fails a query if a new planner process does not report back within ten seconds. Its workers import
PySpark from `python/lib/pyspark.zip`, which has no compiled files: this takes three times the CPU time of
importing the installed package, in each of several processes, and exceeds the limit on a busy machine.
Without the zip in SPARK_HOME, they import the installed package.

Its configuration lets Spark log errors only: its warnings, before a job can set a level, are about Spark.
The JVM's temporary files are in it too: those of one that is killed are removed with it, at the next start.

The workers also have to use the Python that has it installed; Spark itself would use `python3` of the path.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pyspark

PREFIX = "kraftctl-spark-"
JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"
"""Spark's scripts look for options of the driver's JVM here."""
LOG4J2 = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex
"""
YOUNG_S = 60
"""A directory this young may belong to a process that has not locked it yet."""


def remove_abandoned_homes(parent: Path) -> None:
    """Removes the homes of processes that were killed; a running one holds the lock of its home."""
    for home in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # Another user's, or removed meanwhile.
            if home.stat().st_mtime > time.time() - YOUNG_S:
                continue
            with _locked(home):
                shutil.rmtree(home)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Locks a home; BlockingIOError while another process holds it. The lock ends with its process."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _configure_logging(conf: Path) -> None:
    """Configures logging, unless the installed Spark has a configuration, or SPARK_CONF_DIR names
    another one.
    """
    if not conf.exists():
        conf.mkdir()
        (conf / "log4j2.properties").write_text(LOG4J2)


@contextmanager
def light_spark_home() -> Iterator[None]:
    """Sets SPARK_HOME to such a home, and PYSPARK_PYTHON to this interpreter.

    It does not if they are already set, or if the JVM is already running.
    """
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    installed = Path(pyspark.__file__).parent
    chosen = "SPARK_HOME" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ
    if chosen or not (installed / "jars").is_dir():
        yield
        return
    remove_abandoned_homes(Path(gettempdir()))
    with TemporaryDirectory(prefix=PREFIX) as home, _locked(Path(home)):
        for entry in installed.iterdir():
            if entry.is_dir() and entry.name not in ("python", "__pycache__"):
                (Path(home) / entry.name).symlink_to(entry)
        _configure_logging(Path(home) / "conf")
        temporary = Path(home) / "tmp"
        temporary.mkdir()
        with _set("SPARK_HOME", home), _set(JAVA_OPTIONS, _with_temporary(temporary)):
            yield


def _with_temporary(directory: Path) -> str:
    """Returns Java's options so that temporary files are there, unless they say where.

    The path is in quotes, which Spark's launcher removes: it can contain a space.
    """
    given = os.environ.get(JAVA_OPTIONS, "")
    return given if "-Djava.io.tmpdir=" in given else f'{given} "-Djava.io.tmpdir={directory}"'.strip()


@contextmanager
def _set(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
