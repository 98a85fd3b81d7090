"""Signals to a real `kraftctl start`: only SIGTERM and SIGINT stop it, and both cleanly."""

from __future__ import annotations

import itertools
import re
import signal
import threading
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.settings import random_id
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from tests.support.processes.started_controller import SECONDS_MAX, StartedController
from tests.support.wire.controller_client import ControllerClient


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
def test_it_is_logged_and_nothing_else(controller: StartedController, number: signal.Signals) -> None:
    for _ in range(3):
        controller.signal(number)
        assert "Traceback" not in controller.await_text(f"Ignoring {number.name}")
    assert controller.stop() == 0


def test_sighup_without_ssl_is_logged_and_nothing_else(controller: StartedController) -> None:
    for _ in range(3):
        controller.signal(signal.SIGHUP)
        assert "Traceback" not in controller.await_text("No listener uses SSL")
    assert controller.stop() == 0


def test_sigquit_writes_all_stacks_and_it_serves_on(controller: StartedController) -> None:
    for _ in range(2):
        controller.signal(signal.SIGQUIT)
        dump = controller.await_text("End of the stacks")
        assert "Stack (most recent call first)" in dump, "that of the loop, from C"
        assert re.search(r"Thread \S+ \(most recent call last\)", dump), "the threads of storage"
        assert re.search(r"\d+ asyncio tasks", dump)
        assert "run_controller" in dump or "Stack for <Task" in dump
        assert re.search(r"Longest turn since the dump before: \d+\.\d ms, \w+", dump)
        assert re.search(
            r"Cyclic collector since the start: \d+ runs, 99\.9 % below \d+ us, the longest", dump
        )
    assert controller.stop() == 0


@pytest.mark.slow
def test_stacks_are_written_while_other_threads_run(tmp_path: Path) -> None:
    """Reading the stacks of threads that run ended the process with SIGSEGV."""
    node = KraftctlController(3000, tmp_path, random_id())
    node.format()
    node.start()
    node.await_log("Becoming the active controller")
    ended = threading.Event()
    clients = [threading.Thread(target=change_quotas, args=(node.port, ended)) for _ in range(6)]
    for client in clients:
        client.start()
    try:
        assert node.process is not None
        for _ in range(500):
            node.process.signal(signal.SIGQUIT)
            ended.wait(0.01)
        assert node.running
    finally:
        ended.set()
        for client in clients:
            client.join()
        status = node.stop()
    assert status == 0
    assert "End of the stacks" in node.log_file.read_text()


def change_quotas(port: int, ended: threading.Event) -> None:
    """Keeps the threads of storage busy, one change after the other."""
    entity = EntityData(entity_type="client-id", entity_name="a")
    with ControllerClient(port) as client:
        for value in itertools.count(1):
            if ended.is_set():
                return
            entry = EntryData(entity=[entity], ops=[OpData(key="producer_byte_rate", value=float(value))])
            try:
                client.call(AlterClientQuotasRequest(entries=[entry]), 1, AlterClientQuotasResponse)
            except OSError:
                return


def test_sigpipe_is_nothing(controller: StartedController) -> None:
    controller.signal(signal.SIGPIPE)
    controller.signal(signal.SIGHUP)
    assert "SIGPIPE" not in controller.await_text("SIGHUP: reading keystores")
    assert controller.stop() == 0


def test_all_together_and_then_a_clean_stop(controller: StartedController) -> None:
    for number in (signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2):
        controller.signal(number)
    controller.await_text("End of the stacks")
    controller.signal(signal.SIGINT)
    assert "Stopping on SIGINT" in controller.await_text("Stopped")
    assert controller.process.wait(SECONDS_MAX) == 0


def test_a_reader_of_the_log_that_goes_away_does_not_stop_it(controller: StartedController) -> None:
    """`kraftctl start FILE | head`: the pipe of the log is closed, then something is logged."""
    assert controller.process.stdout is not None
    controller.process.stdout.close()
    controller.signal(signal.SIGHUP)
    with ControllerClient(controller.port) as client:
        request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        assert client.call(request, 3, ApiVersionsResponse).api_keys
    controller.signal(signal.SIGTERM)
    controller.process.wait(SECONDS_MAX)
