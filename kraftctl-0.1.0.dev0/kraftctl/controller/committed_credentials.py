"""The credentials in the metadata log by which clients of this node authenticate: SCRAM (KIP-900) and
tokens.

Only what is committed counts: a user that the leader is creating could still be undone.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, cast

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.security.delegation_token_control import token_hmac
from kraftctl.image.delegation_tokens_image import DelegationToken
from kraftctl.image.undo_journal import MISSING
from kraftctl_protocol.scram import ScramCredential

EXAMPLES_MAX: Final = 32
"""The number of users that one unknown user is compared with, for each authentication."""


class CommittedCredentials:
    """Credentials to read between two steps of the node. Empty before `is_loaded`."""

    def __init__(self, controller: QuorumController) -> None:
        self._controller = controller

    @property
    def is_loaded(self) -> bool:
        """Whether everything that was committed when this process started is known."""
        return self._controller.state.metadata_loaded

    def scram_credential(self, mechanism: int, user: str) -> ScramCredential | None:
        """Returns the user's credential for a mechanism, by the number that it has in the log."""
        entries = self._controller.image.scram.credentials
        value = self._committed(entries, (mechanism, user), entries.get((mechanism, user), MISSING))
        return None if value is MISSING else cast(ScramCredential, value)

    def some_scram_credentials(self, mechanism: int) -> dict[str, ScramCredential]:
        """Returns credentials of the oldest users. One that is not committed yet may be among them."""
        oldest = islice(self._controller.image.scram.credentials.items(), EXAMPLES_MAX)
        return {user: each for (of_mechanism, user), each in oldest if of_mechanism == mechanism}

    def token(self, token_id: str, wall_ms: int) -> DelegationToken | None:
        """Returns a token that has not expired; None where tokens are switched off."""
        if self._controller.state.config.delegation_token_secret_key is None:
            return None
        entries = self._controller.image.delegation_tokens.tokens
        value = self._committed(entries, token_id, entries.get(token_id, MISSING))
        if value is MISSING:
            return None
        token = cast(DelegationToken, value)
        return None if token.expires_at_ms <= wall_ms else token

    def token_hmac(self, token_id: str) -> bytes:
        """Returns the secret of a token that `token` has returned."""
        return token_hmac(self._controller.state, token_id)

    def _committed(self, entries: object, key: object, current: object) -> object:
        controller = self._controller
        end_offset = controller.last_stable_offset + 1
        return controller.image.journal.value_at(end_offset, entries, key, current)
