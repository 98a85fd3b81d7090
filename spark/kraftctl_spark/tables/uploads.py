"""Files of tables in an object store: written to a local directory, then uploaded under their last names.

There is no rename in a store, so each attempt has names of its own: those of the range, with the time and a
random part behind. A file is part of the tables once a commit names it. One that no commit names may be on
its way to one, until its attempt is too old to be committed.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from kraftctl_spark.stores.durable import Hook
from kraftctl_spark.stores.store import Store
from kraftctl_spark.tables.table_files import StagedFile

UPLOADS_TOGETHER = 8

ATTEMPT_SECONDS_MAX = 3 * 3_600
"""An older attempt is not committed."""

LEFTOVER_SECONDS = 4 * 3_600
"""A file of an older attempt, which no commit names, is deleted. The clocks of two drivers may differ by the
difference."""

_ATTEMPT = re.compile(r"/(?:snapshot-|open-)?\d{20}-\d{20}(?:-\d+)?-(([0-9a-f]{8})[0-9a-f]{8})\.parquet$")


def began_at(name: str) -> int | None:
    """Returns when the attempt began that wrote a file, in s since 1970; None for a file of others."""
    found = _ATTEMPT.search(name)
    return None if found is None else int(found[2], 16)


def one_of_each_attempt(staged: Iterable[StagedFile]) -> list[StagedFile]:
    """Returns a file of each upload: its process has put all of them into the same store."""
    attempts = {}
    for one in staged:
        found = _ATTEMPT.search(one.file.path)
        attempts[one.file.path if found is None else found[1]] = one
    return list(attempts.values())


def upload(store: Store, directory: Path, staged: Iterable[StagedFile], hook: Hook) -> list[StagedFile]:
    """Uploads local files, which are gone then; returns them with their last names.

    When one fails, the others are deleted again, as far as that is possible.
    """
    attempt = f"{int(time.time()):08x}{secrets.token_hex(4)}"
    named = [(one, f"{one.file.path.removesuffix('.parquet')}-{attempt}.parquet") for one in staged]

    def put(one: StagedFile, name: str) -> StagedFile:
        local = directory / one.temporary
        store.put_file(name, local)
        local.unlink(missing_ok=True)
        hook("file-uploaded")
        return StagedFile(name, replace(one.file, path=name))

    with ExitStack() as failed:
        failed.callback(lambda: store.delete(name for _, name in named))
        with ThreadPoolExecutor(UPLOADS_TOGETHER) as pool:
            done = list(pool.map(put, *zip(*named, strict=True))) if named else []
        failed.pop_all()
    return done
