"""The export job as a separate process, for tests that compare its output with a controller's log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from kraftctl.dev.polling import await_result

ROOT = Path(__file__).parents[3]
SPARK_ARGUMENTS = (
    "--driver-memory 600m --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=2 "
    "--conf spark.driver.bindAddress=127.0.0.1 --conf spark.driver.host=127.0.0.1 "
    "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
)
SOURCE_ROOTS = (ROOT, ROOT / "protocol", ROOT / "spark")


def spark_environment() -> dict[str, str]:
    """For a process that starts Spark."""
    paths = [str(path) for path in SOURCE_ROOTS]
    return {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": SPARK_ARGUMENTS,
        "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


class ExportFailedError(AssertionError):
    """The job ended with another status than expected; the message is what it printed last."""


class ExportJob:
    """`kraftctl-export run`, with secrets, ended by force when the `with` block is left."""

    def __init__(self, where: str | Path, output: Path, *flags: str) -> None:
        """`where` are controllers, or a directory if it is a path."""
        self.output = output
        self.log_file = output.with_name(output.name + ".log")
        command = [sys.executable, "-m", "kraftctl_spark.cli", "run", "--master", "local[2]"]
        flag = "--directory" if isinstance(where, Path) else "--bootstrap-controllers"
        command += [flag, str(where), "--output", str(output), "--include-secrets", *flags]
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                env=spark_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> ExportJob:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(30)

    def kill(self) -> None:
        """kill -9; the JVM notices by itself that its driver has ended."""
        self._process.kill()
        self._process.wait(30)

    def terminate(self) -> None:
        """SIGTERM, and an orderly end."""
        self._process.send_signal(signal.SIGTERM)
        self.await_end()

    def await_end(self, expected_status: int = 0, timeout_s: float = 180.0) -> None:
        """Waits until it ends by itself; ExportFailedError for another status than expected."""
        status = self._process.wait(timeout_s)
        if status != expected_status:
            raise ExportFailedError(f"the export ended with {status}\n{self.printed()[-4000:]}")

    def printed(self) -> str:
        return self.log_file.read_text(errors="replace")

    def await_batches(self, count: int, timeout_s: float = 120.0) -> None:
        """Waits until `count` batches in all have been committed to the output."""

        def committed() -> bool:
            if self._process.poll() is not None:
                raise ExportFailedError(f"the export has ended\n{self.printed()[-4000:]}")
            return committed_batches(self.output) >= count

        await_result(committed, f"{count} batches in {self.output}", timeout_s)


def committed_batches(output: Path) -> int:
    """How many batches Spark's checkpoint counts as done."""
    commits = output / "_checkpoint" / "commits"
    numbers = (
        [int(entry.name) for entry in commits.iterdir() if entry.name.isdecimal()] if commits.is_dir() else []
    )
    return max(numbers) + 1 if numbers else 0


def export_now(where: str | Path, output: Path, *flags: str) -> None:
    """Exports everything that is committed now, then returns."""
    with ExportJob(where, output, "--available-now", *flags) as job:
        job.await_end()
