"""Planted faults in connections that kraftctl opens: to whom it speaks, and what it shows of its secrets."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

BLOCKING = "tests/clients/test_blocking_connection.py"
EXCHANGE = "tests/clients/test_sasl_exchange.py"
CLIENT = "tests/clients/test_client_config.py"
FACTORY_FILE = "protocol/kraftctl_security/sasl/sasl_client_factory.py"
EXPORTER = "tests/spark/test_client_config.py"
PEERS = "tests/server/peers/test_sasl_peers.py"
SSL_PEERS = "tests/server/peers/test_ssl_peers.py"
CONNECTING_FILE = "kraftctl/server/peers/connecting.py"
PEERS_FILE = "kraftctl/server/peers/peers.py"
CONNECTION_FILE = "protocol/kraftctl_security/blocking_connection.py"
ATTEMPT_FILE = "protocol/kraftctl_security/blocking_attempt.py"
EXCHANGE_FILE = "protocol/kraftctl_security/sasl/client_exchange.py"
EXPORTER_FILE = "spark/kraftctl_spark/log/client_config.py"

FAULTS = (
    PlantedFault(
        "a-blocking-client-checks-no-host-name",
        ATTEMPT_FILE,
        "        self.missing = NOT_ENCRYPTED\n",
        "        self.missing = NOT_ENCRYPTED\n        self._context.check_hostname = False\n",
        (f"{BLOCKING}::test_what_ssl_does_not_accept_names_the_key",),
        "Any holder of a certificate of the authority is taken for the controller.",
    ),
    PlantedFault(
        "a-server-may-end-sasl-before-its-proof",
        EXCHANGE_FILE,
        "        return None if client.is_complete else self._token(client, challenge)\n",
        "        return None\n",
        (f"{EXCHANGE}::test_what_is_not_accepted_names_the_key",),
        "A server that does not know the password of a SCRAM user is taken for the controller.",
    ),
    PlantedFault(
        "a-password-counts-as-accepted-when-it-is-sent",
        EXCHANGE_FILE,
        "        if error != Errors.NONE:\n            reason",
        "        if error == Errors.ILLEGAL_SASL_STATE:\n            reason",
        (f"{EXCHANGE}::test_a_mechanism_that_has_sent_all_waits_for_the_answer",),
        "A wrong password is noticed only when the connection is closed, without a reason.",
    ),
    PlantedFault(
        "a-session-is-not-renewed",
        CONNECTION_FILE,
        "        if self._renew_at is not None and time.monotonic() >= self._renew_at:\n",
        "        if self._renew_at is None:\n",
        (f"{BLOCKING}::test_sasl_over_ssl_precedes_requests_and_is_repeated_before_the_session_ends",),
        "KIP-368: the connection is closed when the session expires.",
    ),
    PlantedFault(
        "sasl-ssl-is-not-encrypted",
        "protocol/kraftctl_security/client_config.py",
        "    ssl_context = _ssl_context(values) if protocol.upper() in (SSL, SASL_SSL) else None\n",
        "    ssl_context = _ssl_context(values) if protocol.upper() == SSL else None\n",
        (f"{CLIENT}::test_what_a_protocol_uses",),
        "Passwords of PLAIN are sent in clear.",
    ),
    PlantedFault(
        "a-nonce-is-used-for-all-connections",
        FACTORY_FILE,
        "    return lambda: ScramClient(\n"
        "        number, name, password, nonce=secrets.token_urlsafe(NONCE_BYTES), token_auth=token_auth\n",
        "    nonce = secrets.token_urlsafe(NONCE_BYTES)\n"
        "    return lambda: ScramClient(\n"
        "        number, name, password, nonce=nonce, token_auth=token_auth\n",
        (f"{CLIENT}::test_scram_sends_another_nonce_each_time",),
        "RFC 5802: what was recorded of one authentication proves the server in the next.",
    ),
    PlantedFault(
        "a-mistake-in-a-jaas-file-is-shown",
        "protocol/kraftctl_security/sasl/jaas_file.py",
        "        raise ConfigException([str(error)]) from None\n",
        '        raise ConfigException([f"{error} in {Path(file).read_text()}"]) from None\n',
        (f"{CLIENT}::test_a_jaas_file_replaces_the_key",),
        "A password stands in the error.",
    ),
    PlantedFault(
        "spark-options-carry-the-file-of-the-client",
        "spark/kraftctl_spark/log/log_location.py",
        '            options["commandConfig"] = str(self.client.command_config)\n',
        '            options["commandConfig"] = self.client.command_config.read_text()\n',
        (f"{EXPORTER}::test_spark_gets_the_name_of_the_file_and_nothing_in_it",),
        "Passwords stand in Spark's plans and logs.",
    ),
    PlantedFault(
        "a-refused-key-is-shown-with-its-value",
        EXPORTER_FILE,
        'f"{key} is not used with',
        'f"{key}={values.text(key)} is not used with',
        (f"{EXPORTER}::test_what_a_file_may_not_have",),
        "A password stands in the log of the job.",
    ),
    PlantedFault(
        "keys-of-ssl-are-ignored-without-the-protocol",
        EXPORTER_FILE,
        "        _check_all_are_used(values)\n",
        "",
        (f"{EXPORTER}::test_what_a_file_may_not_have",),
        "A job that its operator believes to be encrypted is not.",
    ),
    PlantedFault(
        "a-controller-that-refuses-a-password-counts-as-dead",
        PEERS_FILE,
        "            return ResponseReceived(send_id, None, refused=isinstance(error, RefusedError))\n",
        "            return ResponseReceived(send_id, None, refused=not isinstance(error, TimeoutError))\n",
        (f"{PEERS}::test_a_wrong_password_is_named_with_the_next_step_and_not_taken_for_a_dead_node",),
        "KIP-996: followers begin elections again and again while the leader lives.",
    ),
    PlantedFault(
        "a-connection-closed-after-its-handshake-counts-as-refused",
        CONNECTING_FILE,
        "            if self._context is None and isinstance(error, ConnectionError | EOFError):\n",
        "            if isinstance(error, ConnectionError | EOFError):\n",
        (f"{SSL_PEERS}::test_a_connection_that_is_closed_after_the_handshake_is_not_refused",),
        "A leader that does not accept a certificate is taken for a dead one.",
    ),
    PlantedFault(
        "controllers-do-not-renew-their-sessions",
        PEERS_FILE,
        "            if new_sasl_client is not None and self._connection.is_to_be_renewed():\n",
        "            if new_sasl_client is not None and not self._connection.is_open():\n",
        (f"{PEERS}::test_a_session_is_renewed_before_the_request_that_follows_its_end",),
        "KIP-368: each session ends with a closed connection, which delays a Fetch.",
    ),
    PlantedFault(
        "a-mechanism-runs-on-the-loop",
        PEERS_FILE,
        "        while (payload := await call_detached(partial(exchange.advance, answer))) is not None:\n",
        "        while (payload := exchange.advance(answer)) is not None:\n",
        (f"{PEERS}::test_a_mechanism_that_computes_does_not_stop_the_loop",),
        "A token server that does not answer stops the controller.",
    ),
    PlantedFault(
        "a-refused-password-is-logged-after-a-success-only",
        PEERS_FILE,
        "        if isinstance(error, AuthenticationFailedError):\n            self._warn(error)\n",
        "        if isinstance(error, AuthenticationFailedError) and self._failures == 0:\n"
        "            self._warn(error)\n",
        (f"{PEERS}::test_a_wrong_password_is_named_with_the_next_step_and_not_taken_for_a_dead_node",),
        "A node that starts before the others is never said to have a wrong password.",
    ),
    PlantedFault(
        "the-end-of-the-time-hides-the-reason",
        "protocol/kraftctl_admin/admin_client.py",
        "        if not (is_cut_short and endpoint in self._problems):\n",
        "        if True:\n",
        ("tests/cli/test_admin_client.py::test_the_end_of_the_time_does_not_hide_an_earlier_reason",),
        "An operator whose security.protocol is wrong reads of a timeout.",
    ),
    PlantedFault(
        "dripping-bytes-prolong-a-timeout",
        CONNECTION_FILE,
        "            while True:\n                self._wait_until(deadline)\n",
        "            while True:\n",
        (f"{BLOCKING}::test_a_node_that_drips_bytes_does_not_prolong_the_timeout",),
        "A node that sends a byte now and then holds a client for ever.",
    ),
    PlantedFault(
        "connections-to-former-addresses-stay",
        PEERS_FILE,
        "            if len(self._destinations) < DESTINATIONS_MAX:\n",
        "            if self._destinations:\n",
        (
            "tests/server/peers/test_peers.py::test_addresses_that_are_used_no_more_are_forgotten_with_their_connections",
        ),
        "A controller that moves leaves a connection at each of its addresses.",
    ),
    PlantedFault(
        "requests-under-way-are-forgotten",
        PEERS_FILE,
        "            if destination.is_idle():\n",
        "            if destination:\n",
        ("tests/server/peers/test_peers.py::test_an_address_with_a_request_under_way_is_not_forgotten",),
        "A request is never answered, and the node waits for it.",
    ),
)
