"""Checks whether those who have to be trusted are: super users, nodes, and this controller itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kraftctl.cli.doctor.diagnosis import ERROR, UNKNOWN, WARN, Diagnosis, ok
from kraftctl.cli.doctor.subject import Subject
from kraftctl.config.node_principals import ALLOWED_KEY, NODES_KEY, is_of_node
from kraftctl.server.security.peer_authorization_check import own_principal
from kraftctl_protocol.principal import ANONYMOUS, USER_TYPE, KafkaPrincipal
from kraftctl_security.tls.store_error import StoreError

SUPER_USERS: Final = "super.users"
AUTHORIZER: Final = "authorizer.class.name"


def check_principals(subject: Subject) -> Iterator[Diagnosis]:
    """Looks at super.users, at the principals of nodes, and at the principal of this controller."""
    config = subject.checked()
    if not config.authorizer_class_name:
        if config.super_users:
            text = "super users have no meaning without an authorizer: every client may do everything"
            yield Diagnosis(WARN, text, f"set {AUTHORIZER}, or remove {SUPER_USERS}", SUPER_USERS)
        else:
            yield ok("there is no authorizer: every client may do everything", AUTHORIZER)
        return
    yield from _types(config.super_users, SUPER_USERS)
    yield from _types(config.node_principals, NODES_KEY)
    yield from _types(config.envelope_allowed_principals or [], ALLOWED_KEY)
    try:
        own = own_principal(config)
    except StoreError as error:
        yield Diagnosis(UNKNOWN, f"the principal of this controller is not known: {error}", key=SUPER_USERS)
        return
    yield from _own(subject, own)


def _types(principals: list[str], key: str) -> Iterator[Diagnosis]:
    for each in principals:
        kind, _, name = each.partition(":")
        if kind != USER_TYPE:
            text = f"'{each}' is of type '{kind}', and clients are of type {USER_TYPE}"
            yield Diagnosis(WARN, text, f"write {USER_TYPE}:{name}", key)
        if f",{USER_TYPE}:" in each.replace(" ", ""):
            text = f"'{each}' is one principal, as only semicolons separate them"
            yield Diagnosis(ERROR, text, "write ; between principals", key)


def _own(subject: Subject, own: KafkaPrincipal | None) -> Iterator[Diagnosis]:
    config = subject.checked()
    if own is None:
        yield ok("the principal of this controller is known only once it connects", SUPER_USERS)
        return
    name = str(own)
    if config.node_principals:
        expected = [each.replace("{id}", str(config.node_id)) for each in config.node_principals]
        if name not in expected:
            is_other = any(is_of_node(name, each) for each in config.node_principals)
            text = f"this controller connects to others as {name}" + (
                ", which is another node by this rule" if is_other else ", which is no node by this rule"
            )
            step = f"give it a certificate or user of {expected[0]}, or correct {NODES_KEY}"
            yield Diagnosis(ERROR, text, step, NODES_KEY)
            return
    if own == ANONYMOUS:
        text = f"this controller connects to others as {name}, as every client without SSL and SASL does"
        if name in config.super_users:
            text += ", and that is a super user"
        step = f"let {config.controller_listener_names[0]} authenticate its clients"
        yield Diagnosis(WARN, text, f"{step} (docs/operations/move-to-ssl.md)", SUPER_USERS)
    elif name in config.super_users:
        yield ok(f"this controller connects to others as {name}, a super user", SUPER_USERS)
    else:
        yield Diagnosis(
            WARN,
            f"this controller connects to others as {name}, which is no super user: before ACLs are loaded"
            " they refuse its votes",
            f"add {name} to {SUPER_USERS} of every controller",
            SUPER_USERS,
        )
