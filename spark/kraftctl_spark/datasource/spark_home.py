"""A home for a pip-installed Spark whose Python workers start fast enough.

Spark gives a new planner process ten seconds to report back, and fails the query otherwise. Its workers
import PySpark from `python/lib/pyspark.zip`, where nothing is compiled ahead: that takes three times the work
of importing the installed package, several times over, and on a busy machine it is what breaks the limit. A
home that lacks the zip makes them import the installed package.

They also have to be run by the Python that has it installed: Spark itself takes the `python3` of the path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark


@contextmanager
def light_spark_home() -> Iterator[None]:
    """Sets SPARK_HOME to such a home, and PYSPARK_PYTHON to this interpreter.

    Unless somebody chose them already, or the JVM runs by now.
    """
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    installed = Path(pyspark.__file__).parent
    chosen = "SPARK_HOME" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ
    if chosen or not (installed / "jars").is_dir():
        yield
        return
    with TemporaryDirectory(prefix="kraftctl-spark-") as home:
        for entry in installed.iterdir():
            if entry.is_dir() and entry.name not in ("python", "__pycache__"):
                (Path(home) / entry.name).symlink_to(entry)
        os.environ["SPARK_HOME"] = home
        try:
            yield
        finally:
            del os.environ["SPARK_HOME"]
