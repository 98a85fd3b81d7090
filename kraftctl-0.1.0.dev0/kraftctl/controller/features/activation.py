"""The first records of a controller that becomes active, and the reasons why it may not write them.

`bootstrap_records` are the first records of an empty log.
"""

from __future__ import annotations

from kraftctl.controller.committed_records import NO_RELEASE
from kraftctl.controller.features.activation_records import records_for_empty_log, records_for_non_empty_log
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl.metadata.bootstrap_metadata import bootstrap_refusal, why_records_unsupported
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.metadata_record import RecordAndVersion


class Activation:
    """Decides from the image, whose records are committed up to the claim."""

    def __init__(
        self,
        log_directory: str,
        bootstrap_records: list[RecordAndVersion],
        supported_features: dict[str, VersionRange],
        min_insync_replicas: int,
    ) -> None:
        self._log_directory = log_directory
        self._bootstrap_records = bootstrap_records
        self._supported_features = supported_features
        self._min_insync_replicas = min_insync_replicas

    def why_not_claim(self, image: MetadataImage) -> str | None:
        """Returns why this controller must not write the first records of its epoch; None if it may."""
        if not _needs_bootstrap(image):
            return self._why_no_abort(image)
        reason = why_records_unsupported(self._bootstrap_records, self._supported_features)
        return None if reason is None else bootstrap_refusal(self._log_directory, reason)

    def _why_no_abort(self, image: MetadataImage) -> str | None:
        start = image.journal.transaction_start
        level = image.features.metadata_version
        if start is None or features.is_metadata_transaction_supported(level):
            return None
        return (
            f"{self._log_directory}: the metadata transaction that begins at offset {start}"
            f" has no end, and metadata.version {level} has no transactions, so it cannot be aborted."
            f" {NO_RELEASE}"
        )

    def results(self, image: MetadataImage) -> list[ControllerResult]:
        """Returns the first records of the epoch, if there are any."""
        transaction_open = image.journal.transaction_start is not None
        if _needs_bootstrap(image):
            first = records_for_empty_log(
                self._bootstrap_records,
                transaction_open=transaction_open,
                min_insync_replicas=self._min_insync_replicas,
            )
        else:
            metadata_version = image.features.metadata_version
            first = records_for_non_empty_log(metadata_version, transaction_open=transaction_open)
        return [first] if first.records else []


def _needs_bootstrap(image: MetadataImage) -> bool:
    """Returns whether the image is empty, without the records of an open transaction: they will be undone."""
    start = image.journal.transaction_start
    if start is None:
        return image.features.metadata_version == 0
    return image.features.metadata_version == 0 or image.features.last_change_offset >= start
