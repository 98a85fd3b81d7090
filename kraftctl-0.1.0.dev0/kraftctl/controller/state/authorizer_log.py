"""Makes Kafka's line for each decision of an authorizer, for the logger `kafka.authorizer.logger`.

Denials have level INFO, grants DEBUG; checks that only determine the authorized operations of a response, or
of a right that another one may replace, have TRACE. The text is that of Kafka's StandardAuthorizer
(KIP-801), so that readers of Kafka's file can read this one. A line is made only if its level is wanted and
there is room.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.acl_names import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSION_TYPES,
    RESOURCE_TYPE_TITLES,
    RESOURCE_TYPES,
    name_of,
)
from kraftctl.image.acl_entry import AclEntry

TRACE: Final = 5
DEBUG: Final = 10
INFO: Final = 20
OFF: Final = 100
"""The levels, in the order of their severity."""

LEVELS: Final = {"off": OFF, "info": INFO, "debug": DEBUG, "trace": TRACE}
"""The levels by the values of kraftctl.authorizer.log.level."""

LINES_PER_STEP_MAX: Final = 100
"""The lines of one step: one request may ask for tens of thousands of things; the others are counted."""

TEXT_LENGTH_MAX: Final = 1_000
"""The characters of a principal or a resource's name: clients choose them, up to 32 KiB."""

SUPER_USER: Final = "SuperUser"
DEFAULT_ALLOW: Final = "DefaultAllow"
DEFAULT_DENY: Final = "DefaultDeny"
"""The rules that are not entries."""


class AuthorizerLine:
    """A line; `client` is principal and host, for each of which lines are limited."""

    def __init__(self, level: int, client: str, text: str) -> None:
        self.level = level
        self.client = client
        self.text = text


NO_LINES: Final[list[AuthorizerLine]] = []


class AuthorizerLog:
    """The lines that were not taken yet. Lines below `threshold` are not made."""

    def __init__(self) -> None:
        self.threshold = INFO
        self._lines: list[AuthorizerLine] = []
        self._left_out_count = 0

    def admits(self, level: int) -> bool:
        """Returns whether to make a line of this level; one for which there is no room is counted."""
        if level < self.threshold:
            return False
        if len(self._lines) >= LINES_PER_STEP_MAX:
            self._left_out_count += 1
            return False
        return True

    def add(self, line: AuthorizerLine) -> None:
        self._lines.append(line)

    def take(self) -> list[AuthorizerLine]:
        """Returns the lines since the last call."""
        lines = self._lines
        if not lines:
            return NO_LINES
        self._lines = []
        return lines

    def take_left_out_count(self) -> int:
        """Returns how many lines there was no room for since the last call."""
        count = self._left_out_count
        self._left_out_count = 0
        return count


def authorizer_line(
    *,
    level: int,
    context: RequestContext,
    host: str,
    allowed: bool,
    operation: int,
    resource_type: int,
    resource_name: str,
    rule: str,
) -> AuthorizerLine:
    """Returns the line of one decision, in Kafka's words."""
    principal = shortened(str(context.principal), TEXT_LENGTH_MAX)
    resource = (
        f"{name_of(RESOURCE_TYPE_TITLES, resource_type)}:LITERAL:{shortened(resource_name, TEXT_LENGTH_MAX)}"
    )
    text = (
        f"Principal = {principal} is {'Allowed' if allowed else 'Denied'}"
        f" operation = {name_of(OPERATIONS, operation)} from host = {host} on resource = {resource}"
        f" for request = {context.api.name} with resourceRefCount = 1 based on rule {rule}"
    )
    return AuthorizerLine(level, f"{principal} from {host}", text)


def rule_of(entry: AclEntry) -> str:
    """Returns an entry that decides, as Kafka writes it."""
    return (
        f"MatchingAcl(acl=StandardAcl[resourceType={name_of(RESOURCE_TYPES, entry.resource_type)},"
        f" resourceName={shortened(entry.resource_name, TEXT_LENGTH_MAX)},"
        f" patternType={name_of(PATTERN_TYPES, entry.pattern_type)},"
        f" principal={shortened(entry.principal, TEXT_LENGTH_MAX)}, host={entry.host},"
        f" operation={name_of(OPERATIONS, entry.operation)},"
        f" permissionType={name_of(PERMISSION_TYPES, entry.permission_type)}])"
    )
