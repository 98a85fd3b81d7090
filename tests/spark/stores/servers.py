"""Object stores as processes on a loopback port, each with one bucket: moto, versitygw, Adobe's S3Mock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import boto3

from kraftctl.dev.kafka_distribution import cache_directory
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.processes import ManagedProcess

BUCKET = "metadata"
ACCESS_KEY = "AKIATESTACCESSKEY"
SECRET_KEY = "a-secret-of-the-tests-alone"
REGION = "us-east-1"
START_SECONDS_MAX = 150.0

VERSITYGW = "v1.8.0"
S3MOCK = "4.11.0"

MOTO = """
import threading
import moto.server
run, alone = moto.server.run_simple, threading.Lock()
def run_simple(host, port, application, **named):
    def one_at_a_time(environment, start):
        with alone:
            return list(application(environment, start))
    run(host, port, one_at_a_time, **named)
moto.server.run_simple = run_simple
moto.server.main()
"""
"""Its threads look whether an object exists and write afterwards: on a busy machine, two writers win. One
request at a time is atomic."""

GO = shutil.which("go") or next((str(each) for each in [Path("/usr/local/go/bin/go")] if each.exists()), None)


class StoreServer:
    """One server, with what its clients need to know."""

    def __init__(
        self,
        name: str,
        command: list[str],
        port: int,
        log_file: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.port = port
        self.process = ManagedProcess(name, command, log_file, environment)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def started(self) -> StoreServer:
        """Waits for it, and makes the bucket."""
        await_result(lambda: accepts_connections(self.port, "127.0.0.1"), "listens", START_SECONDS_MAX, 0.05)
        self.client().create_bucket(Bucket=BUCKET)
        return self

    def client(self):
        """Another client than ours, to look with."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name=REGION,
        )

    def objects(self, prefix: str = "") -> dict[str, int]:
        """The size of each object, by its name."""
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return {one["Key"]: one["Size"] for page in pages for one in page.get("Contents", ())}

    def unfinished_uploads(self) -> list[str]:
        """The names of the objects whose upload has begun and not ended."""
        found = self.client().list_multipart_uploads(Bucket=BUCKET)
        return [one["Key"] for one in found.get("Uploads", ())]


def variables(endpoint: str) -> dict[str, str]:
    """The environment of a client. No test may ask this machine for a role, which takes seconds."""
    return {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_METADATA_ENDPOINT": "http://127.0.0.1:1",
    }


@contextmanager
def moto(directory: Path) -> Iterator[StoreServer]:
    port = free_port()
    program = [sys.executable, "-c", MOTO, "-H", "127.0.0.1", "-p", str(port)]
    with _ended(StoreServer("moto", program, port, directory / "moto.log")) as server:
        yield server


@contextmanager
def versitygw(directory: Path, region: str = REGION) -> Iterator[StoreServer]:
    port = free_port()
    objects = directory / "objects"
    objects.mkdir()
    program = [
        *(str(versitygw_program()), "--port", f"127.0.0.1:{port}", "--region", region, "--quiet"),
        *("posix", "--sidecar", str(directory / "attributes"), str(objects)),
    ]
    (directory / "attributes").mkdir()
    root = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    with _ended(StoreServer("versitygw", program, port, directory / "versitygw.log", root)) as server:
        yield server


@contextmanager
def s3mock(directory: Path) -> Iterator[StoreServer]:
    """It checks conditions and writes afterwards: of several racing writers, more than one wins."""
    port = free_port()
    program = [
        "java",
        "-Xmx512m",
        "-jar",
        str(s3mock_jar()),
        f"--com.adobe.testing.s3mock.http-port={port}",
        f"--server.port={free_port()}",
    ]
    with _ended(StoreServer("s3mock", program, port, directory / "s3mock.log")) as server:
        yield server


@contextmanager
def _ended(server: StoreServer) -> Iterator[StoreServer]:
    try:
        yield server.started()
    finally:
        server.process.kill()


def versitygw_program() -> Path:
    """Builds it once, outside of the tree, from the module proxy."""
    directory = cache_directory() / f"versitygw-{VERSITYGW}"
    program = directory / "versitygw"
    if not program.exists():
        assert GO is not None, "Go is needed to build versitygw"
        module = f"github.com/versity/versitygw/cmd/versitygw@{VERSITYGW}"
        made = directory / f"made-by-{os.getpid()}"
        subprocess.run([GO, "install", module], env={**os.environ, "GOBIN": str(made)}, check=True)
        (made / "versitygw").replace(program)
        made.rmdir()
    return program


def s3mock_jar() -> Path:
    """Fetched once by Maven, with its dependencies inside."""
    directory = cache_directory() / f"s3mock-{S3MOCK}"
    jar = directory / f"s3mock-{S3MOCK}-exec.jar"
    if not jar.exists():
        artifact = f"com.adobe.testing:s3mock:{S3MOCK}:jar:exec"
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
        subprocess.run(
            ["mvn", "-q", "-B", goal, f"-Dartifact={artifact}", f"-DoutputDirectory={directory}"], check=True
        )
    return jar


def codes(answer: bytes) -> list[str]:
    """The codes of errors in an answer."""
    return [found.text or "" for found in ElementTree.fromstring(answer).iter("Code")]
