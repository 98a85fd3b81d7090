"""Checks that other controllers admit this one: the rights of the principal as which it connects to them.

Without the right, a quorum does not form, and the log of each controller says only that another refuses it.
Lines about the configuration are written at start; those about ACLs, once they are loaded.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Final

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorization import Authorizer
from kraftctl.server.security.once_loaded import OnceLoaded
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import ANONYMOUS, USER_TYPE, KafkaPrincipal
from kraftctl_security.sasl.sasl_config import OAUTHBEARER, SaslMechanismConfig
from kraftctl_security.tls.distinguished_name import subject_name
from kraftctl_security.tls.ssl_config import CLIENT_AUTH_NONE, SslConfig
from kraftctl_security.tls.ssl_principal_mapper import NoMatchingRuleError

logger = logging.getLogger("kraftctl.server.peers")

ANY_HOST: Final = b""
"""Only entries for all hosts match this address."""


class PeerAuthorizationCheck:
    """Warns at start, and once the ACLs are loaded unless it is stopped before. Raises StoreError."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, config: ControllerConfig, authorizer: Authorizer
    ) -> None:
        self._later: OnceLoaded | None = None
        principal = own_principal(config)
        if principal is not None and warn_if_no_super_user(config, principal):
            listener = config.controller_listener_names[0]
            check = partial(warn_without_right, authorizer, listener, principal)
            self._later = OnceLoaded(loop, lambda: authorizer.ready, [check])

    def stop(self) -> None:
        if self._later is not None:
            self._later.stop()


def own_principal(config: ControllerConfig) -> KafkaPrincipal | None:
    """Returns the principal of this controller at others with the same configuration; None if unknown.

    Raises StoreError.
    """
    if config.controller_sasl is not None:
        return _of_sasl(config.controller_sasl)
    ssl = config.ssl.get(config.controller_listener_names[0])
    return ANONYMOUS if ssl is None else _of_certificate(ssl)


def warn_if_no_super_user(config: ControllerConfig, principal: KafkaPrincipal) -> bool:
    """Returns whether ACLs decide."""
    if not config.authorizer_class_name or str(principal) in config.super_users:
        return False
    logger.warning(
        "%s, as which this controller connects to others, is not in super.users: before the ACLs are loaded"
        " the others refuse its requests, which need CLUSTER_ACTION on the cluster, and no quorum forms after"
        " all controllers have stopped. Next step: add it to super.users of every controller.",
        principal,
    )
    return True


def warn_without_right(authorizer: Authorizer, listener: str, principal: KafkaPrincipal) -> None:
    """Checks the rights of the principal when the ACLs are loaded."""
    context = RequestContext(
        api=API_TABLE[ApiKey.VOTE],
        version=0,
        client_id=None,
        principal=principal,
        listener=listener,
        client_address=ANY_HOST,
    )
    if not authorizer.allows_on_cluster(context, AclOperation.CLUSTER_ACTION):
        logger.warning(
            "No ACL allows %s, as which this controller connects to others, CLUSTER_ACTION on the cluster"
            " from all hosts: they refuse its votes and fetches. Next step: add it to super.users, or an ACL"
            " with kafka-acls --add --allow-principal %s --operation ClusterAction --cluster.",
            principal,
            principal,
        )


def _of_sasl(config: SaslMechanismConfig) -> KafkaPrincipal | None:
    """Returns None for OAUTHBEARER and delegation tokens, whose subject or owner is not known here."""
    if config.mechanism == OAUTHBEARER or config.options.get("tokenauth", "").lower() == "true":
        return None
    return KafkaPrincipal(USER_TYPE, config.options["username"])


def _of_certificate(config: SslConfig) -> KafkaPrincipal | None:
    if config.client_auth == CLIENT_AUTH_NONE or config.keystore is None:
        return ANONYMOUS
    from cryptography.hazmat.primitives.serialization import Encoding

    from kraftctl_security.tls.stores import load_keystore

    certificate = load_keystore(config.keystore).chain[0].public_bytes(Encoding.DER)
    try:
        return KafkaPrincipal(USER_TYPE, config.principal_mapper.name(subject_name(certificate)))
    except (DecodeError, NoMatchingRuleError):
        return None
