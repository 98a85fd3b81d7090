"""Keys of SASL that name Java classes: Kafka's own defaults are accepted, another class is refused.

A class cannot be loaded here, and what it checks would not be checked.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.config_values import ConfigValues, invalid_value
from kraftctl_security.prefixed_values import PrefixedValues

_SECURITY: Final = "org.apache.kafka.common.security."
_OAUTHBEARER: Final = _SECURITY + "oauthbearer."

PRINCIPAL_BUILDERS: Final = (_SECURITY + "authenticator.DefaultKafkaPrincipalBuilder",)

SERVER_CALLBACK_HANDLERS: Final[dict[str, tuple[str, ...]]] = {
    "PLAIN": (_SECURITY + "plain.internals.PlainServerCallbackHandler",),
    "OAUTHBEARER": (_OAUTHBEARER + "OAuthBearerValidatorCallbackHandler",),
}

CLIENT_CALLBACK_HANDLERS: Final[dict[str, tuple[str, ...]]] = {
    "OAUTHBEARER": (_OAUTHBEARER + "internals.OAuthBearerSaslClientCallbackHandler",),
}
_CLIENT_CALLBACK_HANDLER: Final = (_SECURITY + "authenticator.SaslClientCallbackHandler",)

LOGIN_CLASSES: Final[dict[str, tuple[str, ...]]] = {
    "OAUTHBEARER": (_OAUTHBEARER + "internals.OAuthBearerRefreshingLogin",),
}
_LOGIN_CLASS: Final = (_SECURITY + "authenticator.DefaultLogin",)

LOGIN_CALLBACK_HANDLERS: Final[dict[str, tuple[str, ...]]] = {
    "OAUTHBEARER": (_OAUTHBEARER + "OAuthBearerLoginCallbackHandler",),
}
_LOGIN_CALLBACK_HANDLER: Final = (_SECURITY + "authenticator.AbstractLogin$DefaultLoginCallbackHandler",)


def refuse_server_classes(values: ConfigValues, prefix: str, mechanism: str) -> None:
    """Refuses classes of a listener; as in Kafka, only keys with the prefix of listener and mechanism
    count.
    """
    key = f"{prefix}sasl.server.callback.handler.class"
    refuse_other(values, key, SERVER_CALLBACK_HANDLERS.get(mechanism, ()))
    refuse_login_classes(values, prefix, mechanism)


def refuse_principal_builder(values: PrefixedValues) -> None:
    refuse_other(values.values, values.name("principal.builder.class"), PRINCIPAL_BUILDERS)


def refuse_login_classes(values: ConfigValues, prefix: str, mechanism: str) -> None:
    """Refuses classes of a login; `prefix` is that of listener and mechanism, empty for a client."""
    refuse_other(values, f"{prefix}sasl.login.class", LOGIN_CLASSES.get(mechanism, _LOGIN_CLASS))
    refuse_other(
        values,
        f"{prefix}sasl.login.callback.handler.class",
        LOGIN_CALLBACK_HANDLERS.get(mechanism, _LOGIN_CALLBACK_HANDLER),
    )


def refuse_client_classes(values: PrefixedValues, mechanism: str) -> None:
    refuse_other(
        values.values,
        values.name("sasl.client.callback.handler.class"),
        CLIENT_CALLBACK_HANDLERS.get(mechanism, _CLIENT_CALLBACK_HANDLER),
    )


def refuse_other(values: ConfigValues, key: str, allowed: tuple[str, ...]) -> None:
    """Notes a class that is not one of `allowed`, which are built in."""
    name = values.text(key)
    if name and name not in allowed:
        only = f"allowed is {' or '.join(allowed)}" if allowed else "remove the key"
        reason = f"a Java class cannot be loaded here, and its checks would not be made; {only}"
        # A listener and a client of it may read the same key.
        if invalid_value(key, name, reason) not in values.errors:
            values.refuse(key, name, reason)
