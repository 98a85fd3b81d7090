"""Explanation: a statement about a subject, its causes from the first to the deepest, and the next step."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftctl.explain.mark import Mark, since_text
from kraftctl_protocol.escaped_text import escaped

HEALTHY = "Nothing is wrong"

FINE = "healthy"
WRONG = "unhealthy"
NOT_KNOWN = "unknown"
"""Whether something is wrong cannot be said from what was read."""


class UnknownSubjectError(Exception):
    """The metadata does not have what was asked for; the text says what it has."""


@dataclass(frozen=True)
class ExplainedCause:
    """A statement that holds since the record at `since`; without one if no record has set it."""

    text: str
    since: Mark | None = None


@dataclass(frozen=True)
class Explanation:
    """`statement` is what is wrong first, and `causes` why, each because of the next.

    `facts` are true besides. An explanation without causes may still be one of a fault: `is_healthy` decides,
    unless `is_known` is False: then what was read does not say whether something is wrong.
    """

    subject: str
    statement: ExplainedCause
    causes: list[ExplainedCause] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    next_step: str = ""
    is_healthy: bool = False
    is_known: bool = True
    offer: str = ""
    """What may be done although nothing is wrong, after what it costs; no step that has to be taken."""

    @property
    def verdict(self) -> str:
        """The word for it, as `kraftctl health` has it."""
        if not self.is_known:
            return NOT_KNOWN
        return FINE if self.is_healthy else WRONG


def explanation_text(explanation: Explanation, now_ms: int) -> str:
    """Returns the lines for an operator; what others have named is made harmless."""
    statement = explanation.statement
    lines = [statement.text + since_text(statement.since, now_ms, with_age=True)]
    lines += [
        f"  because {cause.text}{since_text(cause.since, now_ms, with_age=False)}"
        for cause in explanation.causes
    ]
    lines += [f"  {fact}" for fact in explanation.facts]
    if explanation.offer:
        lines.append(f"  {explanation.offer}")
    if explanation.next_step:
        lines.append(f"Next: {explanation.next_step}")
    return "\n".join(escaped(line) for line in lines)


def explanation_json(explanation: Explanation, now_ms: int, end_offset: int | None) -> dict[str, object]:
    """Returns the object for programs; `end_offset` is how far the log was read, exclusive;
    None if it was not.
    """
    return {
        "subject": explanation.subject,
        "verdict": explanation.verdict,
        "healthy": explanation.is_healthy,
        "now_ms": now_ms,
        "end_offset": end_offset,
        "statement": _cause_json(explanation.statement),
        "causes": [_cause_json(cause) for cause in explanation.causes],
        "facts": explanation.facts,
        "next_step": explanation.next_step or None,
        "offer": explanation.offer or None,
    }


def _cause_json(cause: ExplainedCause) -> dict[str, object]:
    since = cause.since
    return {
        "text": cause.text,
        "since_ms": None if since is None else since.timestamp_ms,
        "since_is_latest_possible": since is not None and since.is_latest_possible,
        "offset": None if since is None else since.offset,
    }
