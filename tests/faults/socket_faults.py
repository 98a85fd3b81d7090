"""Planted faults in what bounds the bytes, the reads and the descriptors that connections hold."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

BUDGET = "tests/server/test_byte_budget.py"
BUDGETS = "tests/server/test_budgets.py"
READS = "tests/server/test_answer_reads.py"
DESCRIPTORS = "tests/server/test_descriptors.py"
OUT_OF_DESCRIPTORS = "tests/server/test_out_of_descriptors.py"

FAULTS = (
    PlantedFault(
        "what-was-read-of-an-answer-counts",
        "kraftctl/server/connection.py",
        "        if left_bytes <= held_bytes - held_bytes // READ_SHARE:\n",
        "        if left_bytes < 0 < READ_SHARE:\n",
        ("tests/server/test_budgets.py",),
        "Readers are closed just before they are done, connect again, and close the next ones.",
    ),
    PlantedFault(
        "connections-are-cycles",
        "kraftctl/server/connection.py",
        "        self._let_go()\n        if self._request is not None:\n",
        "        self._let_go()\n        self.itself = self\n        if self._request is not None:\n",
        ("tests/server/test_connection.py",),
        "A connection that is open while a long request is decoded is never freed.",
    ),
    PlantedFault(
        "unread-answers-have-no-budget",
        "kraftctl/server/connection.py",
        "            self._owner.unsent.hold(self, SIZE_PREFIX_BYTES + len(payload), self.last_active)\n",
        "            pass\n",
        (BUDGETS,),
        "300 clients that never read hold 2.4 GB.",
    ),
    PlantedFault(
        "the-newest-holder-loses",
        "kraftctl/server/byte_budget.py",
        "key=lambda holder: self._rent(holder, now), reverse=True)\n",
        "key=lambda holder: self._held[holder][1], reverse=True)\n",
        (BUDGET,),
        "Ten clients that never finish a request hold the whole budget; honest ones are closed.",
    ),
    PlantedFault(
        "no-address-is-spared",
        "kraftctl/server/byte_budget.py",
        "            if left[holder.peer_host] <= self.bytes_max // SPARED_SHARE:\n",
        "            if left[holder.peer_host] <= 0:\n",
        (BUDGET,),
        "Many connections of one address push out a broker behind a slow link.",
    ),
    PlantedFault(
        "voters-are-closed-like-others",
        "kraftctl/server/byte_budget.py",
        "            if holder in last:\n                continue\n",
        "",
        (BUDGET, BUDGETS),
        "Clients that never read make a leader close its followers.",
    ),
    PlantedFault(
        "any-number-of-connections-of-a-voter",
        "kraftctl/server/voter_connections.py",
        "        self._by_voter[voter_id] = connection\n",
        "        self._by_voter[len(self._by_voter)] = connection\n",
        (BUDGETS,),
        "Clients that say that they are a voter drive out all brokers.",
    ),
    PlantedFault(
        "one-that-was-refused-is-a-voter",
        "kraftctl/server/connection.py",
        "replica_id != NO_REPLICA and is_served(response) and ",
        "replica_id != NO_REPLICA and ",
        (BUDGETS,),
        "A client without any right is closed last.",
    ),
    PlantedFault(
        "requests-are-received-while-an-answer-waits",
        "kraftctl/server/connection.py",
        "        self._writable = False\n        self._pause_reading()\n",
        "        self._writable = False\n",
        (BUDGETS,),
        "Clients that do not read hold requests besides their answers.",
    ),
    PlantedFault(
        "files-are-read-while-no-answer-is",
        "kraftctl/server/answer_reads.py",
        "        if self._has_room():\n",
        "        if True:\n",
        (READS,),
        "Readers that are about to finish are closed for the answers of others.",
    ),
    PlantedFault(
        "voters-wait-for-slow-readers",
        "kraftctl/server/answer_reads.py",
        "            if turn[0]:\n",
        "            if False:\n",
        (READS,),
        "A follower that is behind waits for clients that never read.",
    ),
    PlantedFault(
        "voters-wait-for-others-of-their-address",
        "kraftctl/server/answer_reads.py",
        "        self._waiting.setdefault((read.of_voter, address), deque()).append(read)\n",
        "        self._waiting.setdefault((False, address), deque()).append(read)\n",
        (READS,),
        "A follower waits for clients that never read, if a broker on its machine does.",
    ),
    PlantedFault(
        "reads-of-clients-that-left-are-kept",
        "kraftctl/server/answer_reads.py",
        "        self._forget_gone()\n",
        "",
        (READS,),
        "Clients that ask and leave fill the memory while others do not read their answers.",
    ),
    PlantedFault(
        "anybody-may-send-a-hundred-megabytes",
        "kraftctl/server/client_requests.py",
        "            return REFUSED_BYTES_MAX\n",
        "            return limit\n",
        (BUDGETS,),
        "Clients without any right fill the memory for unfinished requests.",
    ),
    PlantedFault(
        "rights-are-denied-before-they-are-known",
        "kraftctl/server/client_requests.py",
        "    return error is not None and error.error == Errors.CLUSTER_AUTHORIZATION_FAILED\n",
        "    return error is not None\n",
        ("tests/node/test_long_requests.py",),
        "A controller that starts, or a standby, closes the connections of brokers.",
    ),
    PlantedFault(
        "addresses-are-remembered",
        "kraftctl/server/byte_budget.py",
        "            if self._by_address[holder.peer_host] == 0:\n",
        "            if self._by_address[holder.peer_host] < 0:\n",
        (BUDGET,),
        "Memory grows with every address that has ever connected.",
    ),
    PlantedFault(
        "spared-addresses-never-lose",
        "kraftctl/server/byte_budget.py",
        "            if left_bytes <= self.bytes_max:\n                break\n            losers",
        "            if True:\n                break\n            losers",
        (BUDGET,),
        "Clients of many addresses hold any amount together.",
    ),
    PlantedFault(
        "the-next-request-is-answered-before-the-last-answer-is-read",
        "kraftctl/server/connection.py",
        "        while self._frames and self._request is None and self._writable and not self._closed:\n",
        "        while self._frames and self._request is None and not self._closed:\n",
        ("tests/server/test_listener_limits.py::test_a_slow_reader_gets_no_further_answers_until_it_reads",),
        "One client that sends requests and never reads holds any number of answers.",
    ),
    PlantedFault(
        "unfinished-frames-are-kept-in-pieces",
        "protocol/kraftctl_protocol/frames.py",
        "            self._held += data\n            return []\n",
        "            self._held += data\n            self._pieces = [*getattr(self, '_pieces', ()), data]\n"
        "            return []\n",
        ("tests/protocol/test_frames.py",),
        "A request in pieces of two bytes holds 27 times what is counted.",
    ),
    PlantedFault(
        "any-number-of-reads-before-a-vote",
        "kraftctl/server/answer_reads.py",
        "        while self._running_count < READS_MAX and self._waiting:\n",
        "        while self._waiting:\n",
        (READS,),
        "A vote waits for the disk behind hundreds of reads of 8 MB.",
    ),
    PlantedFault(
        "addresses-do-not-take-turns",
        "kraftctl/server/answer_reads.py",
        "        if self._has_room():\n            return next(iter(self._waiting))\n",
        "        if self._has_room():\n"
        "            return max(self._waiting, key=lambda address: len(self._waiting[address]))\n",
        (READS,),
        "A follower waits until all requests of another address were read.",
    ),
    PlantedFault(
        "a-waiting-read-survives-a-truncation",
        "kraftctl/server/effect_executor.py",
        "            case effects.TruncateLog():\n                self._answer_reads.skip_all()\n",
        "            case effects.TruncateLog():\n",
        (READS,),
        "A Fetch of the old epoch is answered with records of the new one: the logs diverge.",
    ),
    PlantedFault(
        "a-waiting-read-survives-retention",
        "kraftctl/server/effect_executor.py",
        "            case RetentionDue():\n                self._answer_reads.skip_all()\n",
        "            case RetentionDue():\n",
        (READS,),
        "A read of what was just deleted ends the controller.",
    ),
    PlantedFault(
        "storage-has-no-reserve",
        "kraftctl/server/descriptors.py",
        "max(CONNECTIONS_MIN, limit - other_count - RESERVED_DESCRIPTORS - pending_max)\n",
        "max(CONNECTIONS_MIN, limit)\n",
        (f"{DESCRIPTORS}::test_connections_get_what_storage_does_not_need",),
        "Clients take the last descriptor, and the next snapshot or vote ends the process.",
    ),
    PlantedFault(
        "connections-beyond-the-descriptors",
        "kraftctl/server/listener.py",
        "        if not self.has_descriptors:\n",
        "        if False:\n",
        (f"{DESCRIPTORS}::test_the_last_connection_that_fits_is_served_and_the_next_one_turned_away",),
        "Clients take the last descriptor, and the next snapshot or vote ends the process.",
    ),
    PlantedFault(
        "idle-connections-never-make-room",
        "kraftctl/server/listener.py",
        "            self._make_room()\n        return not self.leaving\n",
        "            pass\n        return not self.leaving\n",
        (f"{DESCRIPTORS}::test_at_the_limit_idle_connections_of_the_crowded_address_make_room",),
        "Clients that send nothing lock out everybody for ten minutes.",
    ),
    PlantedFault(
        "accepting-ends-without-descriptors",
        "kraftctl/server/acceptor.py",
        "        self._loop.add_reader(self._listening, self._accept)\n        self._accept()\n",
        "        pass\n",
        (f"{DESCRIPTORS}::test_accepting_continues_after_it_has_failed_for_lack_of_descriptors",),
        "After the limit of open files was reached, the controller accepts no connection any more.",
    ),
    PlantedFault(
        "a-vote-without-a-descriptor-ends-the-process",
        "kraftctl/server/effect_executor.py",
        "            if is_out_of_descriptors(error) and not self._inbox.ended:\n"
        '                logger.error("%s; retrying in %.1f s", error, DESCRIPTOR_RETRY_SECONDS)\n'
        "                self._scheduler.call_later(DESCRIPTOR_RETRY_SECONDS, partial(self._store_again",
        "            if False:\n"
        '                logger.error("%s; retrying in %.1f s", error, DESCRIPTOR_RETRY_SECONDS)\n'
        "                self._scheduler.call_later(DESCRIPTOR_RETRY_SECONDS, partial(self._store_again",
        (OUT_OF_DESCRIPTORS,),
        "Any client can end a controller with connections.",
    ),
    PlantedFault(
        "a-snapshot-without-a-descriptor-ends-the-process",
        "kraftctl/server/effect_executor.py",
        "        error = writing.exception()\n"
        "        if is_out_of_descriptors(error) and not self._inbox.ended:\n",
        "        error = writing.exception()\n        if False:\n",
        (OUT_OF_DESCRIPTORS,),
        "Any client can end a controller with connections.",
    ),
)
