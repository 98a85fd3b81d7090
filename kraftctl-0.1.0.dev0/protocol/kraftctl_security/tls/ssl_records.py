"""The SSL of one connection, record by record: OpenSSL would process all that it is given in one call.

A record need not bring data: changes of keys, warnings and empty records cost as much as a request, and a
few bytes each. So OpenSSL gets one whole record at a time, and each is counted. Listeners and clients do the
same: a client does not know that the node is what it should be before the handshake ends.
"""

from __future__ import annotations

import ssl
from typing import Final

RECORD_BYTES_MAX: Final = 16 * 1024
"""The data of a record."""

RECORD_LENGTH_MAX: Final = RECORD_BYTES_MAX + 2_048
"""The same encrypted, with TLS 1.2. Of a longer one, OpenSSL refuses the header."""

HEADER_BYTES: Final = 5

VERSION_MAJOR: Final = 3
"""The second byte of each record of TLS. Of others, OpenSSL refuses the header."""

HANDSHAKE_BYTES_MAX: Final = 32 * 1024
"""The limit of a client whose handshake is not finished. Half of it are its certificates."""

SERVER_HANDSHAKE_BYTES_MAX: Final = 128 * 1024
"""The limit of a server. Java's sends the names of all authorities that it trusts: 16 KiB of its default."""

HANDSHAKE_RECORD_BYTES: Final = 256
"""The longest handshake has at most one record for each. Pieces of 512 bytes (RFC 6066) need half of them."""

RECORDS_PER_TURN: Final = 128
"""The number of records that are read before others have a turn: half a millisecond."""

WITHOUT_DATA_MAX: Final = 32
"""The number of records without data, for each WITHOUT_DATA_BYTES of data."""

WITHOUT_DATA_BYTES: Final = 64 * 1024
"""Java changes its keys once in 128 GB (jdk.tls.keyLimits), OpenSSL never."""


class ExcessiveRecordsError(Exception):
    """More of something than a peer may send, as the text says."""


class SslRecords:
    """What was received and is not decrypted is kept here, besides an unfinished record.

    With the `host` that a client connects to, it is the client's side.
    """

    def __init__(self, context: ssl.SSLContext, host: str | None = None) -> None:
        is_server = host is None
        self._handshake_bytes_max = HANDSHAKE_BYTES_MAX if is_server else SERVER_HANDSHAKE_BYTES_MAX
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self.ssl = context.wrap_bio(
            self._incoming, self._outgoing, server_side=is_server, server_hostname=host
        )
        self.has_ended = False
        """Whether the peer has said that no more will come."""
        self._received = b""
        self._position = 0
        self._handshake_bytes = 0
        self._handshake_records = 0
        self._without_data = 0
        self._data_bytes = 0

    def receive(self, data: bytes) -> None:
        """Keeps what is from the socket, until it is processed by `handshake` or `blocks`."""
        self._received = self._received + data if self._received else data

    @property
    def is_untouched(self) -> bool:
        """Returns whether nothing was received yet."""
        return not self._received and self._handshake_records == 0

    @property
    def has_record(self) -> bool:
        """Returns whether one can be processed without receiving more."""
        return self._end() > 0

    def begin(self) -> bytes:
        """Returns the first bytes of the handshake, a client's."""
        try:
            self.ssl.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self.encrypted()

    def handshake(self) -> bool:
        """Continues the handshake with all that was received. Returns whether it is finished.

        Raises ssl.SSLError or ExcessiveRecordsError.
        """
        try:
            while (count := self._feed()) > 0:
                self._handshake_bytes += count
                self._handshake_records += 1
                if self._handshake_bytes > self._handshake_bytes_max:
                    raise ExcessiveRecordsError(f"{self._handshake_bytes_max} bytes")
                records_max = self._handshake_bytes_max // HANDSHAKE_RECORD_BYTES
                if self._handshake_records > records_max:
                    raise ExcessiveRecordsError(f"{records_max} records")
                try:
                    self.ssl.do_handshake()
                except ssl.SSLWantReadError:
                    continue
                return True
            return False
        finally:
            self._drop_processed()

    def only(self, data: bytes) -> bytes | None:
        """Returns the content of `data` if that is one whole record, as most of what is received.

        None if it is not: it has to be received. Raises ssl.SSLError or ExcessiveRecordsError.
        """
        if self._received or len(data) < HEADER_BYTES or len(data) - HEADER_BYTES != data[3] << 8 | data[4]:
            return None
        self._incoming.write(data)
        try:
            block = self.ssl.read(RECORD_BYTES_MAX)
        except ssl.SSLWantReadError:
            self._count_without_data()
            return b""
        self._data_bytes += len(block)
        self.has_ended = not block
        return block

    def blocks(self) -> list[bytes]:
        """Returns the data of the next records, RECORDS_PER_TURN at most.

        Raises ssl.SSLError or ExcessiveRecordsError.
        """
        found: list[bytes] = []
        for _ in range(RECORDS_PER_TURN):
            if self._feed() == 0:
                break
            try:
                block = self.ssl.read(RECORD_BYTES_MAX)
            except ssl.SSLWantReadError:
                self._count_without_data()
                continue
            if not block:
                self.has_ended = True
                break
            found.append(block)
            self._data_bytes += len(block)
        self._drop_processed()
        return found

    def encrypted(self) -> bytes:
        """Returns what is to be sent: answers of the handshake, and what was written."""
        return self._outgoing.read()

    def _count_without_data(self) -> None:
        if self._data_bytes >= WITHOUT_DATA_BYTES:
            self._data_bytes = self._without_data = 0
        self._without_data += 1
        if self._without_data > WITHOUT_DATA_MAX:
            raise ExcessiveRecordsError(f"{WITHOUT_DATA_MAX} records without data")

    def _feed(self) -> int:
        """Gives OpenSSL the next whole record. Returns its bytes; 0 without one."""
        start, end = self._position, self._end()
        if end > 0:
            received = self._received
            whole = end - start == len(received)
            self._incoming.write(received if whole else received[start:end])
            self._position = end
            return end - start
        return 0

    def _end(self) -> int:
        """Returns where the next record ends; 0 as long as it is not complete."""
        received, start = self._received, self._position
        available = len(received)
        if start + HEADER_BYTES > available:
            return 0
        if received[start + 1] != VERSION_MAJOR:
            return available
        length = received[start + 3] << 8 | received[start + 4]
        end = start + HEADER_BYTES + length
        if end <= available:
            return end
        return available if length > RECORD_LENGTH_MAX else 0

    def _drop_processed(self) -> None:
        if self._position > 0:
            self._received = self._received[self._position :]
            self._position = 0
