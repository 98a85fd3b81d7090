"""Planted faults in what Kafka 4.4 has: levels, UnregisterController, networks in ACLs, ApiVersions 5."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

LEVELS = "protocol/kraftctl_protocol/metadata_versions.py"
UNREGISTER = "kraftctl/controller/cluster_control/unregister_controller.py"
NETWORKS = "kraftctl/image/network_host.py"
INDEX = "kraftctl/image/acl_index.py"
SMALL = "tests/controller/test_small_handlers.py"
IN_ORDER = f"{SMALL}::TestUnregisterController::test_refused_in_kafkas_order"
IN_INDEX = "tests/image/test_acl_index.py"
PARTITIONS = "tests/controller/test_create_partitions.py"
HOSTS = "tests/controller/test_security_handlers.py::TestAcls::test_hosts"

FAULTS = (
    PlantedFault(
        "a-downgrade-forgets-unregistered-controllers",
        LEVELS,
        '    MetadataVersion(33, "4.4-IV2", changes_metadata=True),\n',
        '    MetadataVersion(33, "4.4-IV2"),\n',
        ("tests/controller/test_feature_control.py::test_refused",),
        "Brokers of the lower level stop at a record that they do not know.",
    ),
    PlantedFault(
        "an-unregistered-controller-stays-in-the-image",
        "kraftctl/image/cluster_image.py",
        "        self._journal.remove(self.controllers, controller_id)\n",
        "        pass\n",
        (f"{SMALL}::TestUnregisterController::test_a_controller_is_forgotten",),
        "A controller that is gone limits the levels of features for ever.",
    ),
    PlantedFault(
        "the-active-controller-unregisters-itself",
        UNREGISTER,
        "    if controller_id == state.node_id:\n",
        "    if controller_id < 0:\n",
        (IN_ORDER,),
        "Features are raised to levels that the active controller does not have.",
    ),
    PlantedFault(
        "a-controller-is-unregistered-at-any-level",
        UNREGISTER,
        "    if not features.is_controller_unregistration_supported(level):\n",
        "    if level < 0:\n",
        (IN_ORDER,),
        "The log has a record at which older brokers and controllers stop.",
    ),
    PlantedFault(
        "networks-at-any-level",
        "kraftctl/controller/security/acl_control.py",
        "    if not features.is_cidr_host_supported(metadata_version):\n",
        "    if metadata_version < 0:\n",
        (HOSTS,),
        "Older brokers take an entry that denies a network for one of no host.",
    ),
    PlantedFault(
        "a-network-is-not-looked-up",
        INDEX,
        "            found += self._networks.containing(principal, address)\n",
        "            pass\n",
        (IN_INDEX, "tests/controller/test_acl_scan.py::test_rights"),
        "What is denied to a network is allowed.",
    ),
    PlantedFault(
        "a-size-of-networks-is-forgotten-too-early",
        INDEX,
        "        left = self._size_counts[network.size] - 1\n",
        "        left = 0\n",
        (IN_INDEX,),
        "Once an entry for one network is deleted, those for others of its size have no effect.",
    ),
    PlantedFault(
        "a-mapped-address-is-a-network",
        NETWORKS,
        "    if address is None or address.ipv4_mapped is not None:\n",
        "    if address is None:\n",
        ("tests/image/test_network_host_oracle.py",),
        "An entry is accepted that matches no client.",
    ),
    PlantedFault(
        "a-node-without-a-cluster-is-a-valid-client",
        "kraftctl/controller/cluster_control/api_versions.py",
        "    return (request.cluster_id is None) == (request.node_id == NO_NODE)\n",
        "    return True\n",
        (f"{SMALL}::TestApiVersions::test_a_client_names_both_its_cluster_and_its_node_or_none",),
        "A client that Kafka refuses is let in.",
    ),
    PlantedFault(
        "cordoned-brokers-get-replicas-by-name",
        "kraftctl/controller/replication_control/replica_assignment.py",
        "        if not cluster.brokers[broker_id].has_uncordoned_directories():\n",
        "        if broker_id < 0:\n",
        (f"{PARTITIONS}::test_a_broker_without_a_directory_for_new_replicas_is_refused",),
        "A broker that is about to be emptied gets new replicas.",
    ),
    PlantedFault(
        "topics-of-others-count-against-the-limit",
        "kraftctl/controller/replication_control/create_partitions.py",
        "_why_too_many(state, context, request, topics)\n",
        "_why_too_many(state, context, request, request.topics)\n",
        (f"{PARTITIONS}::test_all_that_a_request_adds_is_limited",),
        "A request is refused for what it may not do anyway, and shows how many partitions others have.",
    ),
)
