"""Planted faults in the choice among the addresses of a name, and in what is said when there is no leader."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

ORDER = "tests/clients/test_host_addresses.py"
REACHED = "tests/clients/test_addresses.py::test_the_address_that_answers_is_reached"
FAILURES = "tests/clients/test_address_failures.py"
SURVEY = "tests/cli/test_quorum_survey.py"
ADDRESSES_FILE = "protocol/kraftctl_security/addresses/host_addresses.py"
LOOKUP_FILE = "protocol/kraftctl_security/addresses/host_lookup.py"
HOSTS_FILE = "protocol/kraftctl_security/addresses/known_hosts.py"
RACE_FILE = "protocol/kraftctl_security/blocking_race.py"
CONNECTION_FILE = "protocol/kraftctl_security/blocking_connection.py"
CONNECTING_FILE = "kraftctl/server/peers/connecting.py"
PEERS_FILE = "kraftctl/server/peers/peers.py"
SURVEY_FILE = "kraftctl/cli/quorum/quorum_survey.py"
INTERVIEW_FILE = "kraftctl/cli/quorum/node_interview.py"

FAULTS = (
    PlantedFault(
        "all-addresses-of-a-family-come-first",
        ADDRESSES_FILE,
        "key=lambda entry: (entry[0], families[entry[1].family])",
        "key=lambda entry: families[entry[1].family]",
        (f"{ORDER}::test_families_take_turns",),
        "RFC 8305, section 4: with IPv6 that leads nowhere, IPv4 is tried after all of its addresses.",
    ),
    PlantedFault(
        "silence-is-forgotten",
        ADDRESSES_FILE,
        "        return (SLOW if failure.is_slow() else PROMPT), failure.at_seconds\n",
        "        return (UNTRIED if failure.is_slow() else PROMPT), 0.0\n",
        (f"{ORDER}::test_what_was_silent_is_tried_last_and_the_longest_ago_first_of_these",),
        "Each attempt begins with the address that is silent.",
    ),
    PlantedFault(
        "the-address-that-failed-last-is-tried-first",
        ADDRESSES_FILE,
        "        return (SLOW if failure.is_slow() else PROMPT), failure.at_seconds\n",
        "        return (SLOW if failure.is_slow() else PROMPT), -failure.at_seconds\n",
        (f"{ORDER}::test_each_address_is_tried_again_whatever_happens",),
        "Of many addresses, the one that is good may never be tried.",
    ),
    PlantedFault(
        "addresses-that-have-left-a-name-are-remembered",
        ADDRESSES_FILE,
        "for each, why in self._failures.items() if each in current}",
        "for each, why in self._failures.items()}",
        (f"{ORDER}::test_what_has_left_the_name_is_forgotten",),
        "What is remembered of a name grows with each pod that had it.",
    ),
    PlantedFault(
        "an-address-that-served-once-stays-the-first",
        ADDRESSES_FILE,
        "            self._served = None\n        self._failures[address]",
        "            pass\n        self._failures[address]",
        (f"{ORDER}::test_what_served_is_tried_first_until_it_fails",),
        "A connection that has become silent is opened to the same address again and again.",
    ),
    PlantedFault(
        "a-name-refuses-when-one-address-does",
        CONNECTING_FILE,
        "        self._all_refuse = self._all_refuse and is_refusal\n",
        "        self._all_refuse = True\n",
        (f"{FAILURES}::test_a_name_refuses_only_if_each_address_does",),
        "KIP-996: elections begin while the leader lives behind another address.",
    ),
    PlantedFault(
        "a-reset-connection-is-not-refused",
        CONNECTING_FILE,
        '            raise ConnectionResetError("the connection was reset")\n',
        '            raise OSError("the connection was reset")\n',
        ("tests/clients/test_resets.py::test_a_reset_before_anything_was_read_refuses",),
        "KIP-996: a proxy whose controller is gone resets connections, and no election begins early.",
    ),
    PlantedFault(
        "a-reset-after-the-handshake-is-a-refusal",
        CONNECTING_FILE,
        "            is_refusal = self._missing[address] != NOT_ANSWERED\n",
        "            is_refusal = True\n",
        (
            "tests/server/peers/test_ssl_peers.py::test_a_connection_that_is_reset_after_the_handshake_is_not_refused",
        ),
        "A leader that does not accept a certificate is not gone: an election begins for nothing.",
    ),
    PlantedFault(
        "a-name-refuses-although-not-all-addresses-were-tried",
        CONNECTING_FILE,
        " and addresses.is_whole():\n",
        ":\n",
        (f"{FAILURES}::test_more_addresses_than_are_tried_do_not_refuse",),
        "KIP-996: elections begin while the leader lives behind another address.",
    ),
    PlantedFault(
        "controllers-wait-for-the-first-address",
        CONNECTING_FILE,
        "            delay = ATTEMPT_DELAY_SECONDS if left and",
        "            delay = None if left and",
        (f"{REACHED}[PLAINTEXT-silent-peer-second-of-three]",),
        "An address that is silent takes the whole time of a request.",
    ),
    PlantedFault(
        "blocking-clients-wait-for-the-first-address",
        RACE_FILE,
        "            if self._running and now < self._next_at:\n",
        "            if self._running:\n",
        (f"{FAILURES}::test_the_next_address_is_tried_beside_one_that_is_silent",),
        "An address that is silent takes the whole time of a request.",
    ),
    PlantedFault(
        "losers-of-a-race-stay-connected",
        CONNECTING_FILE,
        "            task.cancel()\n",
        "            task.get_name()\n",
        (f"{FAILURES}::test_the_one_that_was_slow_is_left_without_a_word",),
        "A slow controller keeps connections that are not used.",
    ),
    PlantedFault(
        "the-winner-of-a-race-that-is-ended-stays-open",
        CONNECTING_FILE,
        "                    won.close()\n",
        "                    pass\n",
        ("tests/clients/test_race.py::test_the_winner_is_closed_if_the_others_take_too_long_to_end",),
        "A connection that nothing uses any more stays until the other controller closes it.",
    ),
    PlantedFault(
        "a-controller-asks-itself",
        CONNECTING_FILE,
        "        if here[0] == there[0] and self._is_own(there[0], there[1]):\n",
        "        if here[0] != there[0] and self._is_own(there[0], there[1]):\n",
        (f"{FAILURES}::test_a_controller_does_not_ask_itself_when_its_name_has_others",),
        "With a name of all controllers, one that joins asks itself for the leader for ever.",
    ),
    PlantedFault(
        "a-controller-waits-for-sasl-at-the-first-address",
        PEERS_FILE,
        "        limit = asyncio.timeout(SASL_SECONDS_MAX if has_alternative else None)\n",
        "        limit = asyncio.timeout(None)\n",
        (f"{FAILURES}::test_another_address_answers_sasl_in_the_same_attempt",),
        "A request expires although another address would have answered.",
    ),
    PlantedFault(
        "silence-after-the-connection-is-not-remembered",
        PEERS_FILE,
        "        if is_silent or not connection.has_served:\n",
        "        if connection.has_served:\n",
        (f"{REACHED}[PLAINTEXT-answers-only-versions-peer-second-of-three]",),
        "A proxy that answers ApiVersions and nothing else is asked again and again.",
    ),
    PlantedFault(
        "silence-after-the-connection-is-not-remembered-by-blocking-clients",
        CONNECTION_FILE,
        "            if is_silent or not self._has_served:\n",
        "            if self._has_served:\n",
        (f"{REACHED}[PLAINTEXT-answers-only-versions-cli-ipv6-first]",),
        "A proxy that answers ApiVersions and nothing else is asked again and again.",
    ),
    PlantedFault(
        "a-bootstrap-name-means-one-controller",
        PEERS_FILE,
        "        if waiting.effect.destination_id < 0 and knows_no_leader(response):\n",
        "        if waiting.effect.destination_id == 0 and knows_no_leader(response):\n",
        (f"{FAILURES}::test_a_bootstrap_name_of_all_controllers_is_asked_at_each_address",),
        "Two controllers that join ask each other for ever, and never the leader.",
    ),
    PlantedFault(
        "each-attempt-asks-the-resolver-anew",
        LOOKUP_FILE,
        "        if self._running is None:\n            self._running",
        "        if self._running is None or not self._running.done():\n            self._running",
        (f"{FAILURES}::test_one_lookup_at_a_time_and_its_late_answer_is_used",),
        "A resolver that hangs keeps a thread for each attempt.",
    ),
    PlantedFault(
        "a-resolver-that-fails-takes-away-what-is-known",
        HOSTS_FILE,
        "        elif not self.addresses.is_known() or _says_no(found):\n",
        "        else:\n",
        (f"{FAILURES}::test_a_resolver_that_fails_does_not_take_away_what_is_known",),
        "A quorum loses its leader because of name servers.",
    ),
    PlantedFault(
        "the-first-answer-of-a-standby-ends-the-survey",
        SURVEY_FILE,
        "                        self._said.setdefault(finding.endpoint, {})[finding.address] = finding\n",
        "                        self._said.setdefault(finding.endpoint, {})[finding.address] = finding\n"
        "                        self._deadline_ms = self._began_ms\n",
        (f"{SURVEY}::test_an_election_is_awaited",),
        "`quorum describe` fails whenever a leader is just being elected.",
    ),
    PlantedFault(
        "named-controllers-are-not-asked",
        SURVEY_FILE,
        "                        self._interview(endpoints)\n",
        "                        self._stop.is_set()\n",
        (f"{SURVEY}::test_a_standby_names_the_leader",),
        "`quorum describe` fails unless the leader is among the addresses that it is given.",
    ),
    PlantedFault(
        "a-node-does-not-say-its-epoch",
        INTERVIEW_FILE,
        "            self._ask_epoch()\n",
        '            self._say("does not lead")\n',
        (f"{SURVEY}::test_a_node_says_what_it_knows",),
        "It is not seen whether the nodes know a leader, and whether elections are tried.",
    ),
)
