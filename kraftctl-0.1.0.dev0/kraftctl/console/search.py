"""Searches by topic, broker and principal: a bounded number of names, and it says when that was not all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from kraftctl.console.page_paths import page_path
from kraftctl.console.short_text import shortened
from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.why_partition import split_partition_name
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.topics_image import TopicImage
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.counted_text import counted

FOUND_MAX: Final = 50
LOOKS_MAX: Final = 200_000
"""A search looks at this many entries of a kind, which takes some ten milliseconds."""

TEXT_MAX: Final = 255
"""The longest name that is searched for: that of a topic has 249 characters at most."""

PERMISSIONS: Final = {2: "deny", 3: "allow"}
RESOURCES: Final = {2: "topic", 3: "group", 4: "cluster", 5: "transactional id", 6: "token", 7: "user"}
PREFIXED: Final = 4
MECHANISMS: Final = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}

OPERATIONS: Final = {
    code: name.lower().replace("_", " ") for name, code in vars(AclOperation).items() if isinstance(code, int)
}

Found = dict[str, Any]


def search(evidence: ClusterEvidence, text: str) -> Found:
    """Returns what has `text` in its name, each kind with a limit."""
    wanted = text.strip()[:TEXT_MAX]
    lower = wanted.lower()
    if not lower:
        return {"text": "", "found": [], "is_everything": True}
    looked = Looked()
    found = [
        *_exact(evidence, wanted),
        *_brokers(evidence, lower),
        *_topics(evidence, lower, looked),
        *_principals(evidence, lower, looked),
    ]
    return {"text": wanted, "found": found, "is_everything": looked.is_everything}


class Looked:
    """Whether a search has looked at everything and shown all that it found."""

    def __init__(self) -> None:
        self.is_everything = True

    def first(self, entries: Iterable[Found | None]) -> Iterator[Found]:
        """Yields the first that are found."""
        found_count = 0
        for count, entry in enumerate(entries):
            if count >= LOOKS_MAX or (entry is not None and found_count >= FOUND_MAX):
                self.is_everything = False
                return
            if entry is not None:
                found_count += 1
                yield entry


def _exact(evidence: ClusterEvidence, wanted: str) -> Iterator[Found]:
    """Finds `orders-0`, and the topic of that very name, which others may hide."""
    topic = evidence.image.topics.topic_by_name(wanted)
    if topic is not None:
        yield _of("topic", wanted, page_path("topic", wanted), _counted(topic))
    try:
        name, index = split_partition_name(wanted)
    except ValueError:
        return
    topic = evidence.image.topics.topic_by_name(name)
    if topic is not None and index in topic.partitions:
        state = topic.partitions[index]
        yield _of(
            "partition",
            wanted,
            page_path("partition", wanted),
            f"leader {state.leader}, ISR {list(state.isr)}",
        )


def _brokers(evidence: ClusterEvidence, wanted: str) -> Iterator[Found]:
    found = (
        _of("broker", str(each.id), page_path("broker", each.id), "fenced" if each.fenced else "unfenced")
        for each in evidence.image.cluster.brokers.values()
        if wanted in (str(each.id), f"broker {each.id}")
        or any(wanted in listener.host.lower() for listener in each.listeners.values())
    )
    yield from islice(found, FOUND_MAX)


def _topics(evidence: ClusterEvidence, wanted: str, looked: Looked) -> Iterator[Found]:
    topics = evidence.image.topics
    yield from looked.first(
        _of("topic", name, page_path("topic", name), _counted(topics.topics[topic_id]))
        if wanted in name.lower() and wanted != name
        else None
        for name, topic_id in topics.ids_by_name.items()
    )


def _principals(evidence: ClusterEvidence, wanted: str, looked: Looked) -> Iterator[Found]:
    """Finds ACLs, SCRAM users, owners of tokens and users with quotas; no secret is among what is shown."""
    image = evidence.image

    def is_wanted(name: str) -> bool:
        return wanted in name.lower()

    yield from looked.first(
        _of("ACL", acl.principal, "", _acl_text(acl)) if is_wanted(acl.principal) else None
        for acl in image.acls.acls.values()
    )
    yield from looked.first(
        _of("SCRAM user", f"User:{user}", "", MECHANISMS.get(mechanism, ""))
        if is_wanted(f"User:{user}")
        else None
        for mechanism, user in image.scram.credentials
    )
    yield from looked.first(
        _of("token owner", token.owner, "", f"requested by {token.requester}")
        if is_wanted(token.owner)
        else None
        for token in image.delegation_tokens.tokens.values()
    )
    yield from looked.first(
        _of("quota", _entity_text(entity), "", ", ".join(f"{key} {value:g}" for key, value in values.items()))
        if any(is_wanted(name or "") for _, name in entity)
        else None
        for entity, values in image.client_quotas.quotas.items()
    )


def _counted(topic: TopicImage) -> str:
    return counted(len(topic.partitions), "partition")


def _acl_text(acl: AclEntry) -> str:
    resource = RESOURCES.get(acl.resource_type, "resource")
    name = f"{acl.resource_name}*" if acl.pattern_type == PREFIXED else acl.resource_name
    permission = PERMISSIONS.get(acl.permission_type, "?")
    return f"{permission} {OPERATIONS.get(acl.operation, acl.operation)} on {resource} {name} from {acl.host}"


def _entity_text(entity: Iterable[tuple[str, str | None]]) -> str:
    return ", ".join(f"{kind} {'(default)' if name is None else name}" for kind, name in entity)


def _of(kind: str, name: str, path: str, text: str) -> Found:
    return {"kind": kind, "name": shortened(name), "path": path, "text": shortened(text)}
