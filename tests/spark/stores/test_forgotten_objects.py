"""A name is forgotten in an object store: no object has it, and the commits are what they say."""

from __future__ import annotations

import shutil
from pathlib import Path

from kraftctl_spark.cli import main
from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.commit_log import commit_name, state_name
from kraftctl_spark.tables.output import Output
from tests.spark.forgotten_names import TOPIC, made_output, records
from tests.spark.page_bytes import places_of
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import StoreServer


def fetched(store: Store, directory: Path) -> Path:
    for name in store.names(""):
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        store.fetch_to(name, target)
    return directory


def put(output: Path, store: Store, copy: Path) -> None:
    """Puts the objects of a directory under their names, commits last."""
    shutil.copytree(output, copy)
    last = Output(output).commit_number
    commits = [commit_name(number) for number in range(last + 1)]
    names = [str(path.relative_to(output)) for path in output.rglob("*.parquet")]
    for name in [*names, *commits]:
        store.put_file(name, copy / name)
    assert not (output / state_name(last)).exists()


def test_no_object_has_the_name(
    store: Store, server: StoreServer, url: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    client_of(monkeypatch, server.endpoint)
    put(made_output(tmp_path / "tables", records(), history=False), store, tmp_path / "copy")
    assert places_of(TOPIC.encode(), fetched(store, tmp_path / "before"))
    assert main(["forget", "--output", url, "--topic", TOPIC, "--accept-present", "--execute"]) == 0
    assert "the name was found nowhere" in capsys.readouterr().out
    assert places_of(TOPIC.encode(), fetched(store, tmp_path / "after")) == []
    assert main(["verify", "--output", url]) == 0
    assert "forgotten-" in (tmp_path / "after" / commit_name(3)).read_text()


def test_an_attempt_that_is_not_committed_is_said(
    store: Store, server: StoreServer, url: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    client_of(monkeypatch, server.endpoint)
    output = made_output(tmp_path / "tables", records(), history=False)
    put(output, store, tmp_path / "copy")
    left = next(one for one in places_of(TOPIC.encode(), output) if one.startswith("clear_elr"))
    store.put_file("clear_elr_record/left.parquet", output / left)
    assert main(["forget", "--output", url, "--topic", TOPIC, "--accept-present", "--execute"]) == 1
    assert "left: clear_elr_record" in capsys.readouterr().out
