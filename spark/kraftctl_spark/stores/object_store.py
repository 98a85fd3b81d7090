"""Tables in an object store, through obstore: S3 and what speaks its protocol, Google Cloud Storage, Azure.

`create` sends one request at a time and does not leave retries to the client: when an answer is lost, our own
object makes the repeated request fail, and only the bytes there say whose it is.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import AzureStore, GCSStore, S3Store

from kraftctl_spark.stores.object_reader import ObjectReader
from kraftctl_spark.stores.store_error import CODE, store_error

RETRY_SECONDS = 60.0
"""How long a request is repeated. One more may last as long as its own time-out."""

FIRST_PAUSE_SECONDS = 0.1
PAUSE_SECONDS_MAX = 5.0
PAUSE_GROWTH = 2

PART_BYTES = 16 * 1024 * 1024
"""A file up to this size is one request, which leaves nothing behind. S3 allows 10,000 parts: 156 GiB."""

PARTS_TOGETHER = 4
"""The number of parts that are in memory and on their way."""

PAGE = 1_000
"""The names that S3 lists in one answer."""

DELETED_TOGETHER = 1_000
"""What one request of S3 deletes at most."""

_CONFLICT = "status code: 409"
_FINAL = re.compile(
    r"status code: (?:3\d\d|4(?!08|09|29)\d\d|501)(?!.*<Code>RequestTimeout<)|BadScheme", re.DOTALL
)
"""Answers that another attempt does not change."""

MISSING = ("NoSuchKey", "BlobNotFound")
"""The codes of a 404 that is about the object; others are about the bucket or the account."""

Client = S3Store | GCSStore | AzureStore
Found = TypeVar("Found")


def retry_config(seconds: float) -> dict[str, Any]:
    """Returns obstore's retries, for requests that may be repeated without a thought."""
    return {
        "max_retries": 1_000,
        "retry_timeout": timedelta(seconds=seconds),
        "backoff": {
            "init_backoff": timedelta(seconds=FIRST_PAUSE_SECONDS),
            "max_backoff": timedelta(seconds=PAUSE_SECONDS_MAX),
            "base": PAUSE_GROWTH,
        },
    }


NO_RETRIES = {**retry_config(0.0), "max_retries": 0}


@dataclass(frozen=True)
class Entries:
    """The names of the objects directly below a directory, and of the directories there."""

    files: tuple[str, ...]
    directories: tuple[str, ...]


class ObjectStore:
    """The objects below a prefix. `make` returns obstore's client with the given retries."""

    def __init__(
        self,
        url: str,
        make: Callable[[dict[str, Any]], Client],
        retry_seconds: float = RETRY_SECONDS,
        around: tuple[ObjectStore, ...] = (),
    ) -> None:
        """Takes the stores of the prefixes that this one is within."""
        self.url = url
        self.around = around
        self._retry_seconds = retry_seconds
        self._retrying = make(retry_config(retry_seconds))
        self._once = make(NO_RETRIES)

    def __repr__(self) -> str:
        return f"ObjectStore({self.url})"

    def create(self, name: str, data: bytes) -> bool:
        """Writes it, durable when this returns; False if it exists.

        `data` must be different for each writer: after a lost answer, equal bytes are taken for our own.
        ObjectStoreError when it is still unknown at the end of the time: it may exist then.
        """
        until_s = time.monotonic() + self._retry_seconds
        pause_s = FIRST_PAUSE_SECONDS
        is_in_doubt = False
        while True:
            try:
                obstore.put(self._once, name, data, mode="create", use_multipart=False)
                return True
            except AlreadyExistsError as error:
                if not is_in_doubt and _CONFLICT not in str(error):
                    return False
                with suppress(FileNotFoundError):  # 409: another request was under way, and failed.
                    return self.read(name) == data and is_in_doubt
                failure: Exception = error
            except (BaseError, FileNotFoundError) as error:
                failure = error
                if _FINAL.search(str(error)):
                    raise store_error(error, f"create {name}", self.url) from None
                is_in_doubt = True
            if time.monotonic() + pause_s > until_s:
                raise store_error(failure, f"create {name}", self.url) from None
            time.sleep(pause_s * random.uniform(0.5, 1.0))
            pause_s = min(pause_s * PAUSE_GROWTH, PAUSE_SECONDS_MAX)

    def put_file(self, name: str, source: Path) -> None:
        """Uploads a file under a name that no one else writes to; in parts if it is large."""
        self._done(
            f"write {name}",
            lambda: obstore.put(
                self._retrying,
                name,
                source,
                mode="overwrite",
                use_multipart=source.stat().st_size > PART_BYTES,
                chunk_size=PART_BYTES,
                max_concurrency=PARTS_TOGETHER,
            ),
        )

    def put(self, name: str, data: bytes) -> None:
        """Writes an object, and replaces what was there."""
        self._done(
            f"write {name}",
            lambda: obstore.put(self._retrying, name, data, mode="overwrite", use_multipart=False),
        )

    def read(self, name: str) -> bytes:
        """Returns the bytes; FileNotFoundError if there is no such object."""
        return self._done(f"read {name}", lambda: bytes(obstore.get(self._retrying, name).bytes()), name)

    def size(self, name: str) -> int | None:
        """Returns the bytes of an object; None if there is none."""
        try:
            return int(
                self._done(f"look at {name}", lambda: obstore.head(self._retrying, name)["size"], name)
            )
        except FileNotFoundError:
            return None

    def names(self, prefix: str, after: str = "") -> list[str]:
        """Returns the names of all objects below `prefix/` that sort behind `after`."""

        def listed() -> list[str]:
            pages = obstore.list(self._retrying, prefix or None, offset=after or None, chunk_size=PAGE)
            return sorted(found["path"] for page in pages for found in page)

        return self._done(f"list {prefix or 'all'}", listed)

    def entries(self, directory: str) -> Entries:
        """Returns what is directly below a directory, in as many requests as that has pages."""

        def listed() -> Entries:
            found = obstore.list_with_delimiter(self._retrying, directory or None)
            files = sorted(one["path"] for one in found["objects"])
            return Entries(tuple(files), tuple(sorted(found["common_prefixes"])))

        return self._done(f"list {directory or 'all'}", listed)

    def delete(self, names: Iterable[str]) -> None:
        """Deletes objects; missing ones are no error."""
        wanted = list(names)
        for first in range(0, len(wanted), DELETED_TOGETHER):
            some = wanted[first : first + DELETED_TOGETHER]
            try:
                self._delete(some)
            except FileNotFoundError:  # Not of S3, which does not look.
                for name in some:
                    with suppress(FileNotFoundError):
                        self._delete([name])

    def _delete(self, names: list[str]) -> None:
        self._done(f"delete {len(names)} objects", lambda: obstore.delete(self._retrying, names), names[0])

    def fetch_to(self, name: str, target: Path) -> None:
        """Downloads an object to a file; FileNotFoundError if there is none. `target` may be incomplete
        after an error.
        """

        def fetch() -> None:
            with target.open("wb") as file:
                for chunk in obstore.get(self._retrying, name):
                    file.write(chunk)

        self._done(f"read {name}", fetch, name)

    def reader(self, name: str) -> ObjectReader:
        """Returns an open object; FileNotFoundError if there is none, then or when it is read."""

        def get(start: int, end: int) -> tuple[bytes, int]:
            def request() -> tuple[bytes, int]:
                found = obstore.get(self._retrying, name, options={"range": (start, end)})
                return bytes(found.bytes()), found.meta["size"]

            return self._done(f"read {name}", request, name)

        return ObjectReader(f"{self.url}/{name}", get)

    def __truediv__(self, name: str) -> ObjectReader:
        return self.reader(name)

    def _done(self, action: str, request: Callable[[], Found], name: str | None = None) -> Found:
        """Returns the result; ObjectStoreError in our words, FileNotFoundError if there is no `name`."""
        try:
            return request()
        except FileNotFoundError as error:
            if error.filename is not None:  # of a local file
                raise
            code = CODE.search(str(error))
            if name is None or (code is not None and code[1] not in MISSING):
                raise store_error(error, action, self.url) from None
            raise FileNotFoundError(f"{self.url} has no {name}") from None
        except BaseError as error:
            raise store_error(error, action, self.url) from None
