"""Planted faults in SSL: who gets in, under which name, and what a handshake may cost."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

SSL = "tests/server/security/test_ssl.py"
TURNS = "tests/server/security/test_handshake_turns.py"
NODES = "tests/clients/test_hostile_ssl_nodes.py"
RECORDS = "tests/server/security/test_ssl_records.py"
GROUPS = "tests/server/security/test_ssl_groups.py"
SHOWN = "tests/server/security/test_client_certificates.py"
HOSTILE = "tests/security/tls/test_hostile_stores.py"
READER = "tests/server/security/test_store_reader.py"
RELOADING = "tests/server/security/test_ssl_reloading.py"
CONFIGS = "tests/controller/test_node_configs.py"
DERIVATIONS = "protocol/kraftctl_security/tls/key_derivations.py"
PEERS = "tests/server/peers/test_ssl_peers.py"
STORES = "tests/security/tls/test_stores.py"
CONFIG = "tests/security/tls/test_ssl_config.py"
NAMES = "tests/security/tls/test_distinguished_name.py"
TRANSPORT = "kraftctl/server/security/ssl_transport.py"
CONTEXTS = "protocol/kraftctl_security/tls/contexts.py"

FAULTS = (
    PlantedFault(
        "subjects-are-matched-by-an-engine-that-backtracks",
        "protocol/kraftctl_security/tls/ssl_principal_mapper.py",
        "        compile_pattern(text)\n        return re2.compile(text, options)\n",
        "        return compile_pattern(text)\n",
        ("tests/security/tls/test_ssl_config.py::test_a_long_subject_is_matched_in_a_moment",),
        "One certificate stops a controller for minutes.",
    ),
    PlantedFault(
        "a-certificate-that-is-required-is-only-requested",
        CONTEXTS,
        "    CLIENT_AUTH_REQUIRED: ssl.CERT_REQUIRED,\n",
        "    CLIENT_AUTH_REQUIRED: ssl.CERT_OPTIONAL,\n",
        (f"{SSL}::test_without_a_certificate",),
        "Clients without a certificate get in as ANONYMOUS.",
    ),
    PlantedFault(
        "clients-with-a-certificate-are-anonymous",
        TRANSPORT,
        "        self._connection.authenticated(principal)\n",
        "",
        (f"{SSL}::test_the_name_of_a_client_is_the_subject_of_its_certificate",),
        "ACLs by name refuse every broker.",
    ),
    PlantedFault(
        "a-subject-without-a-rule-is-anonymous",
        TRANSPORT,
        '            self._refuse(f"the client has no name: {error}")\n            return\n',
        "            principal = ANONYMOUS\n",
        (f"{SSL}::test_rules_give_a_client_its_name",),
        "Clients that no rule of the operator names are served.",
    ),
    PlantedFault(
        "a-rule-matches-a-part-of-the-subject",
        "protocol/kraftctl_security/tls/ssl_principal_mapper.py",
        "pattern.fullmatch(subject) is None:\n",
        "pattern.search(subject) is None:\n",
        (f"{CONFIG}::test_rules",),
        "A client chooses its name by a part of its subject.",
    ),
    PlantedFault(
        "a-comma-in-a-name-begins-a-new-one",
        "protocol/kraftctl_security/tls/distinguished_name.py",
        '    text = "".join("\\\\" + each if each in ESCAPED else ',
        '    text = "".join(each if each in ESCAPED else ',
        (NAMES,),
        "A client whose common name has commas has the name of another.",
    ),
    PlantedFault(
        "names-begin-with-the-country",
        "protocol/kraftctl_security/tls/distinguished_name.py",
        '    return ",".join(reversed(relative_names))\n',
        '    return ",".join(relative_names)\n',
        (NAMES,),
        "ACLs and super users that were written for Kafka do not apply.",
    ),
    PlantedFault(
        "host-names-are-not-verified",
        CONTEXTS,
        "    context.check_hostname = config.verifies_host\n",
        "    context.check_hostname = False\n",
        (f"{PEERS}::test_a_peer_that_is_not_what_it_should_be_gets_no_request",),
        "Any node with a certificate can answer for any other.",
    ),
    PlantedFault(
        "controllers-show-no-certificate",
        CONTEXTS,
        "    if stores.keystore is not None:\n        _use_keystore(",
        "    if False:\n        _use_keystore(",
        (f"{PEERS}::test_a_controller_shows_the_certificate_of_its_first_listener",),
        "Controllers cannot reach each other where ssl.client.auth is required.",
    ),
    PlantedFault(
        "private-keys-are-written-in-clear",
        CONTEXTS,
        "BestAvailableEncryption(password.encode())\n",
        "__import__('cryptography').hazmat.primitives.serialization.NoEncryption()\n",
        (f"{STORES}::test_a_keystore_is_never_in_a_file_in_clear",),
        "A private key is on the disk for a moment.",
    ),
    PlantedFault(
        "errors-show-passwords",
        "protocol/kraftctl_security/prefixed_values.py",
        "Invalid value [hidden] for configuration",
        "Invalid value {self._values.text(self.name(key))} for configuration",
        (f"{CONFIG}::test_no_error_shows_a_secret",),
        "A start that is refused writes a password to the log.",
    ),
    PlantedFault(
        "a-handshake-may-take-any-time",
        TRANSPORT,
        "call_later(HANDSHAKE_SECONDS_MAX, self._expire)\n",
        "call_later(1e6, self._expire)\n",
        (f"{SSL}::test_a_handshake_that_is_not_finished_in_time_is_closed",),
        "Clients that only connect hold connections.",
    ),
    PlantedFault(
        "tokens-are-sent-in-the-clear",
        "kraftctl/controller/security/delegation_token_control.py",
        "    return context.listener in state.config.ssl and context.principal != ANONYMOUS\n",
        "    return context.principal != ANONYMOUS\n",
        ("tests/controller/test_delegation_tokens.py",),
        "The secret of a token crosses a PLAINTEXT listener.",
    ),
    PlantedFault(
        "any-number-of-handshakes-is-unfinished",
        "kraftctl/server/security/unfinished_handshakes.py",
        "        if self._count <= UNFINISHED_MAX:\n",
        "        if self._count:\n",
        (f"{SSL}::test_of_too_many_unfinished_handshakes_the_oldest_of_the_crowd_is_closed",),
        "Clients without a certificate fill the memory.",
    ),
    PlantedFault(
        "finished-handshakes-count-as-unfinished",
        "kraftctl/server/security/unfinished_handshakes.py",
        "            self._count -= 1\n",
        "",
        (f"{SSL}::test_of_too_many_unfinished_handshakes_the_oldest_of_the_crowd_is_closed",),
        "After a thousand connections, each new one closes another.",
    ),
    PlantedFault(
        "all-handshakes-in-one-turn",
        "kraftctl/server/security/handshake_turns.py",
        "            while self._order and self._clock.thread_ns() - began_ns < TURN_NS:\n",
        "            while self._order:\n",
        (f"{TURNS}::test_a_turn_has_as_many_steps_as_fit_into_it",),
        "A burst of clients delays the heartbeats of brokers by a second.",
    ),
    PlantedFault(
        "finite-fields-are-offered",
        "protocol/kraftctl_security/tls/openssl_settings.py",
        "    context.set_ecdh_curve(ONLY_GROUP)\n",
        "    return\n",
        (f"{GROUPS}::test_finite_fields_are_refused_without_work",),
        "One ClientHello takes a tenth of a second of the loop.",
    ),
    PlantedFault(
        "sessions-with-certificates-are-kept",
        CONTEXTS,
        "    keep_nothing_of_clients(context)\n",
        "",
        (f"{SHOWN}::test_no_session_is_kept",),
        "A thousand handshakes with long chains take all memory.",
    ),
    PlantedFault(
        "any-number-of-certificates-is-shown",
        "protocol/kraftctl_security/tls/shown_chain.py",
        "    if len(chain) > CERTIFICATES_MAX:\n",
        "    if len(chain) > 1_000:\n",
        (f"{SHOWN}::test_a_chain_has_ten_certificates_and_16_kilobytes_at_most",),
        "Each connection holds as many certificates as its client likes.",
    ),
    PlantedFault(
        "rules-are-applied-to-subjects-of-any-length",
        "protocol/kraftctl_security/tls/distinguished_name.py",
        "    if len(subject) > SUBJECT_BYTES_MAX:\n",
        "    if len(subject) > 1_000_000:\n",
        (f"{SHOWN}::test_a_subject_has_twenty_parts_and_a_kilobyte_at_most",),
        "A rule that backtracks takes seconds for a subject that its client chose.",
    ),
    PlantedFault(
        "records-without-data-are-not-counted",
        "protocol/kraftctl_security/tls/ssl_records.py",
        "        self._without_data += 1\n",
        "",
        (f"{RECORDS}::test_records_without_data_are_few",),
        "Changes of keys, ten thousand in a piece, take the loop for a quarter of a second.",
    ),
    PlantedFault(
        "each-look-names-a-readable-keystore",
        "kraftctl/server/security/ssl_reloading.py",
        "        if found is not None and found not in self._readable.values():\n",
        "        if found is not None:\n",
        ("tests/server/security/test_readable_keystores.py",),
        "The same line every two seconds, for months.",
    ),
    PlantedFault(
        "a-node-shows-any-number-of-certificates",
        "kraftctl/server/peers/peer_ssl.py",
        "            refuse_excessive_node(self._records.ssl)\n",
        "",
        (f"{NODES}::test_a_chain_is_as_short_as_that_of_a_client",),
        "What answers at the address of a controller fills the memory of the others.",
    ),
    PlantedFault(
        "a-byte-now-and-then-begins-the-timeout-again",
        "protocol/kraftctl_security/tls/ssl_socket.py",
        "            left_seconds = self._at - time.monotonic()\n",
        "            left_seconds = self._seconds\n",
        (f"{NODES}::test_a_timeout_is_that_of_the_whole_call",),
        "A tool or an exporter waits for ever for a node that sends a byte a second.",
    ),
    PlantedFault(
        "records-that-are-refused-cost-nothing",
        TRANSPORT,
        "        finally:\n            self._listener.turns.end_records(began_ns)\n",
        "        self._listener.turns.end_records(began_ns)\n",
        (f"{RECORDS}::test_a_flood_of_records_without_data_ends_the_connection",),
        "Forty connections with changes of keys are refused in one turn of 80 ms.",
    ),
    PlantedFault(
        "a-piece-of-records-is-read-in-one-turn",
        "protocol/kraftctl_security/tls/ssl_records.py",
        "        for _ in range(RECORDS_PER_TURN):\n",
        "        for _ in range(1_000_000):\n",
        (f"{RECORDS}::test_one_turn_reads_a_limited_number_of_records",),
        "Ten thousand records of a byte are read while heartbeats wait.",
    ),
    PlantedFault(
        "iterations-of-a-mac-are-not-bounded",
        DERIVATIONS,
        "            self._charge(_integer(inner[2]))\n",
        "            pass\n",
        (HOSTILE,),
        "A keystore that a dynamic config names holds a processor for minutes.",
    ),
    PlantedFault(
        "bytes-behind-a-part-hide-its-iterations",
        DERIVATIONS,
        "            found, _ = self.element(octets, 0, depth)\n",
        "            found, end = self.element(octets, 0, depth)\n"
        "            if end != len(octets):\n                return\n",
        (f"{HOSTILE}::test_iterations_are_found_wherever_openssl_finds_them",),
        "OpenSSL ignores bytes behind a part, and derives its key.",
    ),
    PlantedFault(
        "stores-are-read-without-a-limit-of-time",
        "protocol/kraftctl_security/tls/store_process.py",
        "        (resource.RLIMIT_CPU, limits.processor_seconds),\n",
        "",
        (f"{READER}::test_it_ends_beyond_its_limits",),
        "What is encrypted twice is opened for minutes.",
    ),
    PlantedFault(
        "dynamic-configs-change-whom-a-controller-trusts",
        "kraftctl/server/security/ssl_reloading.py",
        "            if dynamic is not None and not self._server.config.dynamic_trust:\n",
        "            if False:\n",
        (f"{RELOADING}::test_dynamic_configs_do_not_change_whom_a_controller_trusts",),
        "Who may alter configs connects as any controller.",
    ),
    PlantedFault(
        "a-truststore-is-accepted-into-the-log",
        "kraftctl/controller/configuration_control/node_configs.py",
        "    if config.dynamic_trust or not changes_trust(key):\n        return None\n    return (\n",
        "    if key:\n        return None\n    return (\n",
        (f"{CONFIGS}::test_nobody_changes_whom_a_controller_trusts_through_the_log",),
        "Its administrator believes that the controller uses it.",
    ),
    PlantedFault(
        "handshakes-in-the-order-of-arrival",
        "kraftctl/server/security/handshake_turns.py",
        "            taken_ns = self._time_ns + self._clock.thread_ns() - began_ns\n",
        "            taken_ns = self._time_ns\n",
        (f"{TURNS}::test_the_address_that_took_least_goes_first",),
        "A broker connects after all clients of a crowded address.",
    ),
    PlantedFault(
        "encrypted-answers-are-not-counted",
        TRANSPORT,
        "            self._connection.pause_writing()\n\n    def resume_writing",
        "            pass\n\n    def resume_writing",
        (f"{SSL}::test_answers_that_are_not_read_are_counted",),
        "Clients that never read hold any number of responses.",
    ),
    PlantedFault(
        "ssl-connections-are-cycles",
        TRANSPORT,
        "        connection, self._connection = self._connection, None",
        "        connection = self._connection",
        (f"{SSL}::test_a_closed_connection_is_freed_without_the_collector",),
        "The memory of closed connections is kept until the collector runs.",
    ),
    PlantedFault(
        "what-follows-the-handshake-is-forgotten",
        TRANSPORT,
        "            self._connection.pause_writing()\n        self._read()\n",
        "            self._connection.pause_writing()\n",
        (f"{SSL}::test_a_handshake_may_arrive_byte_by_byte",),
        "A request that is sent together with the end of the handshake is never answered.",
    ),
    PlantedFault(
        "certificates-without-ssl",
        "kraftctl/server/listeners/listener.py",
        "if TYPE_CHECKING:\n    from kraftctl_security.tls.contexts import Stores\n",
        "from kraftctl_security.tls.contexts import Stores\n",
        (
            "tests/cli/test_libraries_of_use.py::test_no_library_for_certificates_is_mapped",
            "tests/cli/test_libraries_of_use.py::test_no_module_of_tokens_and_certificates_is_imported_to_start",
        ),
        "A controller without SSL loads 8 MiB that it has no use for.",
    ),
)
