"""Planted faults in SSL: who gets in, under which name, and what a handshake may cost."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

SSL = "tests/server/security/test_ssl.py"
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
        "        for _ in range(HANDSHAKES_PER_TURN):\n",
        "        for _ in range(1_000):\n",
        (f"{SSL}::test_handshakes_take_turns",),
        "A burst of clients delays the heartbeats of brokers by a second.",
    ),
    PlantedFault(
        "handshakes-in-the-order-of-arrival",
        "kraftctl/server/security/handshake_turns.py",
        "            self._waiting[address] = steps  # behind the others\n",
        "            self._waiting = {address: steps, **self._waiting}\n",
        (f"{SSL}::test_handshakes_take_turns",),
        "A broker connects after all clients of a crowded address.",
    ),
    PlantedFault(
        "encrypted-answers-are-not-counted",
        TRANSPORT,
        "            self._connection.pause_writing()\n\n    def resume_writing",
        "            pass\n\n    def resume_writing",
        (f"{SSL}::test_answers_that_are_not_read_are_counted",),
        "Clients that never read hold any number of answers.",
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
