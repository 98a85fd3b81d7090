"""@generated from schemas/message/AlterUserScramCredentialsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_bytes,
    write_compact_string,
    write_int8,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class ScramCredentialDeletion(Message):
    NAME: ClassVar[str] = "ScramCredentialDeletion"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("mechanism", "Mechanism", "int8"),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_int8(writer, self.mechanism)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ScramCredentialDeletion:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        mechanism: int = reader.read_int8()
        unknown = reader.read_unknown_tagged_fields()
        message = ScramCredentialDeletion(name, mechanism)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class ScramCredentialUpsertion(Message):
    NAME: ClassVar[str] = "ScramCredentialUpsertion"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("mechanism", "Mechanism", "int8"),
        Field("iterations", "Iterations", "int32"),
        Field("salt", "Salt", "bytes", default=b''),
        Field("salted_password", "SaltedPassword", "bytes", default=b''),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b'',
        salted_password: bytes = b'',
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
        self.iterations: int = iterations
        self.salt: bytes = salt
        self.salted_password: bytes = salted_password
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_int8(writer, self.mechanism)
        write_i32_be(writer, self.iterations)
        write_compact_bytes(writer, self.salt)
        write_compact_bytes(writer, self.salted_password)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ScramCredentialUpsertion:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        mechanism: int = reader.read_int8()
        iterations: int = reader.read_int32()
        salt: bytes = reader.read_compact_bytes()
        salted_password: bytes = reader.read_compact_bytes()
        unknown = reader.read_unknown_tagged_fields()
        message = ScramCredentialUpsertion(name, mechanism, iterations, salt, salted_password)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterUserScramCredentialsRequest(Message):
    NAME: ClassVar[str] = "AlterUserScramCredentialsRequest"
    API_KEY: ClassVar[int] = 51
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("deletions", "Deletions", "[]ScramCredentialDeletion", default=(), struct=ScramCredentialDeletion),
        Field("upsertions", "Upsertions", "[]ScramCredentialUpsertion", default=(), struct=ScramCredentialUpsertion),
    )

    def __init__(
        self,
        deletions: list[ScramCredentialDeletion] = EMPTY,
        upsertions: list[ScramCredentialUpsertion] = EMPTY,
    ) -> None:
        self.deletions: list[ScramCredentialDeletion] = [] if deletions is EMPTY else deletions
        self.upsertions: list[ScramCredentialUpsertion] = [] if upsertions is EMPTY else upsertions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("AlterUserScramCredentialsRequest", version)
        write_uvarint(writer, len(self.deletions) + 1)
        for deletions_item in self.deletions:
            deletions_item.write(writer, version)
        write_uvarint(writer, len(self.upsertions) + 1)
        for upsertions_item in self.upsertions:
            upsertions_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterUserScramCredentialsRequest:
        if version != 0:
            raise cannot_read("AlterUserScramCredentialsRequest", version)
        deletions: list[ScramCredentialDeletion] = [ScramCredentialDeletion.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))]
        upsertions: list[ScramCredentialUpsertion] = [ScramCredentialUpsertion.read(reader, version) for _ in range(reader.read_compact_array_length(9, 90))]
        unknown = reader.read_unknown_tagged_fields()
        message = AlterUserScramCredentialsRequest(deletions, upsertions)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterUserScramCredentialsRequest:
        reader = Reader(data)
        message = AlterUserScramCredentialsRequest.read(reader, version)
        reader.expect_end()
        return message
