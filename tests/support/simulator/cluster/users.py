"""As whom the clients of a simulated cluster connect: the principal goes with the name of the client."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.principal import ANONYMOUS, USER_TYPE, KafkaPrincipal

ADMIN: Final = "admin"
ALICE: Final = "alice"
BOB: Final = "bob"

USERS: Final = (ALICE, BOB)
"""They have the rights that ACLs give them; brokers, controllers and the admin have all."""

AUTHORIZER: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": f"{ANONYMOUS};{USER_TYPE}:{ADMIN}",
}
"""The properties of a cluster in which that is so. Without them everybody has all rights."""


def principal_of(client: str) -> KafkaPrincipal:
    """Brokers, controllers and operators do not authenticate."""
    return KafkaPrincipal(USER_TYPE, client) if client in (ADMIN, *USERS) else ANONYMOUS
