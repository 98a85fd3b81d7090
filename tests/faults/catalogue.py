"""The catalogue of planted faults: defects that once existed, here or in Kafka, or that are easily made.

Each entry breaks the sources in one place. `make faults` plants them one by one into a copy, and expects the
tests that it names to fail: this finds tests that cannot fail.
"""

from __future__ import annotations

from tests.faults import (
    audit_faults,
    bench_faults,
    bound_faults,
    certificate_faults,
    cli_faults,
    client_faults,
    controller_faults,
    decoding_faults,
    file_faults,
    history_faults,
    kafka_issue_faults,
    kafkas_faults,
    lateness_faults,
    loading_faults,
    oauth_faults,
    observer_faults,
    partition_memory_faults,
    raft_faults,
    request_faults,
    rights_faults,
    sasl_connection_faults,
    sasl_mechanism_faults,
    secret_faults,
    sliced_request_faults,
    snapshot_faults,
    socket_faults,
    ssl_faults,
    storage_faults,
    transition_faults,
    voter_faults,
)
from tests.faults.planted_fault import PlantedFault

CATALOGUE: tuple[PlantedFault, ...] = (
    *raft_faults.FAULTS,
    *voter_faults.FAULTS,
    *storage_faults.FAULTS,
    *controller_faults.FAULTS,
    *kafka_issue_faults.FAULTS,
    *request_faults.FAULTS,
    *bound_faults.FAULTS,
    *observer_faults.FAULTS,
    *bench_faults.FAULTS,
    *decoding_faults.FAULTS,
    *sliced_request_faults.FAULTS,
    *socket_faults.FAULTS,
    *oauth_faults.FAULTS,
    *ssl_faults.FAULTS,
    *certificate_faults.FAULTS,
    *rights_faults.FAULTS,
    *secret_faults.FAULTS,
    *history_faults.FAULTS,
    *client_faults.FAULTS,
    *sasl_connection_faults.FAULTS,
    *sasl_mechanism_faults.FAULTS,
    *audit_faults.FAULTS,
    *file_faults.FAULTS,
    *snapshot_faults.FAULTS,
    *lateness_faults.FAULTS,
    *loading_faults.FAULTS,
    *partition_memory_faults.FAULTS,
    *cli_faults.FAULTS,
    *kafkas_faults.FAULTS,
    *transition_faults.FAULTS,
)
