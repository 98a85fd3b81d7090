"""A job that registers the source itself, with a Python that is not on the PATH."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.log_directory import LogDirectory

JOB = """
import sys
from pyspark.sql import SparkSession
from kraftctl_spark.datasource.registration import register_source

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
register_source(spark)
rows = spark.read.format("kraft").option("directory", sys.argv[1]).load()
print("rows", rows.count())
"""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_the_workers_of_a_job_run_the_python_of_the_job(tmp_path: Path) -> None:
    """Spark would run the `python3` of the PATH, here one that fails."""
    directory = LogDirectory(tmp_path / "log")
    directory.append(60)
    directory.close()
    wrong = tmp_path / "bin" / "python3"
    wrong.parent.mkdir()
    wrong.write_text("#!/bin/sh\necho this is another Python >&2\nexit 9\n")
    wrong.chmod(0o755)
    environment = {**os.environ, "PATH": f"{wrong.parent}:/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
    environment.pop("PYSPARK_PYTHON", None)
    made = subprocess.run(
        [sys.executable, "-c", JOB, str(directory.path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert "rows 60" in made.stdout, made.stderr
