"""From URLs, options and variables to a store, and what is said when it cannot be used."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.object_store import ObjectStore
from kraftctl_spark.stores.open_store import StoreLocation, is_object_store, open_store, parse_options
from kraftctl_spark.stores.store_error import ObjectStoreError, StoreRefusedError, store_error
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import BUCKET, SECRET_KEY, StoreServer, versitygw

CLOSED = "http://127.0.0.1:1"


@pytest.mark.parametrize("form", ["{}", "file://{}", "file:{}"])
def test_a_directory_is_a_store(form: str, tmp_path: Path) -> None:
    store = open_store(form.format(tmp_path))
    assert isinstance(store, LocalStore)
    assert store.root == tmp_path


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/a/b", "s3://bucket/a/b"),
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        ("s3a://bucket", "s3://bucket"),
        ("gs://bucket/a", "gs://bucket/a"),
        ("az://container/a", "az://container/a"),
        ("abfss://container/a", "az://container/a"),
    ],
)
def test_urls_of_object_stores(url: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    store = StoreLocation(url).open_objects()
    assert isinstance(store, ObjectStore)
    assert (store.url, is_object_store(url)) == (shown, True)


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        ("hdfs://host/a", {}, "hdfs: is not supported"),
        ("s3:///a", {}, "names no bucket"),
        ("s3://bucket/a//b", {}, "has an empty part"),
        ("s3://bucket/../b", {}, "has an empty part, '.' or '..'"),
        ("s3://key:secret@bucket/a", {}, r"^s3://bucket/a: name bucket or container, without account"),
        ("s3://bucket", {"colour": "red"}, r"'colour' is not valid.*\(options: colour\)"),
        ("s3://bucket", {"root_certificate": "/none"}, "root_certificate=/none: No such file"),
        ("/data", {"region": "x"}, "is for object stores, and /data is a directory"),
    ],
)
def test_what_is_no_store_is_refused(url: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(StoreRefusedError, match=said) as found:
        open_store(url, options)
    assert "secret" not in str(found.value)


def test_workers_get_from_the_driver_which_store_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, CLOSED)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:2")
    found = dict(StoreLocation.here("s3://bucket", {"region": "eu-west-1"}).options)
    assert found == {"allow_http": "true", "endpoint": "http://127.0.0.1:2", "region": "eu-west-1"}


def test_options() -> None:
    assert parse_options(["Region=eu-west-1", "endpoint=http://a/?b=c"]) == {
        "region": "eu-west-1",
        "endpoint": "http://a/?b=c",
    }


@pytest.mark.parametrize("given", ["region", "=x", ""])
def test_options_without_key_or_value_are_refused(given: str) -> None:
    with pytest.raises(StoreRefusedError, match="is KEY=VALUE"):
        parse_options([given])


@pytest.mark.parametrize(
    "key",
    ["secret_access_key", "aws_session_token", "account_key", "sas_token", "access_key_id", "client_secret"],
)
def test_a_secret_is_no_option_and_is_not_repeated(key: str) -> None:
    with pytest.raises(StoreRefusedError, match=r"Set it in the environment") as found:
        parse_options([f"{key}=hidden-value"])
    assert "hidden-value" not in str(found.value)


def said_by(url: str, **options: str) -> str:
    store = open_store(url, options, retry_seconds=0.3)
    texts = []
    for request in (lambda: store.create("_commits/1.json", b"x"), lambda: store.names("_commits")):
        with pytest.raises(ObjectStoreError) as found:
            request()
        texts.append(str(found.value))
        shown = "".join(map(str, (found.value, found.value.args, found.value.__cause__)))
        assert SECRET_KEY not in shown
        assert found.value.__suppress_context__
    assert texts[0].partition(": ")[2] == texts[1].partition(": ")[2]
    return texts[1]


def test_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, CLOSED)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    text = said_by("s3://bucket", metadata_endpoint=f"http://127.0.0.1:{port}")
    assert text.startswith("cannot list _commits in s3://bucket: there are no credentials")
    assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (profiles are not read" in text


def test_an_endpoint_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, CLOSED)
    assert "in s3://bucket: its endpoint refuses connections" in said_by("s3://bucket")


def test_an_endpoint_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, "http://store.invalid")
    assert "the name of its endpoint is not known" in said_by("s3://bucket")


def test_an_endpoint_without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, CLOSED)
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    text = said_by("s3://bucket")
    assert "its endpoint is http" in text
    assert "--store-option allow_http=true" in text
    assert "refuses connections" in said_by("s3://bucket", allow_http="true")


def test_an_endpoint_with_tls_of_another_kind(
    one_server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client_of(monkeypatch, one_server.endpoint.replace("http:", "https:"))
    assert "its endpoint offers no TLS that this machine trusts" in said_by(f"s3://{BUCKET}")


def test_an_endpoint_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client_of(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert "it does not answer" in said_by("s3://bucket", timeout="200ms")


def test_a_bucket_that_does_not_exist(server: StoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, server.endpoint)
    text = said_by("s3://no-such-bucket/a")
    assert text.startswith(
        "cannot list _commits in s3://no-such-bucket/a: it does not exist (404 NoSuchBucket)"
    )


def test_a_missing_bucket_is_no_missing_object(one_server: StoreServer, monkeypatch) -> None:
    client_of(monkeypatch, one_server.endpoint)
    with pytest.raises(ObjectStoreError, match="it does not exist"):
        open_store("s3://no-such-bucket/a").read("_commits/1.json")


@pytest.fixture(scope="module")
def european(tmp_path_factory: pytest.TempPathFactory):
    with versitygw(tmp_path_factory.mktemp("european")) as running:
        yield running


def test_another_region(european: StoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, european.endpoint)
    assert "it is in another region" in said_by(f"s3://{BUCKET}", region="eu-central-1")


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_wrong_credentials(european: StoreServer, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client_of(monkeypatch, european.endpoint)
    monkeypatch.setenv(name, "wrong")
    text = said_by(f"s3://{BUCKET}")
    assert "it does not accept the credentials (40" in text
    assert "wrong" not in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "status code: 403 <Code>AccessDenied</Code>",
            "it denies access (403 AccessDenied). Next step: give",
        ),
        (
            "status code: 301 <Code>PermanentRedirect</Code>",
            "it is in another region (301 PermanentRedirect)",
        ),
        ("status code: 501 <Code>NotImplemented</Code>", "it lacks this request (501 NotImplemented)"),
        ("status code: 418", "the client could not complete it (418)"),
        ("?sig=s3cr3t", "the client could not complete it (ValueError)"),
    ],
)
@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
def test_answers_of_other_servers(text: str, said: str, scheme: str) -> None:
    found = str(store_error(ValueError(text), "list all", f"{scheme}://b"))
    assert found.startswith(f"cannot list all in {scheme}://b: {said}")
    assert "s3cr3t" not in found
    assert "{" not in found
