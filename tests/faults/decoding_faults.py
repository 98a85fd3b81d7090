"""Planted faults in the limits of what is decoded, and in what comes before it."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

BUDGET = "tests/protocol/test_decoding_budget.py"
LONG_ANSWERS = "tests/controller/test_long_answers.py"
LONG_REQUESTS = "tests/node/test_long_requests.py"
BODY_DECODING = "tests/server/test_body_decoding.py"
FRAMES = "tests/protocol/test_frames.py"
FUZZ = "tests/attack/test_fuzz.py::test_a_known_seed_finds_nothing"
FUZZ_DENSE = "tests/attack/test_fuzz.py::test_the_worst_message_of_each_api_stays_below_the_ceiling"

FAULTS = (
    PlantedFault(
        "arrays-draw-nothing-from-the-budget",
        "protocol/kraftctl_protocol/primitives.py",
        "            self.budget_bytes -= ARRAY_START_COST + length * element_cost\n",
        "            self.budget_bytes -= ARRAY_START_COST\n",
        (BUDGET,),
        "A frame of 104 MB takes 13 GB.",
    ),
    PlantedFault(
        "arrays-beyond-the-budget",
        "protocol/kraftctl_protocol/primitives.py",
        "            self.budget_bytes -= ARRAY_START_COST + length * element_cost\n"
        "            if self.budget_bytes < 0:\n",
        "            self.budget_bytes -= ARRAY_START_COST + length * element_cost\n"
        "            if self.budget_bytes < -UNLIMITED:\n",
        (FUZZ_DENSE,),
        "A frame of 60 kB takes several times the memory of its API.",
    ),
    PlantedFault(
        "text-that-is-not-utf-8-escapes",
        "protocol/kraftctl_protocol/primitives.py",
        "        except UnicodeDecodeError as error:\n",
        "        except UnicodeEncodeError as error:\n",
        (FUZZ,),
        "A connection ends with an exception that its decoder does not document.",
    ),
    PlantedFault(
        "fixed-fields-past-the-end",
        "protocol/kraftctl_protocol/primitives.py",
        "        if position + size > self.end:\n"
        "            raise self.truncated(size)\n"
        "        self.position = position + size\n"
        "        return position\n",
        "        self.position = position + size\n        return position\n",
        (FUZZ,),
        "A request that is cut between two fields is read past its end.",
    ),
    PlantedFault(
        "arrays-of-more-than-a-million",
        "protocol/kraftctl_protocol/primitives.py",
        "        if length > ARRAY_LENGTH_MAX:\n",
        "        if length > 1 << 40:\n",
        (BUDGET,),
        "More elements in an array than Kafka 4.4 reads.",
    ),
    PlantedFault(
        "any-number-of-tagged-fields",
        "protocol/kraftctl_protocol/primitives.py",
        "        if count > TAGGED_FIELDS_MAX:\n",
        "        if count > 1 << 40:\n",
        (BUDGET,),
        "More tagged fields than Kafka 4.4 reads.",
    ),
    PlantedFault(
        "bodies-without-a-budget",
        "protocol/kraftctl_protocol/requests.py",
        "        reader.limit(memory_bytes_max, pause)\n",
        "        reader.limit(UNLIMITED, pause)\n",
        (BUDGET,),
        "The rows of the APIs limit nothing.",
    ),
    PlantedFault(
        "a-long-decode-gives-no-turns",
        "protocol/kraftctl_protocol/primitives.py",
        "        if self._pause is not None:\n",
        "        if self._pause is None:\n",
        (BUDGET,),
        "The loop is blocked while a long request is decoded on another thread.",
    ),
    PlantedFault(
        "the-kind-of-a-frame-is-not-looked-at",
        "protocol/kraftctl_protocol/frames.py",
        "            if size > UNCHECKED_BYTES_MAX and self._frame_limit is not None:\n",
        "            if size > 1 << 40 and self._frame_limit is not None:\n",
        (FRAMES,),
        "A vote of 100 MB is received before it is refused.",
    ),
    PlantedFault(
        "the-body-before-the-right",
        "kraftctl/node/controller_node.py",
        "        if error is None:\n            return DecodeBody(request_id, context, head)\n",
        "        if True:\n            return DecodeBody(request_id, context, head)\n",
        (LONG_REQUESTS,),
        "A client without any right has its bodies decoded.",
    ),
    PlantedFault(
        "refusals-of-any-length",
        "kraftctl/controller/error_responses.py",
        "        return head.decode_body(REFUSAL_MEMORY_BYTES_MAX)\n",
        "        return head.decode_body()\n",
        (LONG_REQUESTS,),
        "A refusal is as long as the attacker wants, and is made on the loop.",
    ),
    PlantedFault(
        "envelopes-have-no-limit-inside",
        "kraftctl/controller/envelope.py",
        "        if size_bytes > api.size.frame_bytes_max:\n",
        "        if size_bytes > 1 << 40:\n",
        (LONG_REQUESTS,),
        "In an envelope a request is as long as it wants.",
    ),
    PlantedFault(
        "long-envelopes-close-the-connection",
        "kraftctl/apis/request_size.py",
        "ENVELOPE: Final = RequestSize(100 * MIB + 128 * KIB, 100 * MIB + 512 * KIB)\n",
        "ENVELOPE: Final = RequestSize(33 * MIB, 34 * MIB)\n",
        ("tests/test_request_sizes.py",),
        "A client's long request makes its broker forward nothing for a minute.",
    ),
    PlantedFault(
        "the-collector-looks-at-what-was-decoded",
        "kraftctl/server/storage_threads.py",
        "            gc.freeze()\n",
        "            pass\n",
        (BODY_DECODING,),
        "The loop is blocked for 175 ms after a long request was decoded.",
    ),
    PlantedFault(
        "decoded-requests-pile-up",
        "kraftctl/server/body_decoding.py",
        "        if held_bytes and held_bytes + _memory_bytes_max(effect) > ",
        "        if False and held_bytes > ",
        (BODY_DECODING,),
        "Requests that wait for a commit take all the memory.",
    ),
    PlantedFault(
        "any-number-of-bytes-waits-to-be-decoded",
        "kraftctl/server/body_decoding.py",
        "        if self._waiting and waiting_bytes + effect.head.size_bytes > WAITING_BYTES_MAX:\n",
        "        if False:\n",
        (BODY_DECODING,),
        "Frames of 32 MB wait on every connection.",
    ),
    PlantedFault(
        "answers-list-any-number-of-entries",
        "kraftctl/controller/answer_entries.py",
        "        if self.count > ANSWER_ENTRIES_MAX:\n",
        "        if count > ANSWER_ENTRIES_MAX:\n",
        (LONG_REQUESTS,),
        "A short DescribeConfigs has an answer of gigabytes.",
    ),
    PlantedFault(
        "answers-that-are-too-long-close-the-connection",
        "kraftctl/controller/quorum_controller.py",
        "            return short\n",
        "            return None\n",
        (LONG_REQUESTS,),
        "A tool that names every partition of a large cluster repeats its request until it times out.",
    ),
    PlantedFault(
        "configurations-that-do-not-fit-close-the-connection",
        "kraftctl/controller/configuration_control/describe_configs.py",
        "                if entries.has_room(count):\n",
        "                if entries.has_room(0):\n",
        (LONG_ANSWERS,),
        "The configurations of a few thousand topics cannot be described together, and nothing says so.",
    ),
    PlantedFault(
        "synonyms-are-looked-up-for-each-topic",
        "kraftctl/controller/configuration_control/describe_configs.py",
        "            self._synonyms[(name, sensitive)] = found\n",
        "            pass\n",
        (LONG_ANSWERS,),
        "A request of a few kilobytes for the configurations of 1,000 topics blocks the loop for seconds.",
    ),
    PlantedFault(
        "quotas-of-any-number-of-entities",
        "kraftctl/controller/client_quota_control.py",
        "    if len(request.entries) > ENTITIES_PER_REQUEST_MAX:\n",
        "    if len(request.entries) > 1 << 40:\n",
        (LONG_ANSWERS,),
        "An AlterClientQuotas of 5 MB blocks the loop for 300 ms.",
    ),
    PlantedFault(
        "reassignments-to-list-of-any-number",
        "kraftctl/controller/replication_control/reassign_partitions.py",
        "            entries.add(1)\n            ongoing",
        "            ongoing",
        (LONG_ANSWERS,),
        "A request of 4 MB that repeats one partition has an answer of 400 MB.",
    ),
    PlantedFault(
        "elections-of-any-number",
        "kraftctl/controller/replication_control/elect_leaders.py",
        "    if has_too_many(election.records):\n        return too",
        "    if False:\n        return too",
        ("tests/controller/test_elect_leaders.py",),
        "An election of all leaders after the loss of a broker writes a million records in one step.",
    ),
    PlantedFault(
        "resources-to-describe-of-any-number",
        "kraftctl/controller/configuration_control/describe_configs.py",
        "    entries.add_items(len(request.resources))\n",
        "",
        (LONG_ANSWERS,),
        "A DescribeConfigs of 900 kB blocks the loop for 230 ms.",
    ),
    PlantedFault(
        "topics-to-delete-of-any-number",
        "kraftctl/controller/replication_control/delete_topics.py",
        "(context, request, len(request.topics) + len(request.topic_names))",
        "(context, request, 0)",
        (LONG_ANSWERS,),
        "A DeleteTopics of 5 MB blocks the loop for 300 ms.",
    ),
    PlantedFault(
        "topics-to-elect-leaders-of-any-number",
        "kraftctl/controller/replication_control/elect_leaders.py",
        "    entries.add_items(len(request.topic_partitions or ()))\n",
        "",
        (LONG_ANSWERS,),
        "An ElectLeaders of 3 MB blocks the loop for half a second.",
    ),
    PlantedFault(
        "topics-to-reassign-of-any-number",
        "kraftctl/controller/replication_control/reassign_partitions.py",
        "    entries.add_items(len(request.topics))\n",
        "",
        (LONG_ANSWERS,),
        "An AlterPartitionReassignments of 3 MB blocks the loop for half a second.",
    ),
)
