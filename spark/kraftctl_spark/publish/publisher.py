"""Publishes in one format, now and after each batch, and notes how far."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import replace

from kraftctl_spark.publish.publication import Done, PublicationFailedError, Target, publish
from kraftctl_spark.publish.publication_state import PublicationState, note, publication_states
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output

WARN_EVERY_MS = 3_600_000

log = logging.getLogger(__name__)


class Publisher:
    """Publishes an output; in between, it notes which files it has published, and does not look again."""

    def __init__(self, output: Output, target: Target, failed: Callable[[], None] = lambda: None) -> None:
        self._output = output
        self._failed = failed
        self._target = target
        self._done: Done = {}
        self._warned_at_ms: int | None = None

    def publish(self, removed: Collection[str] = ()) -> int:
        """Returns how many tables changed; notes a failure before it raises it.

        Published tables at the locations `removed` are removed first, and begin again.
        """
        store, name = self._output.log.store, self._target.name
        now_ms = time.time_ns() // 1_000_000
        self._output.check_exists()
        states = publication_states(store)
        before = states.get(name, PublicationState())
        note(store, name, before)  # From now on, replaced files are kept.
        if not states:
            log.info(
                "replaced files of %s are kept for a day from now on, for scans of published tables, unless "
                "--keep-removed says otherwise; meanwhile a reader of the bare files finds their rows twice",
                self._output.where,
            )
        offset, commit = self._output.position().offset, self._output.commit_number
        try:
            changed = publish(self._output, self._target, self._output.hook, self._done, removed)
        except (ExportRefusedError, PublicationFailedError, OSError) as error:
            since_ms = before.failing_since_ms or now_ms
            note(store, name, replace(before, failing_since_ms=since_ms, failure=str(error)))
            raise
        note(store, name, PublicationState(offset, now_ms, commit=commit))
        return changed

    def after_batch(self) -> None:
        """Publishes. A failure does not stop the export: the next batch repeats it."""
        now_ms = time.time_ns() // 1_000_000
        try:
            changed = self.publish()
        except (ExportRefusedError, PublicationFailedError, OSError) as error:
            self._failed()
            if self._warned_at_ms is None or now_ms - self._warned_at_ms >= WARN_EVERY_MS:
                self._warned_at_ms = now_ms
                log.warning("batches are not published for now, and will be with a later one: %s", error)
            return
        if self._warned_at_ms is not None:
            log.info("%s: batches are published again", self._target.name)
        self._warned_at_ms = None
        log.info("%s: %d tables changed", self._target.name, changed)
