"""A Spark cluster whose workers have no disk in common with the driver: all they share is the store."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl_spark.log import log_range
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.stores.conftest import Servers, client_of
from tests.spark.stores.stored_export import assert_exact, stored_output
from tests.spark.test_standalone_cluster import FLAGS, Worker, arguments, started
from tests.spark.typed_export import batches_of, mixed_value
from tests.support.processes.spark_export import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]

APART = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"')
"""Mounts an empty directory over one of this machine, for one worker and its executors alone."""


def test_two_workers_write_to_a_store_and_again_without_the_checkpoint(
    controller: FakeController,
    quorum: FakeQuorum,
    servers: Servers,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Temporary files of the driver and of both workers are in directories of the same name."""
    client_of(monkeypatch, servers("versitygw").endpoint)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    local, checkpoint = tmp_path / "local", tmp_path / "checkpoint"
    local.mkdir()
    monkeypatch.setenv("TMPDIR", str(local))
    end, apart = 0, Worker(cores=1, prefix=(*APART, str(local)))
    with started(tmp_path, apart, apart) as cluster:
        for more in (log_range.OFFSETS_PER_RANGE + 2_000, 1_000):
            values = {offset: mixed_value(offset) for offset in range(end, end + more)}
            quorum.append(*batches_of(values, size=1000))
            end += more
            submit = [str(cluster.home / "bin" / "spark-submit"), "--master", cluster.url, *FLAGS]
            export = [str(ROOT / "spark/run_export.py"), *arguments(cluster, controller, url)]
            done = subprocess.run(
                [*submit, *export, "--checkpoint", str(checkpoint), "--history"],
                env={**cluster.environment, "PYSPARK_DRIVER_PYTHON": sys.executable},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=400,
            )
            assert done.returncode == 0, done.stdout[-5000:] + cluster.said()
            assert_exact(url, end)
            shutil.rmtree(checkpoint)
        said = {log.name: log.read_text() for log in cluster.logs[1:]}
        executors = {name for name, text in said.items() if "Asked to launch executor" in text}
    assert executors == {"worker-0.log", "worker-1.log"}, cluster.said()
    with stored_output(url) as output:
        assert verify(output.log.store).problems == []
        assert output.log.state().history is not None
        assert output.log.state().history.end == end
