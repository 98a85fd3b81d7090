"""Planted faults in the mechanisms of SASL: who proves what, and what a JAAS entry may name."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

SASL = "protocol/kraftctl_security/sasl/"
SERVER = f"{SASL}scram_server.py"
CLIENT = f"{SASL}scram_client.py"
PLAIN = f"{SASL}plain.py"
SCRAMS = "tests/sasl/test_scram.py"
PLAINS = "tests/sasl/test_plain.py"
CONFIGS = "tests/sasl/test_sasl_config.py"

FAULTS = (
    PlantedFault(
        "a-nonce-of-another-authentication-is-accepted",
        SERVER,
        "        if not hmac.compare_digest(final.nonce, self._nonce):\n",
        "        if False:\n",
        (f"{SCRAMS}::test_a_recorded_last_message_is_refused",),
        "CVE-2024-56128: RFC 5802 demands that the server compares the nonce.",
    ),
    PlantedFault(
        "scram-users-act-in-the-name-of-others",
        SERVER,
        "        if first.authorization_id and not first",
        "        if False and not first",
        (f"{SCRAMS}::test_no_client_acts_in_the_name_of_another_user",),
        "CVE-2017-12610: an authorization id that is not the user's.",
    ),
    PlantedFault(
        "the-channel-binding-is-not-compared",
        SERVER,
        "        if final.channel_binding != first.gs2_header.encode():\n",
        "        if False:\n",
        (f"{SCRAMS}::test_a_last_message_that_was_changed_is_refused",),
        "The header of the first message is not signed, and may be changed on its way.",
    ),
    PlantedFault(
        "any-proof-is-a-proof",
        SERVER,
        "return hmac.compare_digest(hashlib.new(self._hash, client_key).digest(), credential.stored_key)\n",
        "return True\n",
        (f"{SCRAMS}::test_all_others_are_refused_at_the_end_in_the_same_words",),
        "Who knows the name of a user needs no password.",
    ),
    PlantedFault(
        "expired-delegation-tokens-authenticate",
        SERVER,
        "        if self._expires_at_ms is not None and self._expires_at_ms <= wall_ms:\n",
        "        if False:\n",
        (f"{SCRAMS}::test_a_token_that_expires_meanwhile_is_refused",),
        "A delegation token is used after the end of its life.",
    ),
    PlantedFault(
        "credentials-with-few-iterations-are-used",
        SERVER,
        "        if credential.iterations < ITERATIONS_MIN:\n",
        "        if False:\n",
        (f"{SCRAMS}::test_a_credential_with_few_iterations_is_not_used",),
        "What is sent can be compared with guessed passwords quickly.",
    ),
    PlantedFault(
        "unknown-users-are-refused-earlier",
        SERVER,
        "        credential = self._look_up(first) or unknown\n",
        "        credential = self._look_up(first)\n"
        '        if credential is None:\n            raise self._refused("unknown")\n',
        (f"{SCRAMS}::test_all_others_are_refused_at_the_end_in_the_same_words",),
        "A client without a password learns which users exist.",
    ),
    PlantedFault(
        "unknown-users-have-a-new-salt-each-time",
        SERVER,
        '    key = hmac.digest(secret, f"{mechanism} {name}".encode(), hash_name)\n',
        "    key = __import__('os').urandom(64)\n",
        (f"{SCRAMS}::test_an_unknown_user_gets_the_same_salt_each_time_and_no_other_user_gets_it",),
        "A client that asks twice learns which users exist.",
    ),
    PlantedFault(
        "ids-of-tokens-are-looked-up-as-users",
        SERVER,
        "        if not first.token_auth:\n",
        "        if True:\n",
        (f"{SCRAMS}::test_a_token_authenticates_its_owner",),
        "No delegation token authenticates.",
    ),
    PlantedFault(
        "who-has-a-token-may-create-tokens",
        SERVER,
        "token.owner.name, token_authenticated=True)",
        "token.owner.name)",
        (f"{SCRAMS}::test_a_token_authenticates_its_owner",),
        "KIP-48: a token that was stolen is replaced by others before it expires.",
    ),
    PlantedFault(
        "a-refused-exchange-begins-again",
        SERVER,
        "        self._answer = self._answer_nothing\n        return answer(token, wall_ms)\n",
        "        return answer(token, wall_ms)\n",
        (f"{SCRAMS}::test_nothing_is_answered_after_a_refusal",),
        "A client tries passwords in one authentication.",
    ),
    PlantedFault(
        "clients-accept-any-nonce",
        CLIENT,
        "        if not first.nonce.startswith(self._nonce) or first.nonce == self._nonce:\n",
        "        if False:\n",
        (f"{SCRAMS}::test_a_client_does_not_answer_every_challenge",),
        "A client proves its password to what was recorded.",
    ),
    PlantedFault(
        "clients-accept-any-number-of-iterations",
        CLIENT,
        "        if not ITERATIONS_MIN <= first.iterations <= ITERATIONS_MAX:\n",
        "        if False:\n",
        (f"{SCRAMS}::test_a_client_does_not_answer_every_challenge",),
        "A false server gets a proof that is guessed quickly, or keeps the loop busy.",
    ),
    PlantedFault(
        "servers-need-not-prove-anything",
        CLIENT,
        "        if not hmac.compare_digest(parse_server_final(challenge), self._server_signature):\n",
        "        if not parse_server_final(challenge):\n",
        (f"{SCRAMS}::test_a_client_does_not_trust_a_server_that_does_not_know_the_user",),
        "A client trusts a server that does not know the user.",
    ),
    PlantedFault(
        "escapes-are-escaped",
        f"{SASL}scram_messages.py",
        '    return name.replace("=", "=3D").replace(",", "=2C")\n',
        '    return name.replace(",", "=2C").replace("=", "=3D")\n',
        (f"{SCRAMS}::test_a_user_with_the_password_is_authenticated",),
        "Users with a comma in their names cannot authenticate.",
    ),
    PlantedFault(
        "plain-users-act-in-the-name-of-others",
        PLAIN,
        '        if authorization_id not in ("", name):\n',
        "        if False:\n",
        (f"{PLAINS}::test_all_others_are_refused",),
        "CVE-2017-12610: an authorization id that is not the user's.",
    ),
    PlantedFault(
        "unknown-users-of-plain-are-accepted",
        PLAIN,
        "self._digests.get(name, self._unknown)",
        "self._digests.get(name, _digest(password))",
        (f"{PLAINS}::test_all_others_are_refused",),
        "Any name that is not configured is accepted with any password.",
    ),
    PlantedFault(
        "options-are-users-of-plain",
        PLAIN,
        "            if name.startswith(USER_PREFIX)\n",
        "",
        (f"{PLAINS}::test_all_others_are_refused",),
        "The name of this node's own user is the password of a user `username`.",
    ),
    PlantedFault(
        "any-login-module-is-accepted",
        f"{SASL}jaas.py",
        "    if entry.login_module not in LOGIN_MODULES:\n",
        "    if False:\n",
        (CONFIGS,),
        "An operator relies on a login module that is not loaded.",
    ),
    PlantedFault(
        "errors-of-jaas-show-options",
        f"{SASL}jaas.py",
        'f"option {number} has no value: expected',
        'f"option {key.text} has no value: expected',
        (f"{CONFIGS}::test_what_is_wrong_is_named",),
        "A start that is refused writes a part of a password to the log.",
    ),
    PlantedFault(
        "java-classes-are-ignored",
        f"{SASL}java_classes.py",
        "    if name and name not in allowed:\n",
        "    if False:\n",
        (CONFIGS,),
        "Passwords that a class in Java would check are not checked by it.",
    ),
    PlantedFault(
        "the-general-section-precedes-that-of-a-listener",
        f"{SASL}sasl_config.py",
        '    sections = (f"{listener.lower()}.{SERVER_SECTION}", SERVER_SECTION)\n',
        '    sections = (SERVER_SECTION, f"{listener.lower()}.{SERVER_SECTION}")\n',
        (f"{CONFIGS}::test_a_section_of_the_listener_precedes_that_of_all_listeners",),
        "Users of one listener are accepted by another.",
    ),
)
