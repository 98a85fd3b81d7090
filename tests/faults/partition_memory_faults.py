"""Planted faults in what makes partitions small: lists for dictionaries, shared parts, packed directories."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

PARTITIONS = "kraftctl/image/topic_partitions.py"
REGISTRATION = "kraftctl/metadata/partition_registration.py"
DIRECTORIES = "kraftctl/metadata/broker_directories.py"
INTERNED = "kraftctl/metadata/interned_tuples.py"
RECORDS = "kraftctl/image/partition_records.py"
LISTED = "tests/image/test_topic_partitions.py"
PACKED = "tests/metadata/test_broker_directories.py"
REPLAY = "tests/controller/test_committed_replay.py"
ASSIGNED = "tests/controller/test_assign_replicas_to_dirs.py::test_a_leader_in_another_directory_stays"

FAULTS = (
    PlantedFault(
        "directories-by-the-numbers-of-another-table",
        "kraftctl/controller/replication_control/offline_directories.py",
        "    tuples = state.image.topics.tuples\n",
        "    tuples = type(state.image.topics.tuples)()\n",
        (ASSIGNED,),
        "A leader loses its partition because another broker has put its replica into a failed directory.",
    ),
    PlantedFault(
        "partitions-after-a-gap-are-dropped",
        PARTITIONS,
        "        others = self._others\n        if others is None:\n            others = {}\n",
        "        others: dict[int, PartitionRegistration] = {}\n",
        (f"{LISTED}::test_any_order",),
        "A snapshot in any order is loaded with partitions missing.",
    ),
    PlantedFault(
        "partitions-stay-behind-a-gap-that-is-closed",
        PARTITIONS,
        "        while (following := others.pop(len(first), None)) is not None:\n"
        "            first.append(following)\n",
        "",
        (f"{LISTED}::test_all_come_in_any_order_and_go_in_another",),
        "The partitions stay in a dictionary and take 38 bytes more each.",
    ),
    PlantedFault(
        "partitions-after-a-removed-one-move",
        PARTITIONS,
        "            for later in range(index + 1, len(first)):\n"
        "                others[later] = first[later]\n"
        "            del first[index:]\n",
        "            del first[index]\n",
        (f"{LISTED}::test_any_order",),
        "After a rollback partitions are found under the index of another.",
    ),
    PlantedFault(
        "a-list-of-partitions-changes-under-a-walk",
        PARTITIONS,
        "        return self._first.copy() if self._others is None else",
        "        return self._first if self._others is None else",
        (f"{LISTED}::test_what_was_listed_stays_as_it_was",),
        "A walk over the partitions of a topic sees some that came later.",
    ),
    PlantedFault(
        "a-directory-takes-the-number-of-another",
        DIRECTORIES,
        "            if candidate == directory:\n                return number\n",
        "            if candidate == directory or number == 3:\n                return number\n",
        (f"{PACKED}::test_all_that_was_packed_is_found_again",),
        "KIP-858: a replica is looked for in a directory that it is not in, and taken for offline.",
    ),
    PlantedFault(
        "more-directories-than-numbers",
        DIRECTORIES,
        "        if number >= DIRECTORIES_MAX:\n            return NOT_PACKED\n",
        "",
        (f"{PACKED}::test_what_has_no_room_is_not_packed",),
        "The number of a directory runs into that of the next replica.",
    ),
    PlantedFault(
        "new-replicas-with-the-old-numbers",
        REGISTRATION,
        "            packed = tuples.broker_directories.pack(replicas, merged)\n",
        "",
        (f"{PACKED}::test_a_partition_keeps_its_directories",),
        "After a reassignment a replica has the directory of another broker.",
    ),
    PlantedFault(
        "each-isr-has-its-own-list",
        INTERNED,
        "        return replicas if key == replicas else self._shared_brokers(key)\n",
        "        return self._shared_brokers(key)\n",
        (f"{PACKED}::test_an_isr_of_all_replicas_is_the_list_of_replicas",),
        "On a hundred brokers a partition whose ISR has shrunk and grown again takes 64 bytes more.",
    ),
    PlantedFault(
        "what-is-rare-is-mixed-up",
        INTERNED,
        "            and not (removing_replicas or adding_replicas or elr or last_known_elr)\n",
        "            and not (removing_replicas or adding_replicas or last_known_elr)\n",
        (f"{PACKED}::test_each_list_alone_is_kept",),
        "KIP-966: a partition whose ELR alone has members has none.",
    ),
    PlantedFault(
        "loaded-directories-of-the-partition-before",
        RECORDS,
        "        if lists.directories is not directories or lists.tagged is not tagged:\n",
        "        if lists.tagged is not tagged:\n",
        (f"{REPLAY}::test_lists_of_replicas_come_with_other_directories_and_tagged_fields",),
        "With several directories in each broker, partitions are loaded with those of others.",
    ),
    PlantedFault(
        "loaded-elr-of-the-partition-before",
        RECORDS,
        "        if lists.directories is not directories or lists.tagged is not tagged:\n",
        "        if lists.directories is not directories:\n",
        (f"{REPLAY}::test_lists_of_replicas_come_with_other_directories_and_tagged_fields",),
        "KIP-966: partitions are loaded with the ELR and recovery state of others with the same replicas.",
    ),
)
