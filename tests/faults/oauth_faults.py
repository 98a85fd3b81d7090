"""Planted faults in OAUTHBEARER: whose tokens are accepted, for how long, and who is asked for keys."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

TOKENS = "tests/security/sasl/oauthbearer/test_jwt_validator.py"
EXCHANGE = "tests/security/sasl/oauthbearer/test_oauthbearer_exchange.py"
KEYS = "tests/security/sasl/oauthbearer/test_jwks_endpoint.py"
CONFIG = "tests/security/sasl/oauthbearer/test_oauthbearer_config.py"
LOGIN = "tests/security/sasl/oauthbearer/test_token_login.py"
PACKAGE = "protocol/kraftctl_security/sasl/oauthbearer"
VALIDATOR = f"{PACKAGE}/jwt_validator.py"
SERVER = f"{PACKAGE}/oauthbearer_server.py"
ENDPOINT = "protocol/kraftctl_security/issuer/jwks_endpoint.py"

FAULTS = (
    PlantedFault(
        "tokens-without-a-signature",
        VALIDATOR,
        "        key, algorithm = self._key_of(token)\n",
        '        if _header(token).get("alg") == "none":\n'
        '            claims = base64.urlsafe_b64decode(token.split(".")[1] + "==")\n'
        "            return token_of_claims(\n"
        '                parse_json_object(claims), scope_claim_name="scope", sub_claim_name="sub"\n'
        "            )\n"
        "        key, algorithm = self._key_of(token)\n",
        (f"{TOKENS}::test_refused_tokens",),
        "Any client writes tokens: the algorithm `none` is accepted.",
    ),
    PlantedFault(
        "signatures-are-not-verified",
        VALIDATOR,
        "algorithms=[algorithm])[",
        'algorithms=[algorithm], options={"verify_signature": False})[',
        (f"{TOKENS}::test_refused_tokens",),
        "Any client writes tokens, with the id of a key of the issuer.",
    ),
    PlantedFault(
        "tokens-for-others",
        VALIDATOR,
        "        check_audience(claims, self._config.expected_audiences)\n",
        "",
        (f"{TOKENS}::test_refused_tokens",),
        "A token that a mail server was given opens the controllers.",
    ),
    PlantedFault(
        "tokens-of-any-issuer",
        VALIDATOR,
        "        check_issuer(claims, self._config.expected_issuer)\n",
        "",
        (f"{TOKENS}::test_refused_tokens",),
        "A tenant of an identity provider with shared keys is accepted as another.",
    ),
    PlantedFault(
        "expired-tokens",
        f"{PACKAGE}/claims.py",
        "    if now - clock_skew_seconds >= expires_at:\n",
        "    if False:\n",
        (f"{TOKENS}::test_refused_tokens",),
        "A token that has leaked is valid for ever.",
    ),
    PlantedFault(
        "key-ids-are-ignored",
        f"{PACKAGE}/verification_keys.py",
        "            and (key_id is None or self.id == key_id)\n",
        "",
        (f"{TOKENS}::test_refused_tokens",),
        "Tokens are verified with keys that their issuer has not named, and rotated keys are not read.",
    ),
    PlantedFault(
        "keys-come-from-the-token",
        VALIDATOR,
        "            found = keys.select(header, algorithm)\n",
        "            found = keys.select(header, algorithm)\n"
        '            if "jwk" in header:\n'
        '                found = VerificationKey(header["jwk"])\n',
        (f"{TOKENS}::test_refused_tokens",),
        "A client signs tokens with a key of its own, and sends it along.",
    ),
    PlantedFault(
        "keys-for-encryption-verify-signatures",
        f"{PACKAGE}/verification_keys.py",
        '            and self.use in (None, "sig")\n',
        "",
        (f"{TOKENS}::test_a_token_without_key_id_is_verified_with_the_key_of_its_type",),
        "A key that others hold for another purpose signs tokens.",
    ),
    PlantedFault(
        "a-client-chooses-its-name",
        SERVER,
        '        if response.authorization_id not in ("", found.principal_name):\n',
        "        found.principal_name = response.authorization_id or found.principal_name\n"
        "        if False:\n",
        (f"{EXCHANGE}::test_the_authorization_id_has_to_be_the_name_in_the_token",),
        "Any valid token opens the account of an administrator.",
    ),
    PlantedFault(
        "a-second-token-after-an-error",
        SERVER,
        "        if self._refused_for is not None:\n",
        "        if False:\n",
        (f"{EXCHANGE}::test_no_second_token_is_accepted_after_an_error",),
        "One connection tries any number of tokens.",
    ),
    PlantedFault(
        "sessions-never-end",
        SERVER,
        "        self.authenticated = Authenticated(principal, expires_at_ms=found.expires_at_ms)\n",
        "        self.authenticated = Authenticated(principal)\n",
        (f"{EXCHANGE}::test_a_client_with_a_token_is_authenticated_until_it_expires",),
        "A connection outlives its token without authenticating again.",
    ),
    PlantedFault(
        "any-url-is-read",
        f"{PACKAGE}/issuer_url.py",
        "    if text not in allowed:\n",
        "    if False:\n",
        (f"{CONFIG}::test_what_a_listener_is_refused_for",),
        "Who writes one key of the configuration reads files and hosts of the controller (CVE-2025-27817).",
    ),
    PlantedFault(
        "the-issuer-shows-no-certificate",
        "protocol/kraftctl_security/issuer/https_exchange.py",
        "            context=client_context(ssl_config),\n",
        '            context=__import__("ssl")._create_unverified_context(),\n',
        (f"{KEYS}::test_an_issuer_with_another_name_is_not_asked",),
        "Who is between controller and issuer sends keys of their own, and learns the secrets of clients.",
    ),
    PlantedFault(
        "every-unknown-key-asks-the-issuer",
        ENDPOINT,
        "        return min(regular_ms, EARLY_REFRESH_MS_MIN) if self._early else regular_ms\n",
        "        return 0 if self._early else regular_ms\n",
        (f"{KEYS}::test_a_rotated_key_is_read_early_but_not_for_each_token",),
        "Clients without a token load the issuer through the controllers.",
    ),
    PlantedFault(
        "a-damaged-certificate-ends-the-thread-of-keys",
        f"{PACKAGE}/verification_keys.py",
        "    except (ValueError, UnsupportedAlgorithm) as error:\n",
        "    except UnsupportedAlgorithm as error:\n",
        ("tests/security/sasl/oauthbearer/test_damaged_tokens.py::test_keys_are_read_or_refused",),
        "Keys are never read again, and after the next rotation no client can connect.",
    ),
    PlantedFault(
        "rotated-keys-wait-for-the-interval",
        ENDPOINT,
        "            self._early = True\n            self._wake.set()\n",
        "            self._early = False\n",
        (f"{KEYS}::test_a_rotated_key_is_read_early_but_not_for_each_token",),
        "After the issuer has rotated its keys, no client can connect for an hour.",
    ),
    PlantedFault(
        "keys-are-forgotten-when-the-issuer-fails",
        ENDPOINT,
        "        self._failure = reason\n        self._version",
        "        self._failure = reason\n        self._keys = None\n        self._version",
        (f"{KEYS}::test_a_controller_starts_before_its_issuer",),
        "Brokers lose their controllers while the issuer is not there.",
    ),
    PlantedFault(
        "each-connection-asks-for-a-token",
        "protocol/kraftctl_security/client_mechanisms.py",
        "        login = _logins.get(key)\n",
        "        login = None\n",
        ("tests/clients/test_client_mechanisms.py::test_connections_of_one_configuration_share_a_token",),
        "The exporter asks the issuer for a token, and starts a thread, for each task.",
    ),
    PlantedFault(
        "tokens-are-not-replaced",
        "protocol/kraftctl_security/issuer/token_login.py",
        "            self._closing.wait(min(self._pause_ms() / 1_000, threading.TIMEOUT_MAX))\n",
        "            self._closing.wait()\n",
        (f"{LOGIN}::test_a_token_is_replaced_before_it_expires",),
        "Controllers lose each other when their first tokens expire.",
    ),
)
