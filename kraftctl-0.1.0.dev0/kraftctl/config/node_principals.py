"""The keys that bind nodes to principals, and say which of these and of super users brokers may act for."""

from __future__ import annotations

from typing import Final

from kraftctl_security.config_values import ConfigValues

NODES_KEY: Final = "kraftctl.node.principals"
ALLOWED_KEY: Final = "kraftctl.envelope.allowed.principals"

ID: Final = "{id}"
ID_DIGITS_MAX: Final = 10


def read_node_principals(values: ConfigValues) -> list[str]:
    """Returns principals, Type:name, with `{id}` for the id of a node."""
    templates = _principals(values, NODES_KEY)
    for template in templates:
        if ":" not in template or ID not in template:
            reason = f"expected Type:name entries with {ID} for the id of the node, got '{template}'"
            values.refuse(NODES_KEY, values.text(NODES_KEY), reason)
    return templates


def read_allowed_principals(values: ConfigValues) -> list[str] | None:
    """Returns None if the key is not set."""
    if not values.has(ALLOWED_KEY):
        return None
    principals = _principals(values, ALLOWED_KEY)
    for name in principals:
        if ":" not in name:
            reason = f"expected Type:name entries, got '{name}'"
            values.refuse(ALLOWED_KEY, values.text(ALLOWED_KEY), reason)
    return principals


def warn_of_refused(templates: list[str], super_users: list[str], warnings: list[str]) -> None:
    """Says what nodes that are bound mean for forwarded requests; call it if the second key is not set."""
    clients = [user for user in super_users if not any(is_of_node(user, each) for each in templates)]
    if templates:
        warnings.append(
            "kraftctl.node.principals is set, so requests of brokers, controllers and super users are refused"
            f" when a broker forwards them: {'; '.join([*templates, *clients])}. Next step: let their tools"
            " connect to controllers (--bootstrap-controller), give these users rights by ACLs instead, or"
            f" name in {ALLOWED_KEY} those that every broker may act for; with an empty value, this warning"
            " ends."
        )


def is_of_node(principal: str, template: str) -> bool:
    """Returns whether a principal is the one of some node by this template."""
    start = template.index(ID)
    end = start
    while end < len(principal) and "0" <= principal[end] <= "9" and end - start < ID_DIGITS_MAX:
        end += 1
    # The text behind the id may begin with digits: each length of the id is tried.
    lengths = range(start + 1, end + 1)
    return any(template.replace(ID, principal[start:stop]) == principal for stop in lengths)


def _principals(values: ConfigValues, key: str) -> list[str]:
    return [name.strip() for name in values.text(key).split(";") if name.strip()]
