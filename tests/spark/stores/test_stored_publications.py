"""Tables in object stores are published there: what other readers find, and what is refused."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.commands import publish
from kraftctl_spark.commands.output_flag import store_of
from kraftctl_spark.commands.publish_flags import targets_of
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.publish import delta
from kraftctl_spark.publish import iceberg as iceberg_module
from kraftctl_spark.publish.publication import publish as publish_to
from kraftctl_spark.stores.durable import no_hook
from kraftctl_spark.stores.open_store import StoreLocation, parse_options
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import assert_in_catalog
from tests.spark.publish.test_published_readers import ENGINES, assert_read, install
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import StoreServer
from tests.spark.stores.stored_export import stored_output, storing
from tests.spark.stores.test_killed_lakes import catalog_of, read_catalog
from tests.spark.stores.test_stored_history import ENDS


def options_of(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    publish.add_arguments(parser)
    return parser.parse_args(arguments)


def published(url: str, kind: str, catalog: dict[str, str]) -> int:
    flags = [f"--catalog-property={key}={value}" for key, value in catalog.items()]
    return main(["publish", url, "--as", kind, *(["--catalog", "test", *flags] if kind == "iceberg" else [])])


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_each_batch_and_each_merge_is_published(
    controller: FakeController,
    quorum: FakeQuorum,
    server: StoreServer,
    url: str,
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    client_of(monkeypatch, server.endpoint)
    caplog.set_level(logging.INFO)
    quorum.append(*generate(5, 200, snapshots=()).batches)
    properties = catalog_of(url, tmp_path)
    with storing(url, controller.endpoint) as exporter, stored_output(url) as output:
        for end in ENDS:
            exporter.export_to(end, 1)
            HistoryTables.beside(output).catch_up()
            assert published(url, kind, properties) == 0
        assert caplog.text.count("are kept for a day from now on") == 1
        compact(output, 86_400_000)
        assert published(url, kind, properties) == 0
        catalog = read_catalog(properties) if kind == "iceberg" else None
        assert_in_catalog(catalog, output, 21)
        assert verify(output.log.store).problems == []
        flags = [f"--catalog-property={key}={value}" for key, value in properties.items()]
        options = options_of(url, "--as", kind, "--catalog", "test", *flags)
        (again,) = targets_of(options, output.hook, store_of(options))
        assert publish_to(output, again) == 0


@pytest.mark.parametrize(
    ("url", "flags", "refusal"),
    [
        pytest.param("az://a/b", ["--as", "iceberg", "--catalog", "c"], "Publish it as delta", id="azure"),
        pytest.param(
            "s3://a/b",
            ["--as", "delta", "--store-option", "skip_signature=true"],
            "--store-option skip_signature cannot be passed on to deltalake",
            id="delta",
        ),
        pytest.param(
            "s3://a/b",
            ["--as", "iceberg", "--catalog", "c", "--store-option", "timeout=5min"],
            "--store-option timeout cannot be passed on to pyiceberg",
            id="iceberg",
        ),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_asked(
    url: str, flags: list[str], refusal: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert main(["publish", url, *flags]) == 2
    assert refusal in caplog.text


def test_the_place_of_the_store_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """To both formats; what is given for a catalog wins."""
    place = ["--store-option", "endpoint=https://store:1", "--store-option", "region=here"]
    iceberg = ["--as", "iceberg", "--catalog", "c", "--catalog-property", "s3.region=there"]
    options = options_of("s3://a/b", "--as", "delta", *iceberg, *place)
    store = StoreLocation("s3://a/b", tuple(parse_options(options.store_option).items()))
    found: list[object] = []
    monkeypatch.setattr(delta, "DeltaTarget", lambda hook, properties: found.append(properties))
    monkeypatch.setattr(iceberg_module, "load", lambda name, properties: found.append(properties))
    _, target = targets_of(options, no_hook, store)
    target._load()
    assert found == [
        {"endpoint": "https://store:1", "region": "here"},
        {"s3.endpoint": "https://store:1", "s3.region": "there"},
    ]


@pytest.mark.long
@pytest.mark.timeout(900)
@ENGINES
def test_an_engine_reads_every_table_in_a_store(
    controller: FakeController,
    quorum: FakeQuorum,
    server: StoreServer,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    packages: list[str],
    script: str,
) -> None:
    client_of(monkeypatch, server.endpoint)
    install(packages, tmp_path / "installed")
    quorum.append(*generate(5, 200, snapshots=()).batches)
    properties = catalog_of(url, tmp_path)
    with storing(url, controller.endpoint) as exporter, stored_output(url) as output:
        for end in ENDS[1:]:
            exporter.export_to(end, 1)
            HistoryTables.beside(output).catch_up()
            for kind in ("delta", "iceberg"):
                assert published(url, kind, properties) == 0
        assert_read(script, tmp_path / "installed", read_catalog(properties), output)
