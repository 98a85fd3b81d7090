"""@generated from schemas/metadata/UserScramCredentialRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_bytes,
    write_compact_string,
    write_int8,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class UserScramCredentialRecord(Message):
    NAME: ClassVar[str] = "UserScramCredentialRecord"
    API_KEY: ClassVar[int] = 11
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("mechanism", "Mechanism", "int8"),
        Field("salt", "Salt", "bytes", default=b''),
        Field("stored_key", "StoredKey", "bytes", default=b''),
        Field("server_key", "ServerKey", "bytes", default=b''),
        Field("iterations", "Iterations", "int32"),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b'',
        stored_key: bytes = b'',
        server_key: bytes = b'',
        iterations: int = 0,
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
        self.salt: bytes = salt
        self.stored_key: bytes = stored_key
        self.server_key: bytes = server_key
        self.iterations: int = iterations
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("UserScramCredentialRecord", version)
        write_compact_string(writer, self.name)
        write_int8(writer, self.mechanism)
        write_compact_bytes(writer, self.salt)
        write_compact_bytes(writer, self.stored_key)
        write_compact_bytes(writer, self.server_key)
        write_i32_be(writer, self.iterations)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UserScramCredentialRecord:
        if version != 0:
            raise cannot_read("UserScramCredentialRecord", version)
        name: str = reader.read_compact_string()
        mechanism: int = reader.read_int8()
        salt: bytes = reader.read_compact_bytes()
        stored_key: bytes = reader.read_compact_bytes()
        server_key: bytes = reader.read_compact_bytes()
        iterations: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = UserScramCredentialRecord(name, mechanism, salt, stored_key, server_key, iterations)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UserScramCredentialRecord:
        reader = Reader(data)
        message = UserScramCredentialRecord.read(reader, version)
        reader.expect_end()
        return message
