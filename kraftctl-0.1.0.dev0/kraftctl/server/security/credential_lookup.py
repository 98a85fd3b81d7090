"""Finds the users of SCRAM and the delegation tokens that a listener knows in the metadata log."""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from kraftctl.controller.committed_credentials import CommittedCredentials
from kraftctl_protocol.principal import KafkaPrincipal, parse_principal
from kraftctl_protocol.scram import ITERATIONS_MIN, ScramCredential, credential, salt_password
from kraftctl_security.sasl.scram_salts import Examples, derived_salt

DERIVED_MAX: Final = 1_000
"""The number of derived credentials of tokens that are kept: deriving one takes milliseconds."""


class CredentialsUnavailableError(Exception):
    """The metadata log is not read yet, so no client is refused: its connection is closed, and it retries."""


class TokenCredential:
    """A delegation token as a user of SCRAM."""

    def __init__(self, credential: ScramCredential, owner: KafkaPrincipal, expires_at_ms: int) -> None:
        self.credential = credential
        self.owner = owner
        self.expires_at_ms = expires_at_ms


class CredentialLookup:
    """Finds credentials; mechanisms are numbers, as in the log. Raises CredentialsUnavailableError
    before the log is read.
    """

    def __init__(
        self,
        committed: CommittedCredentials,
        wall_ms: Callable[[], int],
        unknown_secret: bytes,
    ) -> None:
        self.unknown_secret = unknown_secret
        self._committed = committed
        self._wall_ms = wall_ms
        self._derived: OrderedDict[tuple[int, str], ScramCredential] = OrderedDict()

    def examples(self, mechanism: int) -> Examples:
        """Returns some users of the log."""
        return self._committed.some_scram_credentials(mechanism)

    def user(self, mechanism: int, name: str) -> ScramCredential | None:
        """Returns the credential that the log has of a user's password."""
        self._require_loaded()
        return self._committed.scram_credential(mechanism, name)

    def token(self, mechanism: int, token_id: str) -> TokenCredential | None:
        """Returns a token that has not expired. As in Kafka, its password is its HMAC in base64."""
        self._require_loaded()
        token = self._committed.token(token_id, self._wall_ms())
        if token is None:
            return None
        owner = parse_principal(token.owner)
        principal = KafkaPrincipal(owner.type, owner.name, token_authenticated=True)
        return TokenCredential(self._credential_of(mechanism, token_id), principal, token.expires_at_ms)

    def _require_loaded(self) -> None:
        if not self._committed.is_loaded:
            raise CredentialsUnavailableError(
                "this controller has not read the metadata log yet, where users and tokens are. Next step:"
                " wait until controllers form a quorum; those by which they do belong into the local file"
            )

    def _credential_of(self, mechanism: int, token_id: str) -> ScramCredential:
        key = (mechanism, token_id)
        found = self._derived.pop(key, None) or self._derive(mechanism, token_id)
        self._derived[key] = found
        if len(self._derived) > DERIVED_MAX:
            self._derived.popitem(last=False)
        return found

    def _derive(self, mechanism: int, token_id: str) -> ScramCredential:
        password = base64.b64encode(self._committed.token_hmac(token_id))
        salt = derived_salt(self.unknown_secret, mechanism, token_id, token_auth=True)
        salted = salt_password(mechanism, password, salt, ITERATIONS_MIN)
        return credential(mechanism, salt=salt, salted_password=salted, iterations=ITERATIONS_MIN)
