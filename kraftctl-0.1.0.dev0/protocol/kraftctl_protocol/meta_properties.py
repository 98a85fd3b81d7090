"""The content of a meta.properties file: which cluster, node and directory this is (KIP-631, KIP-858).

Version 0 is from clusters with ZooKeeper: its node id is `broker.id`, and no key is required. Version 1
requires `node.id` and `cluster.id`. Kafka 3.7 added `directory.id`.
"""

from __future__ import annotations

from kraftctl_protocol.uuids import uuid_from_string, uuid_to_string


class MetaProperties:
    """The file's values; `directory_id` is None in files older than Kafka 3.7, and version 0 may lack the
    other two.
    """

    def __init__(
        self, cluster_id: str | None, node_id: int | None, directory_id: bytes | None, version: int = 1
    ) -> None:
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.directory_id = directory_id
        self.version = version

    def properties(self) -> dict[str, str]:
        """Returns the properties of the file in the order in which Kafka writes them."""
        properties: dict[str, str] = {}
        if self.node_id is not None:
            properties[_node_key(self.version)] = str(self.node_id)
        if self.directory_id is not None:
            properties["directory.id"] = uuid_to_string(self.directory_id)
        properties["version"] = str(self.version)
        if self.cluster_id is not None:
            properties["cluster.id"] = self.cluster_id
        return properties

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetaProperties) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        directory = "none" if self.directory_id is None else uuid_to_string(self.directory_id)
        return (
            f"MetaProperties(version={self.version}, cluster.id={self.cluster_id}, node.id={self.node_id},"
            f" directory.id={directory})"
        )

    def _fields(self) -> tuple[str | None, int | None, bytes | None, int]:
        return self.cluster_id, self.node_id, self.directory_id, self.version


def parse_meta_properties(properties: dict[str, str]) -> MetaProperties:
    """Raises ValueError, as Kafka refuses the file, for an unknown version, or a missing or malformed
    value.
    """
    version_text = properties.get("version", "0")
    if version_text not in ("0", "1"):
        raise ValueError(f"version {version_text} is not supported, 0 and 1 are")
    version = int(version_text)
    node_key = _node_key(version)
    node_text = properties.get(node_key)
    if version >= 1 and (node_text is None or "cluster.id" not in properties):
        raise ValueError(f"{node_key if node_text is None else 'cluster.id'} is missing")
    node_id = None
    if node_text is not None:
        try:
            node_id = int(node_text)
        except ValueError as error:
            raise ValueError(f"{node_key} {node_text!r} is not a number") from error
    directory_text = properties.get("directory.id")
    directory_id = None if directory_text is None else uuid_from_string(directory_text)
    return MetaProperties(properties.get("cluster.id"), node_id, directory_id, version)


def _node_key(version: int) -> str:
    return "node.id" if version >= 1 else "broker.id"
