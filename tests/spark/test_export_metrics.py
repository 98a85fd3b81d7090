"""The metrics of a running export: their table, their text, and the listener."""

from __future__ import annotations

import resource
import signal
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from kraftctl_security.exposition import CONTENT_TYPE
from kraftctl_spark.cli import main
from kraftctl_spark.monitoring import metrics_listener
from kraftctl_spark.monitoring.export_metrics import ExportMetrics
from kraftctl_spark.monitoring.metric_page import page
from kraftctl_spark.monitoring.metric_table import FAILURES, HISTORY, METRICS
from kraftctl_spark.monitoring.metrics_listener import listener_address, serving
from kraftctl_spark.tables.exporter import Committed, Exporter
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.progress import progress
from tests.operate.prometheus_text import Family, parse
from tests.spark import local_job
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.typed_export import exporting, mixed_batches
from tests.support.processes.kafka import await_result

ROOT = Path(__file__).parents[2]


def value(families: dict[str, Family], name: str, **labels: str) -> float:
    samples = families[f"kraftctl_export_{name}"].samples
    return samples[f"kraftctl_export_{name}", tuple(labels.items())]


@pytest.fixture
def metrics() -> ExportMetrics:
    return ExportMetrics(CLUSTER_ID, "local")


@contextmanager
def noting(exporter: Exporter, metrics: ExportMetrics) -> Iterator[Exporter]:
    exporter._note = metrics.committed
    yield exporter


def test_the_page_is_that_of_the_table() -> None:
    assert (ROOT / "spark" / "METRICS.md").read_text() == page(), "run make generate"


def test_names_are_unique_and_each_name_has_one() -> None:
    names = [name for metric in METRICS for name in metric.names]
    assert len(set(names)) == len(names) == len(METRICS)
    assert all(
        name.endswith("_total") == (metric.kind == "counter") for metric in METRICS for name in metric.names
    )


def test_each_batch_changes_them(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, metrics: ExportMetrics
) -> None:
    quorum.append(*mixed_batches(0, 100))
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(40, 1)
    metrics.begin_with(progress(Output(tmp_path)))
    found = parse(metrics.text())
    assert (value(found, "offset"), value(found, "lag_records"), value(found, "batches_total")) == (40, 60, 0)
    with exporting(tmp_path, controller.endpoint) as exporter, noting(exporter, metrics):
        for end in (70, 100):
            exporter.export_to(end, 1)
    metrics.failed(HISTORY)
    found = parse(metrics.text())
    status = progress(Output(tmp_path))
    assert value(found, "offset") == value(found, "high_watermark") == status.offset == 100
    assert value(found, "lag_records") == 0
    assert status.lag_ms is not None
    assert value(found, "lag_seconds") == pytest.approx(status.lag_ms / 1000, abs=5)
    assert status.last_commit_at_ms is not None
    assert value(found, "last_commit_timestamp_seconds") == pytest.approx(
        status.last_commit_at_ms / 1000, abs=5
    )
    assert (value(found, "batches_total"), value(found, "records_total")) == (2, 60)
    rows = {table: value(found, "table_rows", table=table) for table in status.tables}
    assert rows == {table: one.rows for table, one in status.tables.items()}
    assert {kind: value(found, "failures_total", kind=kind) for kind in FAILURES} == {
        kind: kind == HISTORY for kind in FAILURES
    }
    histogram = found["kraftctl_export_batch_duration_seconds"].samples
    assert histogram["kraftctl_export_batch_duration_seconds_count", ()] == 2
    assert {metric.names[0] for metric in METRICS} == set(found)
    assert value(found, "commit_number") == Output(tmp_path).commit_number


def test_a_commit_with_a_number_has_it(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, metrics: ExportMetrics
) -> None:
    quorum.append(*mixed_batches(0, 40))
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(40, 1)
    (manifest,) = Output(tmp_path).manifests()
    metrics.committed(Committed(manifest, 7, 0.1, 0, 1))
    found = parse(metrics.text())
    assert value(found, "commit_number") == 7
    buckets = found["kraftctl_export_batch_duration_seconds"].samples
    assert buckets["kraftctl_export_batch_duration_seconds_bucket", (("le", "0.1"),)] == 1, (
        "bounds are inclusive"
    )


def ask(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        answer = b""
        while received := connection.recv(65536):
            answer += received
    return answer


def test_it_answers_what_prometheus_asks(metrics: ExportMetrics) -> None:
    with serving(("127.0.0.1", 0), metrics.text) as port:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics?x=1", timeout=10) as response:
            assert response.headers["Content-Type"] == CONTENT_TYPE
            assert response.read().decode() == metrics.text()
        head = ask(port, b"HEAD /metrics HTTP/1.1\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert head.endswith(b"\r\n\r\n")
    with pytest.raises(ConnectionRefusedError):
        ask(port, b"")


@pytest.mark.parametrize(
    ("request_bytes", "answer"),
    [
        pytest.param(b"POST /metrics HTTP/1.1\r\n\r\n", b"HTTP/1.1 405 ", id="no-get"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 404 ", id="another-path"),
        pytest.param(b"\x16\x03\x01\r\n\r\n", b"HTTP/1.1 405 ", id="no-http"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 9000, b"", id="too-long"),
    ],
)
def test_it_answers_nothing_else(metrics: ExportMetrics, request_bytes: bytes, answer: bytes) -> None:
    with serving(("127.0.0.1", 0), metrics.text) as port:
        try:
            assert ask(port, request_bytes).partition(b" ")[0] == answer.partition(b" ")[0]
        except ConnectionResetError:
            assert answer == b"", "it closes with something unread"
        else:
            assert not answer or ask(port, request_bytes).startswith(answer)
        assert ask(port, b"GET /metrics HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 200 OK")


def test_where_no_thread_can_be_started_the_next_connection_is_served(
    metrics: ExportMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = [True] * metrics_listener.CONNECTIONS_MAX
    start = threading.Thread.start

    def started(thread: threading.Thread) -> None:
        if failing and thread.name != "metrics":
            failing.pop()
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", started)
    with serving(("127.0.0.1", 0), metrics.text) as port:
        while failing:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as refused, suppress(OSError):
                refused.recv(1)
        assert ask(port, b"GET /metrics HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 200 OK")


def test_slow_clients_keep_nobody_away_for_long(metrics: ExportMetrics) -> None:
    """As many as there are threads: the next one is closed; when their time is over, others are served."""
    with serving(("127.0.0.1", 0), metrics.text) as port:
        silent = [
            socket.create_connection(("127.0.0.1", port), timeout=10)
            for _ in range(metrics_listener.CONNECTIONS_MAX)
        ]

        def is_served() -> bool:
            try:
                return ask(port, b"GET /metrics HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 200 OK")
            except ConnectionError:
                return False

        await_result(is_served, "an answer before Prometheus has asked twice", 5)
        for connection in silent:
            assert connection.recv(1) == b""
            connection.close()


@pytest.mark.parametrize(
    "text", ["127.0.0.1:9404", "https://127.0.0.1:9404", "http://127.0.0.1", "http://:9404", "http://a:b"]
)
def test_an_address_that_cannot_be(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--directory", "x", "--output", str(tmp_path), "--metrics-listener", text])
    assert ended.value.code == 2
    assert "argument --metrics-listener: " in capsys.readouterr().err
    assert listener_address("http://[::1]:9404") == ("::1", 9404)


def test_a_port_that_is_taken(metrics: ExportMetrics) -> None:
    with serving(("127.0.0.1", 0), metrics.text) as port:
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port} .*give an address"):
            serving(("127.0.0.1", port), metrics.text).__enter__()


def test_a_running_export_serves_them(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> None:
    quorum.append(*mixed_batches(0, 60))
    host, port = controller.endpoint
    printed = tmp_path / "job.log"
    where = [
        "--bootstrap-controllers",
        f"{host}:{port}",
        "--output",
        str(tmp_path / "tables"),
        "--workers",
        "1",
    ]
    job = local_job.start(tmp_path, printed, *where, "--metrics-listener", "http://127.0.0.1:0")
    try:
        line = "metrics are at "
        await_result(lambda: line in printed.read_text(), "the listener", 60)
        url = printed.read_text().partition(line)[2].split()[0]

        def offset() -> float:
            with urllib.request.urlopen(url, timeout=10) as response:
                return value(parse(response.read().decode()), "offset")

        await_result(lambda: offset() == 60, "the end of the log", 60)
        job.send_signal(signal.SIGTERM)
        assert job.wait(30) == 0, printed.read_text()
    finally:
        job.kill()
        job.wait(10)


@pytest.mark.slow
def test_many_small_batches_cost_as_much_as_without(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Measured and printed: 200 batches of 20 records, without and with metrics that are asked for."""
    quorum.append(*mixed_batches(0, 4000, size=20))
    took_ms = {}
    for name in ("without", "with"):
        metrics = ExportMetrics(CLUSTER_ID, "local")
        with (
            exporting(tmp_path / name, controller.endpoint) as exporter,
            serving(("127.0.0.1", 0), metrics.text),
        ):
            if name == "with":
                exporter._note = metrics.committed
            began_s = resource.getrusage(resource.RUSAGE_SELF)
            for end in range(20, 4001, 20):
                exporter.export_to(end, 1)
                if name == "with":
                    assert metrics.text()
            used = resource.getrusage(resource.RUSAGE_SELF)
            took_ms[name] = (used.ru_utime + used.ru_stime - began_s.ru_utime - began_s.ru_stime) * 1000 / 200
    with capsys.disabled():
        print("\nCPU per batch:", ", ".join(f"{took:.1f} ms {name}" for name, took in took_ms.items()))
    assert Output(tmp_path / "with").position().offset == 4000
