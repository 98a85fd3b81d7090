"""What one side calls the things that both have: random ids, broker epochs, tokens.

Both sides give the same label to the same thing, so that responses and records can be compared, and
a Ref of a call becomes the id of the side that gets it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

from tests.differential.call import Ref
from tests.differential.codec import Body
from tests.differential.metadata_log import LoggedRecord
from tests.differential.schemas import ZERO_UUID

NO_ID = "xxxxxxxxxxxxxxxxxxxxxQ"
"""For a Ref to what this side does not have."""


class Names:
    """Labels of the ids of one side, and back."""

    def __init__(self, port: int, directory: str) -> None:
        self.port = port
        self.directory = directory
        self.labels: dict[str, str] = {}
        self.epochs: dict[int, str] = {}
        self.hmacs: dict[bytes, str] = {}
        self.end_offset = 0
        self.leader_epoch = 1
        self._topics: dict[str, list[str]] = defaultdict(list)
        self._epochs: dict[int, list[int]] = defaultdict(list)
        self._hmacs: list[bytes] = []
        self._hmacs_at: dict[bytes, float] = {}
        self._counts: dict[str, int] = defaultdict(int)

    def learn(self, record: LoggedRecord) -> None:
        """Gives labels to what the record has made."""
        body = record.body
        if record.name == "TopicRecord":
            ids = self._topics[body["Name"]]
            ids.append(body["TopicId"])
            self.labels[body["TopicId"]] = f"topic {body['Name']} #{len(ids)}"
        elif record.name == "RegisterBrokerRecord":
            epochs = self._epochs[body["BrokerId"]]
            epochs.append(body["BrokerEpoch"])
            self.epochs[body["BrokerEpoch"]] = f"epoch {len(epochs)} of broker {body['BrokerId']}"
        elif record.name == "AccessControlEntryRecord":
            content = " ".join(str(value) for name, value in body.items() if name != "Id")
            self._counts[content] += 1
            self.labels[body["Id"]] = f"acl {content} #{self._counts[content]}"
        elif record.name == "DelegationTokenRecord" and body["TokenId"] not in self.labels:
            self._counts["token"] += 1
            self.labels[body["TokenId"]] = f"token #{self._counts['token']}"

    def learn_hmac(self, hmac: bytes) -> None:
        self._hmacs.append(hmac)
        self.hmacs[hmac] = f"hmac #{len(self._hmacs)}"
        self._hmacs_at[hmac] = time.monotonic()

    def new_hmacs(self, seconds: float) -> set[bytes]:
        """Returns those of tokens that were created within this time."""
        since = time.monotonic() - seconds
        return {hmac for hmac, at in self._hmacs_at.items() if at >= since}

    def resolve(self, value: Any) -> Any:
        """Returns the value with the ids of this side instead of each Ref."""
        if isinstance(value, Ref):
            return self._resolved(value)
        if isinstance(value, dict):
            return {name: self.resolve(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self.resolve(each) for each in value]
        return value

    def _resolved(self, ref: Ref) -> Any:
        match ref.kind:
            case "topic":
                return (self._topics.get(ref.key) or [NO_ID])[-1]
            case "first topic":
                return (self._topics.get(ref.key) or [NO_ID])[0]
            case "epoch":
                return (self._epochs.get(ref.key) or [-2])[-1] + ref.delta
            case "first epoch":
                return (self._epochs.get(ref.key) or [-2])[0]
            case "end":
                return self.end_offset + ref.delta
            case "leader epoch":
                return self.leader_epoch + ref.delta
            case "hmac":
                return self._hmacs[ref.key % len(self._hmacs)] if self._hmacs else b"none"
            case "directory":
                return next((raw for raw, label in self.labels.items() if label == "own directory"), NO_ID)
        raise AssertionError(ref)


INT_MAX = 2**31 - 1

MASKED = {
    "LogEndOffset", "HighWatermark", "LastFetchTimestamp", "LastCaughtUpTimestamp", "LastStableOffset",
    "Records", "UnalignedRecords", "Size", "FinalizedFeaturesEpoch", "EndOffset",
}  # fmt: skip

TIMES = {
    "IssueTimestampMs", "ExpiryTimestampMs", "MaxTimestampMs", "IssueTimestamp", "ExpirationTimestamp",
    "MaxTimestamp", "ExpiryTimestamp",
}  # fmt: skip

TEXTS = {"ErrorMessage"}

OUT_OF_A_SET = {"EligibleLeaderReplicas", "LastKnownElr"}
"""Lists of brokers in an order that means nothing: in Kafka that of a hash set."""

A_TEXT = "text: "
"""Before a text that is not the standard one of its error: what it says is not compared."""

RANDOM = {
    ("CreateTopics", "TopicId"),
    ("CreateDelegationToken", "TokenId"),
    ("CreateDelegationToken", "Hmac"),
}
"""Fields with an id that is nowhere else if the call changes nothing."""


class Normaliser:
    """Makes of a decoded message what must be equal on both sides."""

    def __init__(self, names: Names, standard_texts: dict[int, str]) -> None:
        self._names = names
        self._standard_texts = standard_texts

    def record(self, record: LoggedRecord) -> tuple[str, int, Any]:
        body = dict(record.body)
        if record.name == "AccessControlEntryRecord":
            body["Id"] = "acl"
        elif record.name == "BrokerRegistrationChangeRecord" and body.get("LogDirs"):
            # Kafka takes them out of a set.
            body["LogDirs"] = sorted(body["LogDirs"])
        for name in OUT_OF_A_SET & body.keys():
            body[name] = sorted(body[name]) if body[name] else body[name]
        return record.name, record.version, self.normal("", body)

    def normal(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._normal_struct(value)
        if isinstance(value, list):
            each = [self.normal(name, item) for item in value]
            return sorted(each, key=_order) if value and isinstance(value[0], dict) else each
        if name in MASKED:
            return None if value is None else "masked"
        if isinstance(value, bool) or value is None:
            return value
        if name in TIMES:
            return value if value < 10**12 else f"now + {round((value / 1000 - time.time()) / 20) * 20} s"
        if name == "ThrottleTimeMs" and 0 < value < INT_MAX:
            # A quota refills with time, and the calls are not made at one time.
            return "throttled"
        if isinstance(value, int):
            return self._normal_integer(name, value)
        if isinstance(value, bytes):
            return self._names.hmacs.get(value, value.hex())
        if isinstance(value, str) and value != ZERO_UUID:
            return self._normal_text(value)
        return value

    def _normal_struct(self, body: Body) -> Body:
        made = {name: self.normal(name, each) for name, each in body.items()}
        for name in TEXTS & made.keys():
            code = body.get("ErrorCode", 0)
            text = body[name]
            made[name] = None if text is None or text == self._standard_texts.get(code) else f"{A_TEXT}{text}"
        return made

    def _normal_integer(self, name: str, value: int) -> Any:
        if name == "Port" and value == self._names.port:
            return "own port"
        if name.endswith(("BrokerEpoch", "PreviousBrokerEpoch")):
            return self._names.epochs.get(value, value)
        return value

    def _normal_text(self, value: str) -> str:
        if value in self._names.labels:
            return self._names.labels[value]
        own = value.replace(self._names.directory, "DIRECTORY")
        return own.replace(f"localhost:{self._names.port}", "localhost:PORT")


def _order(value: Any) -> tuple[str, str]:
    """The key by which structures of a list are put in order: what they are about, then how it went."""
    return repr(_without("Error", value)), repr(_without("ErrorMessage", value))


def _without(part: str, value: Any) -> Any:
    """Returns the value without the fields that have this in their names; each side has its own texts."""
    if isinstance(value, dict):
        return {name: _without(part, each) for name, each in value.items() if part not in name}
    return [_without(part, each) for each in value] if isinstance(value, list) else value
