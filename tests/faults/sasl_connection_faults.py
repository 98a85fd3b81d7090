"""Planted faults in the authentication of connections by SASL: who is served, when, and what it may cost."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

CONNECTION = "kraftctl/server/security/sasl_connection.py"
EXCHANGE = "kraftctl/server/security/sasl_exchange.py"
LOOKUP = "kraftctl/server/security/credential_lookup.py"
COMMITTED = "kraftctl/controller/committed_credentials.py"
CONNECTIONS = "tests/server/security/test_sasl_connection.py"
EXCHANGES = "tests/server/security/test_sasl_exchange.py"
LOOKUPS = "tests/server/security/test_credential_lookup.py"

FAULTS = (
    PlantedFault(
        "requests-are-served-before-authentication",
        EXCHANGE,
        "        if api_key not in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE) or",
        "        if",
        (f"{EXCHANGES}::test_nothing_else_comes_before_authentication",),
        "Requests of clients that have not authenticated get past the first check.",
    ),
    PlantedFault(
        "a-failed-authentication-may-go-on",
        EXCHANGE,
        "        expects, self._expects = self._expects, _Expects.NOTHING\n",
        "        expects = self._expects\n",
        (f"{EXCHANGES}::test_a_failure_is_answered_with_its_text",),
        "A client tries passwords on one connection.",
    ),
    PlantedFault(
        "an-authenticated-client-stays-in-the-exchange",
        CONNECTION,
        "        self._exchange = None\n        self._session = session\n",
        "        self._session = session\n",
        (f"{CONNECTIONS}::test_a_client_is_served_under_the_name_by_which_it_has_authenticated",),
        "No client is served after authentication.",
    ),
    PlantedFault(
        "a-session-is-renewed-as-another-principal",
        EXCHANGE,
        "                self._require_same_principal(authenticated.principal)\n",
        "                pass\n",
        (f"{EXCHANGES}::test_a_session_is_not_renewed_by_another_principal",),
        "What was checked for one principal continues as another (KIP-368).",
    ),
    PlantedFault(
        "a-session-is-renewed-by-another-mechanism",
        EXCHANGE,
        "        if self._previous is not None and mechanism != self._previous.mechanism:\n",
        "        if self._previous is None and mechanism == self._mechanism + 'x':\n",
        (f"{EXCHANGES}::test_a_session_is_not_renewed_by_another_mechanism",),
        "KIP-368 forbids it.",
    ),
    PlantedFault(
        "a-session-outlives-its-credential",
        EXCHANGE,
        "            limits.append(max(0, authenticated.expires_at_ms - wall_ms))\n",
        "            pass\n",
        (f"{EXCHANGES}::test_how_long_a_session_lasts",),
        "The connection of an expired token is served for ever.",
    ),
    PlantedFault(
        "an-expired-session-is-served",
        CONNECTION,
        "        elif self._expires_at is not None and self._loop.time() > self._expires_at:\n",
        "        elif False:\n",
        (f"{CONNECTIONS}::test_a_session_that_has_expired_serves_nothing",),
        "connections.max.reauth.ms has no effect on clients that ignore it.",
    ),
    PlantedFault(
        "a-session-is-renewed-at-any-rate",
        CONNECTION,
        " or self._loop.time() - renewed_at >= REAUTHENTICATION_SECONDS_MIN\n",
        " or True\n",
        (f"{CONNECTIONS}::test_a_session_is_renewed",),
        "Kafka renews a session once a second at most: each time costs what an authentication costs.",
    ),
    PlantedFault(
        "requests-are-served-while-a-session-is-renewed",
        CONNECTION,
        "            self._begin_again()\n        if self._exchange is not None:\n",
        "            self._begin_again()\n        if self._session is None:\n",
        (CONNECTIONS,),
        "A renewal that fails has no consequence.",
    ),
    PlantedFault(
        "long-frames-before-authentication",
        CONNECTION,
        "        bytes_max = min(self._owner.max_frame_bytes, self._listener.receive_bytes_max)\n",
        "        bytes_max = self._owner.max_frame_bytes\n",
        (f"{CONNECTIONS}::test_frames_before_authentication_are_limited",),
        "Anybody makes the process hold frames of 100 MB (CVE-2022-34917).",
    ),
    PlantedFault(
        "authentication-without-a-deadline",
        CONNECTION,
        "        self._deadline = self._loop.call_later(AUTHENTICATION_SECONDS_MAX, self._expire)\n"
        "        crowded = self._listener",
        "        crowded = self._listener",
        (f"{CONNECTIONS}::test_who_is_not_authenticated_in_time_leaves",),
        "A thousand silent clients keep all others from authenticating.",
    ),
    PlantedFault(
        "unauthenticated-connections-without-limit",
        CONNECTION,
        '            crowded.leave("too many connections are not authenticated")\n',
        "            pass\n",
        (f"{CONNECTIONS}::test_the_oldest_of_the_most_crowded_address_leaves",),
        "Connections that never authenticate hold memory without limit.",
    ),
    PlantedFault(
        "tokens-are-evaluated-as-they-come",
        CONNECTION,
        "        self._listener.turns.wait(self.peer_host, self._evaluate)\n",
        "        self._evaluate()\n",
        (f"{CONNECTIONS}::test_tokens_of_addresses_are_evaluated_in_turn",),
        "One address keeps the loop busy with its tokens.",
    ),
    PlantedFault(
        "failures-are-answered-immediately",
        CONNECTION,
        "        seconds = self._listener.failure_seconds\n",
        "        seconds = 0.0\n",
        (f"{CONNECTIONS}::test_a_failure_is_answered_after_a_while",),
        "Passwords are guessed as fast as the network allows (connection.failed.authentication.delay.ms).",
    ),
    PlantedFault(
        "the-text-of-a-failing-mechanism-is-logged",
        CONNECTION,
        "self.peer, kind_of(error))",
        "self.peer, str(error))",
        (f"{CONNECTIONS}::test_a_failing_mechanism_ends_one_connection",),
        "A token that a bug stumbles over is in the log.",
    ),
    PlantedFault(
        "users-that-are-not-committed",
        COMMITTED,
        "        return controller.image.journal.value_at(end_offset, entries, key, current)\n",
        "        return current\n",
        (f"{LOOKUPS}::test_only_what_is_committed_counts",),
        "A user gets in whose creation is undone a moment later, or one is refused who still exists.",
    ),
    PlantedFault(
        "users-are-refused-before-the-log-is-read",
        LOOKUP,
        "        if not self._committed.is_loaded:\n",
        "        if False:\n",
        (f"{LOOKUPS}::test_nobody_is_refused_before_the_log_is_read",),
        "Each broker whose controller restarts ends with SASL_AUTHENTICATION_FAILED.",
    ),
    PlantedFault(
        "all-listeners-start-early",
        "kraftctl/server/listeners/listener.py",
        "            listener.accept(handler, is_late=listener in late)\n",
        "            listener.accept(handler)\n",
        ("tests/server/listeners/test_early_start.py",),
        "Clients of a listener that is not in early.start.listeners are served before the ACLs are loaded.",
    ),
    PlantedFault(
        "a-certificate-names-a-client-of-sasl",
        "kraftctl/server/listeners/listener.py",
        'config.principal_mapper if endpoint.security_protocol == "SSL" else None',
        "config.principal_mapper",
        (
            "tests/server/security/test_sasl_mechanisms.py::test_over_ssl_the_certificate_is_verified_and_the_user_is_named",
        ),
        "A client whose certificate no rule names is refused, although SASL names it (KIP-684).",
    ),
    PlantedFault(
        "certificates-are-asked-for-without-the-prefix",
        "protocol/kraftctl_security/tls/ssl_config.py",
        "        config.client_auth = CLIENT_AUTH_NONE\n",
        "        pass\n",
        (
            "tests/test_config.py::test_over_ssl_sasl_asks_for_a_certificate_only_with_the_prefix_of_the_listener",
        ),
        "Clients with SASL_SSL that Kafka's controllers serve are refused.",
    ),
    PlantedFault(
        "a-missing-right-of-the-controller-is-not-said",
        "kraftctl/server/security/peer_authorization_check.py",
        "    if not authorizer.allows_on_cluster(context, AclOperation.CLUSTER_ACTION):\n",
        "    if False:\n",
        ("tests/server/security/test_peer_authorization_check.py::test_what_is_said",),
        "A quorum does not form, and no log says which right is missing.",
    ),
    PlantedFault(
        "tokens-are-created-for-clients-of-sasl-only-over-ssl",
        "kraftctl/controller/security/delegation_token_control.py",
        "    if context.envelope or context.listener in state.config.sasl:\n",
        "    if context.envelope:\n",
        ("tests/controller/test_delegation_tokens.py::test_a_direct_request_needs_an_authenticated_client",),
        "Kafka's controllers serve them.",
    ),
    PlantedFault(
        "clients-write-lines-of-the-log",
        CONNECTION,
        "what, self.peer, plain_text(reason))",
        "what, self.peer, reason)",
        (f"{CONNECTIONS}::test_a_failure_is_one_line_of_the_log",),
        "A line says that a user has authenticated who has not.",
    ),
    PlantedFault(
        "an-unfinished-exchange-authenticates",
        EXCHANGE,
        "        if authenticated is None:\n            self._expects = expects\n",
        '        authenticated = authenticated or Authenticated(KafkaPrincipal("", ""))\n        if False:\n',
        ("tests/server/security/test_sasl_exchange_random.py",),
        "A client is authenticated by its first message.",
    ),
    PlantedFault(
        "expired-tokens-authenticate",
        COMMITTED,
        "        return None if token.expires_at_ms <= wall_ms else token\n",
        "        return token\n",
        (f"{LOOKUPS}::test_tokens_that_have_expired_or_do_not_exist_are_unknown",),
        "A token is valid until the next sweep removes it, an hour.",
    ),
    PlantedFault(
        "tokens-create-tokens",
        LOOKUP,
        "        principal = KafkaPrincipal(owner.type, owner.name, token_authenticated=True)\n",
        "        principal = KafkaPrincipal(owner.type, owner.name)\n",
        (f"{LOOKUPS}::test_the_password_of_a_token_is_its_hmac_in_base64",),
        "Who has a token makes itself others, without end (KIP-48).",
    ),
)
