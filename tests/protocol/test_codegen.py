"""The schema compiler: its parts, and that the committed modules are current."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kraftctl_codegen.__main__ import REPOSITORY, load_schemas, main, render_all, stale_files, write_files
from kraftctl_codegen.messages import naming, versions
from kraftctl_codegen.messages.merge_schemas import merge_message
from kraftctl_codegen.messages.render import render_message
from kraftctl_codegen.messages.spec import PRIMITIVES, SchemaError, parse_message
from kraftctl_codegen.messages.versions import Versions
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated import index


@pytest.mark.parametrize("module", [naming, versions], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_generated_code_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_check_notices_every_kind_of_staleness(tmp_path: Path) -> None:
    files = render_all()
    write_files(files, tmp_path)
    assert stale_files(files, tmp_path) == []
    generated = tmp_path / "protocol/kraftctl_protocol/generated"
    (generated / "vote_request.py").write_text("changed")
    (generated / "vote_response.py").unlink()
    (generated / "left_over.py").write_text("")
    assert len(stale_files(files, tmp_path)) == 3
    write_files(files, tmp_path)
    assert stale_files(files, tmp_path) == []


def test_every_schema_has_a_class_and_every_request_a_response() -> None:
    names = [message.name for _, message in load_schemas()]
    assert [cls.NAME for cls in index.all_messages()] == names
    assert sorted(path.stem for path in REPOSITORY.glob("schemas/*/*.json")) == sorted(names)
    for api_key in index.api_keys():
        request, response = index.request_class(api_key), index.response_class(api_key)
        assert request is not None
        assert response is not None
        assert request.API_KEY == response.API_KEY == api_key == ApiKey(api_key)
        assert request.NAME.replace("Request", "Response") == response.NAME
        assert index.version_range(api_key) == (request.LOWEST_VERSION, request.HIGHEST_VERSION)
        assert index.version_range(api_key) == (response.LOWEST_VERSION, response.HIGHEST_VERSION)


def test_index_of_what_is_unknown() -> None:
    assert index.request_class(9999) is None
    assert index.response_class(9999) is None
    assert index.record_class(9999) is None
    assert index.version_range(9999) is None


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        pytest.param(ApiKey.ALTER_PARTITION, (0, 3), id="versions-of-two-releases"),
        pytest.param(ApiKey.LEADER_AND_ISR, (0, 7), id="only-in-the-older-release"),
        pytest.param(ApiKey.FETCH, (0, 18), id="fetch"),
        pytest.param(ApiKey.BROKER_HEARTBEAT, (0, 2), id="broker-heartbeat"),
        pytest.param(ApiKey.ADD_RAFT_VOTER, (0, 1), id="add-raft-voter"),
    ],
)
def test_versions_we_promise(api: ApiKey, expected: tuple[int, int]) -> None:
    assert index.version_range(api) == expected


def test_record_types() -> None:
    cls = index.record_class(5)
    assert cls is not None
    assert cls.NAME == "PartitionChangeRecord"
    assert len(index.record_types()) == len(list((REPOSITORY / "schemas" / "metadata").glob("*.json")))


@pytest.mark.parametrize("text", ["", "1-", "-1", "3-1", "a", "1+2", "0-40000"])
def test_versions_that_are_none(text: str) -> None:
    with pytest.raises(ValueError):
        Versions.parse(text)


def test_version_algebra() -> None:
    assert str(Versions.parse("0-3") & Versions.parse("2+")) == "2-3"
    assert not Versions.parse("0-1") & Versions.parse("2+")
    assert str(Versions.parse("0-1").hull(Versions.parse("2+"))) == "0+"
    assert str(Versions.parse("7")) == "7"
    assert str(Versions.parse("none")) == "none"
    with pytest.raises(ValueError):
        Versions.parse("0-1").hull(Versions.parse("3+"))
    assert Versions.parse("0+").covers(Versions.parse("1-2"))
    assert Versions.parse("1-2").covers(Versions.parse("none"))
    assert not Versions.parse("1-2").covers(Versions.parse("0-1"))


def schema(*fields: dict[str, Any], **changes: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "name": "Sample",
        "type": "data",
        "validVersions": "0-2",
        "flexibleVersions": "1+",
        "fields": list(fields),
    }
    return whole | changes


def field(name: str = "A", type: str = "int32", versions: str = "0+", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, "versions": versions, **more}


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(schema(colour="red"), id="unknown-key-of-a-message"),
        pytest.param(schema(field(colour="red")), id="unknown-key-of-a-field"),
        pytest.param(schema(type="letter"), id="unknown-type-of-message"),
        pytest.param(schema(field(type="int128")), id="unknown-type-of-field"),
        pytest.param(schema(field(), field()), id="name-twice"),
        pytest.param(schema(field(tag=1)), id="tag-without-versions"),
        pytest.param(schema(field(taggedVersions="1+")), id="tagged-without-tag"),
        pytest.param(
            schema(field(tag=1, taggedVersions="1+"), field("B", tag=1, taggedVersions="1+")), id="tag-twice"
        ),
        pytest.param(schema(field(nullableVersions="0+")), id="nullable-int"),
        pytest.param(schema(field(type="string", default="null")), id="null-default-but-not-nullable"),
        pytest.param(schema(field(default="2147483648")), id="default-out-of-range"),
        pytest.param(schema(field(type="int8", default="0x100")), id="hexadecimal-default-out-of-range"),
        pytest.param(schema(field(type="bool", default="maybe")), id="bool-default"),
        pytest.param(schema(field(type="[]int32", default="1")), id="array-default"),
        pytest.param(schema(field(type="int32", fields=[])), id="int-with-fields"),
        pytest.param(
            schema(field(type="S", fields=[field()]), field("B", type="[]S", fields=[field()])),
            id="struct-twice",
        ),
        pytest.param(
            schema(field(type="S", nullableVersions="0+", fields=[field()])), id="null-struct-by-value"
        ),
        pytest.param(schema(field(ignorable="yes")), id="ignorable-is-a-bool"),
    ],
)
def test_schemas_that_are_refused(raw: dict[str, Any]) -> None:
    with pytest.raises((SchemaError, ValueError)):
        parse_message(raw)


@pytest.fixture
def sample_package() -> Iterator[None]:
    """What generated code builds on, from source: `sample_protocol`. Compiled classes cannot be extended."""
    names = {"sample_protocol": ModuleType("sample_protocol")}
    sys.modules |= names
    for name in (
        "java_base64",
        "uuids",
        "codec_errors",
        "decoding_limits",
        "primitives",
        "tagged_fields",
        "message",
    ):
        source = (REPOSITORY / f"protocol/kraftctl_protocol/{name}.py").read_text(encoding="utf-8")
        module = names[f"sample_protocol.{name}"] = ModuleType(f"sample_protocol.{name}")
        sys.modules[module.__name__] = module
        exec(source.replace("kraftctl_protocol", "sample_protocol"), module.__dict__)
    yield
    for name in names:
        del sys.modules[name]


def errors() -> Any:
    return sys.modules["sample_protocol.primitives"]


def compile_sample(*fields: dict[str, Any], **changes: Any) -> Any:
    """The class generated for a schema that Kafka does not have."""
    namespace: dict[str, Any] = {"__name__": "sample_protocol.sample"}
    text = render_message(parse_message(schema(*fields, **changes)), "message")
    exec(text.replace("kraftctl_protocol", "sample_protocol"), namespace)
    return namespace["Sample"]


@pytest.mark.usefixtures("sample_package")
def test_every_type_of_the_language() -> None:
    scalars = sorted(PRIMITIVES)
    struct = [field("X"), field("Version", "int16")]
    cls = compile_sample(
        *[field(f"Plain{one}", one) for one in scalars],
        *[field(f"Array{one}", f"[]{one}") for one in scalars if one != "records"],
        field("Inner", "Struct", nullableVersions="1+", default="null", fields=struct),
        field("Inners", "[]Struct"),
        field("Tagged", "Struct2", "2+", tag=0, taggedVersions="2+", fields=struct),
    )
    inner = next(one.struct for one in cls.FIELDS if one.name == "inner")
    assert inner is not None
    filled = {"plainrecords": b"", "inner": inner()}
    for version in (0, 1, 2):
        assert cls.decode(cls(**filled).encode(version), version) == cls(**filled)
    with pytest.raises(errors().EncodeError):
        cls(inner=inner()).encode(2)
    with pytest.raises(errors().EncodeError):
        cls(plainrecords=b"").encode(0)
    assert cls.decode(cls(plainrecords=b"").encode(1), 1) == cls(plainrecords=b"")


@pytest.mark.usefixtures("sample_package")
def test_hexadecimal_default_and_common_structs() -> None:
    pair = {"name": "Pair", "versions": "0+", "fields": [field("Key"), field("Value")]}
    cls = compile_sample(
        field("Mask", "int32", default="0x7fffffff"),
        field("One", "Pair"),
        field("Many", "[]Pair", nullableVersions="1+", default="null", versions="1+"),
        commonStructs=[pair],
    )
    assert cls().encode(0).hex() == "7fffffff" + "00" * 8
    assert cls().encode(1).hex() == "7fffffff" + "00" * 8 + "00" + "00" + "00"


@pytest.mark.usefixtures("sample_package")
def test_field_between_two_versions() -> None:
    cls = compile_sample(field("A", "string", "1", default="none"), flexibleVersions="none")
    assert cls(a="x").encode(1) == b"\x00\x01x"
    assert cls().encode(0) == cls().encode(2) == b""
    for version in (0, 2):
        with pytest.raises(errors().EncodeError):
            cls(a="x").encode(version)
    with pytest.raises(errors().DecodeError):
        cls.decode(b"\xff\xff", 1)


@pytest.mark.usefixtures("sample_package")
def test_a_struct_must_exist_where_it_is_used() -> None:
    pair = {"name": "Pair", "versions": "1+", "fields": [field("Key")]}
    with pytest.raises(SchemaError):
        compile_sample(field("One", "Pair"), commonStructs=[pair])


def test_union_of_two_releases() -> None:
    old = schema(
        field("Name", "string", "0-1"),
        field("Gone", versions="0-1", ignorable=True),
        field("Old", versions="0-2"),
    )
    new = schema(
        field("Id", "uuid", "2+"), field("Name", "string", "2+", nullableVersions="3+"), validVersions="2-4"
    )
    merged = merge_message(old, new)
    assert merged is not None
    assert merged["validVersions"] == "0-4"
    found = [(one["name"], one["versions"], one.get("nullableVersions")) for one in merged["fields"]]
    assert found == [("Id", "2+", None), ("Name", "0+", "3+"), ("Gone", "0-1", None), ("Old", "0-1", None)]


def test_union_with_a_release_that_dropped_or_did_not_have_the_message() -> None:
    there, dropped = schema(), schema(validVersions="none")
    assert merge_message(there, None) == merge_message(None, there) == merge_message(there, dropped) == there
    assert merge_message(None, dropped) is None
    with pytest.raises(ValueError):
        merge_message(schema(validVersions="0-5"), schema(validVersions="1-4"))
