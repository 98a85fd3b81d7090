"""The text of a client is in the log, in `status` and in the output: it has no secret and no second line."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from requests.exceptions import ConnectionError as NotConnectedError

from kraftctl_spark.cli import main
from kraftctl_spark.publish.client_error import client_error, one_line
from kraftctl_spark.publish.live_tables import LiveTable
from kraftctl_spark.publish.publication import Published
from kraftctl_spark.publish.publication_state import PublicationState, note, publication_states
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables.kept_removed import PUBLICATIONS
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.typed_export import exporting

SECRETS = ("AKIDEXAMPLE", "hunter2", "AWS4-HMAC-SHA256", "s3cr3t")

BODY = (
    '<?xml version="1.0" encoding="UTF-8"?>{end}<Error><Code>SignatureDoesNotMatch</Code>'
    "<AWSAccessKeyId>AKIDEXAMPLE</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256{end}20261129</StringToSign></Error>"
)
ANSWER = "Generic S3 error: Error performing PUT https://s/b: Server returned status code: 403 Forbidden: "
NEWER = "Generic S3 error: Client error with status 403 Forbidden: "

ERRORS = [
    *(
        pytest.param(kind(start + BODY.format(end=end)), id=f"{kind.__name__}-{place}")
        for kind in (OSError, RuntimeError)
        for place, (start, end) in enumerate([(ANSWER, "\n"), (ANSWER, ""), (NEWER, "\n"), ("", "")])
    ),
    pytest.param(RuntimeError('refused: {"error": "no", "token": "hunter2"}'), id="json"),
    pytest.param(RuntimeError("cannot connect to postgresql://u:hunter2@db/lake"), id="url-of-a-database"),
    pytest.param(RuntimeError("401 for https://c/v1?X-Amz-Signature=hunter2&X=1 (again)"), id="query"),
    pytest.param(RuntimeError("Authorization: Bearer hunter2"), id="header"),
    pytest.param(RuntimeError("password=hunter2 is wrong"), id="password"),
    pytest.param(RuntimeError("'aws_secret_access_key': 'hunter2'"), id="key"),
    pytest.param(RuntimeError("no\nclient_secret=s3cr3t\x1b[31m"), id="second-line"),
]


@pytest.mark.parametrize("location", ["s3://lake/prod/topics", "/data/topics", ""])
@pytest.mark.parametrize("error", ERRORS)
def test_no_text_of_a_client_has_a_secret(error: Exception, location: str) -> None:
    found = client_error(error, location)
    assert found.startswith(type(error).__name__)
    assert found.isprintable()
    assert not [one for one in (*SECRETS, "StringToSign", "AccessKey", "<") if one in found], found


def test_the_reason_stays() -> None:
    answer = OSError(NEWER + BODY.format(end="\n"))
    assert "it does not accept the credentials (403 SignatureDoesNotMatch)" in client_error(
        answer, "s3://b/p"
    )
    lost = "HTTPConnectionPool(host='c', port=1): Max retries exceeded with url: /v1/config (Caused by"
    refused = f"{lost} NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f>: Failed with a"
    found = client_error(
        NotConnectedError(f"{refused} new connection: [Errno 111] Connection refused'))"), ""
    )
    assert found.startswith("ConnectionError: HTTPConnectionPool(host='c', port=1)")
    assert "Connection refused" in found
    assert client_error(RuntimeError("the catalog is gone"), "") == "RuntimeError: the catalog is gone"
    assert client_error(RuntimeError(), "") == "RuntimeError"
    assert one_line("(sqlite3.OperationalError) no such table: t\n[SQL: SELECT]") == (
        "(sqlite3.OperationalError) no such table: t"
    )


class Refusing:
    """A format whose client says everything."""

    name = "Delta"
    is_beside_files = True

    def open(self, table: LiveTable) -> Published | None:
        raise OSError(ANSWER + BODY.format(end="\n"))

    def remove(self, output: Output, table: LiveTable) -> None:
        raise AssertionError

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        yield from ()


def test_the_log_the_status_and_the_note_have_no_secret(
    controller: FakeController,
    quorum: FakeQuorum,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    quorum.append(*generate(5, 200, snapshots=()).batches)
    with exporting(tmp_path / "tables", controller.endpoint) as exporter:
        exporter.export_to(60, 1)
    output = Output(tmp_path / "tables")
    Publisher(output, Refusing()).after_batch()
    failure = publication_states(output.log.store)["Delta"].failure
    assert failure.startswith("records is not published as Delta: OSError: ")
    assert main(["status", "--output", str(tmp_path / "tables")]) == 0
    notes = "".join(path.read_text() for path in (tmp_path / "tables").glob("_publications*"))
    for place in (failure, caplog.text, capsys.readouterr().out, notes):
        assert "records is not published as Delta" in place
        assert not [one for one in (*SECRETS, "StringToSign") if one in place]


@pytest.mark.parametrize(
    "given",
    [
        "token=hunter2",
        "credential=u:hunter2",
        "s3.secret-access-key=hunter2",
        "adls.connection-string=AccountKey=hunter2",
        "header.Authorization=Bearer hunter2",
        "uri=postgresql://u:hunter2@db/lake",
        "uri=postgresql://db/lake?user=u&password=hunter2",
        "hunter2",
    ],
)
def test_a_secret_is_no_argument(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--as", "iceberg", "--catalog", "lake", "--catalog-property", given]
    with pytest.raises(SystemExit) as ended:
        main(["publish", "/nowhere", *flags])
    assert ended.value.code == 2
    refusal = capsys.readouterr().err
    assert "hunter2" not in refusal
    variable = given.partition("=")[0].upper().replace("-", "_").replace(".", "__")
    assert given == "hunter2" or f"PYICEBERG_CATALOG__NAME__{variable} " in refusal


def test_a_named_variable_is_that_of_pyiceberg(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg.utils.config import Config

    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__S3__SECRET_ACCESS_KEY", "hunter2")
    assert Config().get_catalog_config("lake") == {"s3.secret-access-key": "hunter2"}


class SlowerStore(LocalStore):
    """Another publisher writes its note before each of this one's is written, and after anything is read."""

    def read(self, name: str) -> bytes:
        try:
            return super().read(name)
        finally:
            self._other()

    def put(self, name: str, data: bytes) -> None:
        if name != PUBLICATIONS:
            self._other()
        super().put(name, data)

    def _other(self) -> None:
        note(LocalStore(self.root), "Iceberg", PublicationState(7))


def test_of_two_publishers_each_has_its_note(tmp_path: Path) -> None:
    note(SlowerStore(tmp_path), "Delta", PublicationState(5))
    found = publication_states(LocalStore(tmp_path))
    assert {name: one.offset for name, one in found.items()} == {"Delta": 5, "Iceberg": 7}


def test_a_note_of_an_earlier_release_is_read(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("_publications.json", json.dumps({"Delta": {"offset": 5}, "Iceberg": {"offset": 6}}).encode())
    note(store, "Delta", PublicationState(9))
    assert {name: one.offset for name, one in publication_states(store).items()} == {"Delta": 9, "Iceberg": 6}
