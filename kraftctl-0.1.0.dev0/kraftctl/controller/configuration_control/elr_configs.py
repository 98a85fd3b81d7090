"""KIP-966: the records that come with min.insync.replicas when eligible leader replicas are enabled.

Which replicas are eligible depends on min.insync.replicas, so a change of it clears the ELR, and all brokers
have to know the same value: one for the cluster, none for single brokers.
"""

from __future__ import annotations

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.state.effective_configs import usable_value
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.config_definitions.min_insync_replicas import MIN_INSYNC_REPLICAS
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.metadata_record import RecordAndVersion


def clear_elr_records(image: MetadataImage, records: list[RecordAndVersion]) -> list[RecordAndVersion]:
    """Returns one ClearElrRecord per change of min.insync.replicas: eligible replicas may not be
    eligible any more.
    """
    if not image.features.elr_enabled:
        return []
    result: list[RecordAndVersion] = []
    for entry in records:
        record = entry.record
        if isinstance(record, ConfigRecord) and record.name == MIN_INSYNC_REPLICAS:
            topic = record.resource_name if record.resource_type == TOPIC else ""
            result.append(RecordAndVersion(ClearElrRecord(topic_name=topic), 0))
    return result


def why_min_isr_change_refused(name: str, value: str | None) -> str | None:
    """Returns why the BROKER resource `name` cannot have this min.insync.replicas while ELR is enabled."""
    if name != CLUSTER_DEFAULT:
        return (
            f"{MIN_INSYNC_REPLICAS} cannot be set for a single broker while eligible leader replicas are"
            " enabled"
        )
    if value is None:
        return (
            f"the cluster's {MIN_INSYNC_REPLICAS} cannot be removed while eligible leader replicas are"
            " enabled"
        )
    return None


def elr_safety_records(image: MetadataImage, config: ControllerConfig) -> list[RecordAndVersion]:
    """Returns, before ELR is enabled, a usable cluster-wide min.insync.replicas, and removals for single
    brokers.
    """
    records: list[RecordAndVersion] = []
    configurations = image.configurations
    stored = configurations.config(BROKER, CLUSTER_DEFAULT).get(MIN_INSYNC_REPLICAS)
    if stored is None or usable_value(MIN_INSYNC_REPLICAS, stored) is None:
        records.append(min_isr_record(CLUSTER_DEFAULT, str(config.min_insync_replicas)))
    names = [name for kind, name in configurations.resources if kind == BROKER and name != CLUSTER_DEFAULT]
    records += [
        min_isr_record(name, None)
        for name in sorted(names)
        if MIN_INSYNC_REPLICAS in configurations.config(BROKER, name)
    ]
    return records


def min_isr_record(broker: str, value: str | None) -> RecordAndVersion:
    """Returns the min.insync.replicas of a BROKER resource."""
    record = ConfigRecord(resource_type=BROKER, resource_name=broker, name=MIN_INSYNC_REPLICAS, value=value)
    return RecordAndVersion(record, 0)
