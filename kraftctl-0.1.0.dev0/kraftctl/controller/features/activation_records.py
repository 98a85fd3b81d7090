"""The records a controller writes when it becomes active (KIP-868, KIP-966, KIP-919).

An empty log gets the bootstrap records, in a metadata transaction if metadata.version has them. If the last
active controller stopped inside a transaction, the transaction is aborted.
"""

from __future__ import annotations

from kraftctl.controller.configuration_control.elr_configs import min_isr_record
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.feature_levels import feature_level
from kraftctl.metadata import features
from kraftctl_protocol.config_resource import CLUSTER_DEFAULT
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.metadata_record import RecordAndVersion

BOOTSTRAP_TRANSACTION_NAME = "Bootstrap records"
FAILOVER_REASON = "Controller failover"


def records_for_empty_log(
    bootstrap_records: list[RecordAndVersion], *, transaction_open: bool, min_insync_replicas: int
) -> ControllerResult:
    """Returns the bootstrap records; metadata.version must be the first of them."""
    metadata_version = feature_level(bootstrap_records, features.METADATA_VERSION)
    transactions = features.is_metadata_transaction_supported(metadata_version)
    records: list[RecordAndVersion] = []
    if transaction_open:
        assert transactions, "metadata.version lacks transactions"
        records.append(RecordAndVersion(AbortTransactionRecord(reason=FAILOVER_REASON), 0))
    if transactions:
        records.append(RecordAndVersion(BeginTransactionRecord(name=BOOTSTRAP_TRANSACTION_NAME), 0))
    records += bootstrap_records
    if feature_level(bootstrap_records, features.ELIGIBLE_LEADER_REPLICAS_VERSION) > 0:
        records.append(min_isr_record(CLUSTER_DEFAULT, str(min_insync_replicas)))
    if transactions:
        records.append(RecordAndVersion(EndTransactionRecord(), 0))
    return ControllerResult(records, None, not transactions)


def records_for_non_empty_log(metadata_version: int, *, transaction_open: bool) -> ControllerResult:
    """Returns no records, unless the last active controller stopped inside a transaction."""
    if not transaction_open:
        return ControllerResult.atomic_of([])
    assert features.is_metadata_transaction_supported(metadata_version), "metadata.version lacks transactions"
    return ControllerResult.atomic_of([RecordAndVersion(AbortTransactionRecord(reason=FAILOVER_REASON), 0)])
