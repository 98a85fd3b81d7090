"""Kafka's error codes: number, name, whether trying again may help, and a default text."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Errors(IntEnum):
    """The members of Kafka's `Errors`; the value is the code on the wire."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129
    STREAMS_INVALID_TOPOLOGY = 130
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131
    STREAMS_TOPOLOGY_FENCED = 132
    SHARE_SESSION_LIMIT_REACHED = 133
    GROUP_DELETION_FAILED = 134
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = 135
    CONTROLLER_ID_NOT_REGISTERED = 136

    @property
    def retriable(self) -> bool:
        """Whether a client may send the same request again."""
        return int(self) in RETRIABLE_CODES

    @property
    def message(self) -> str:
        """The text that is used when nothing more exact is known."""
        return MESSAGES[int(self)]


def error_of(code: int) -> Errors:
    """Returns the error with this code; UNKNOWN_SERVER_ERROR for an undefined code."""
    if code in MESSAGES:
        return Errors(code)
    return Errors.UNKNOWN_SERVER_ERROR


RETRIABLE_CODES: Final[frozenset[int]] = frozenset(
    (
        Errors.CORRUPT_MESSAGE,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.LEADER_NOT_AVAILABLE,
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.REQUEST_TIMED_OUT,
        Errors.REPLICA_NOT_AVAILABLE,
        Errors.NETWORK_EXCEPTION,
        Errors.COORDINATOR_LOAD_IN_PROGRESS,
        Errors.COORDINATOR_NOT_AVAILABLE,
        Errors.NOT_COORDINATOR,
        Errors.NOT_ENOUGH_REPLICAS,
        Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        Errors.NOT_CONTROLLER,
        Errors.CONCURRENT_TRANSACTIONS,
        Errors.KAFKA_STORAGE_ERROR,
        Errors.FETCH_SESSION_ID_NOT_FOUND,
        Errors.INVALID_FETCH_SESSION_EPOCH,
        Errors.LISTENER_NOT_FOUND,
        Errors.FENCED_LEADER_EPOCH,
        Errors.UNKNOWN_LEADER_EPOCH,
        Errors.OFFSET_NOT_AVAILABLE,
        Errors.PREFERRED_LEADER_NOT_AVAILABLE,
        Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        Errors.ELECTION_NOT_NEEDED,
        Errors.UNSTABLE_OFFSET_COMMIT,
        Errors.THROTTLING_QUOTA_EXCEEDED,
        Errors.UNKNOWN_TOPIC_ID,
        Errors.INCONSISTENT_TOPIC_ID,
        Errors.FETCH_SESSION_TOPIC_ID_ERROR,
        Errors.SHARE_SESSION_NOT_FOUND,
        Errors.INVALID_SHARE_SESSION_EPOCH,
        Errors.SHARE_SESSION_LIMIT_REACHED,
    )
)

MESSAGES: Final[dict[int, str]] = {
    -1: "The server failed unexpectedly.",
    0: "",
    1: "The server does not hold that offset.",
    2: "The record batch is damaged or not acceptable to this topic.",
    3: "There is no such topic or partition here.",
    4: "The fetch size is not usable.",
    5: "The partition has no leader right now.",
    6: "This node does not have the role for the partition that the request needs.",
    7: "The request was not finished in time.",
    8: "The node is shutting down or not available.",
    9: "The replica of the partition is not available.",
    10: "A record is larger than the server accepts.",
    11: "Another controller has taken over.",
    12: "The metadata of the committed offset is too long.",
    13: "The connection ended before the response.",
    14: "The coordinator has not loaded yet.",
    15: "There is no coordinator available.",
    16: "Ask another node: this one does not coordinate it.",
    17: "The topic is not valid for this operation.",
    18: "The record batch does not fit into a segment.",
    19: "Too few replicas are in sync.",
    20: "The records were appended, but too few replicas are in sync.",
    21: "The value of acks is not valid.",
    22: "The group has another generation id by now.",
    23: "The member has no protocol in common with its group.",
    24: "The group id is not valid.",
    25: "The group has no such member.",
    26: "The session timeout is outside of the allowed range.",
    27: "The group rebalances: join again.",
    28: "The committed offset data is too large.",
    29: "Not authorized for the topic.",
    30: "Not authorized for the group.",
    31: "Not authorized for the cluster.",
    32: "The timestamp of a record is out of range.",
    33: "The SASL mechanism is not supported.",
    34: "The request does not fit the state of authentication.",
    35: "That version is not supported.",
    36: "There already is a topic of that name.",
    37: "Topics cannot have that many partitions.",
    38: "The replication factor is not valid, or there are too few brokers for it.",
    39: "The replica assignment is not valid.",
    40: "The configuration is not valid.",
    41: "This controller is not active now.",
    42: "The request is malformed or contradicts itself.",
    43: "The record format of the partition does not allow this.",
    44: "A policy or a limit of the server forbids this.",
    45: "The sequence number does not follow the last one.",
    46: "The sequence number was seen before.",
    47: "The producer's epoch is old.",
    48: "The transaction is not in a state that allows this.",
    49: "The producer id does not belong to the transactional id.",
    50: "The transaction timeout is longer than allowed.",
    51: "Another operation on the transaction is under way.",
    52: "A newer transaction coordinator has taken over.",
    53: "Not authorized for the transactional id.",
    54: "The server has no authorizer.",
    55: "The operation was not tried, because another part of the request failed.",
    56: "The disk failed.",
    57: "The node has no such log directory.",
    58: "Authentication failed.",
    59: "The producer id is no longer known.",
    60: "The partition is being reassigned.",
    61: "Delegation tokens are not enabled.",
    62: "There is no such delegation token.",
    63: "The principal is neither owner nor renewer of the token.",
    64: "The authentication of this connection does not allow delegation token requests.",
    65: "Not authorized for the delegation token.",
    66: "The delegation token has expired.",
    67: "The principal type is not supported.",
    68: "The group still has members.",
    69: "There is no such group.",
    70: "There is no such fetch session.",
    71: "The epoch of the fetch session is not current.",
    72: "The leader has no listener of the name this request came in on.",
    73: "Topic deletion is disabled.",
    74: "The request carries an older leader epoch than the server's.",
    75: "The request carries a newer leader epoch than the server's.",
    76: "The client does not know the compression of the partition.",
    77: "The broker epoch is not the registered one.",
    78: "The new leader has no high watermark yet.",
    79: "A member id is needed to join the group.",
    80: "The preferred leader cannot take over.",
    81: "The group is full.",
    82: "Another member has registered with the same instance id.",
    83: "No replica may become leader.",
    84: "The partition needs no election.",
    85: "The partition is not being reassigned.",
    86: "The group is subscribed to the topic.",
    87: "A record failed validation.",
    88: "Offsets of an open transaction are pending.",
    89: "The quota is used up.",
    90: "A newer producer uses the transactional id.",
    91: "The resource does not exist.",
    92: "The request names a resource twice.",
    93: "The credential does not meet the requirements.",
    94: "Sender or receiver has no place among the expected voters.",
    95: "The version of the update is not valid.",
    96: "The features could not be updated.",
    97: "The forwarded principal cannot be read.",
    98: "There is no such snapshot.",
    99: "The position lies outside of the snapshot.",
    100: "There is no topic of that id here.",
    101: "A live broker already uses this id.",
    102: "No broker of this id is registered.",
    103: "The topic id is not that of the log.",
    104: "The cluster id is not that of this cluster.",
    105: "There is no such transactional id.",
    106: "The fetch session mixes topic ids and names.",
    107: "The new ISR has a member that must not be in it.",
    108: "The change was made, and with it the leader changed.",
    109: "The offset now is in tiered storage.",
    110: "The member is fenced: it has to leave all partitions and join again.",
    111: "Another member still holds the instance id.",
    112: "The group does not support the assignor.",
    113: "The member epoch is old: heartbeat, then try again.",
    114: "The request came to the wrong kind of endpoint.",
    115: "The kind of endpoint is not supported.",
    116: "There is no controller of that id.",
    117: "The telemetry subscription id is not current.",
    118: "The telemetry is larger than accepted.",
    119: "The registration is not valid.",
    120: "The transaction failed: abort it before the next one.",
    121: "The state of the record does not allow the acknowledgement.",
    122: "There is no such share session.",
    123: "The epoch of the share session is not current.",
    124: "The share group has another state epoch by now.",
    125: "The voter key is not that of the receiver.",
    126: "The voter already is in the voter set.",
    127: "The voter is not in the voter set.",
    128: "That is no regular expression.",
    129: "The client's metadata is out of date: bootstrap again.",
    130: "The topology is not valid.",
    131: "The topology epoch is not valid.",
    132: "The topology epoch is old.",
    133: "There are as many share sessions as allowed.",
    134: "The group could not be deleted.",
    135: "The description of the topology could not be stored.",
    136: "There is no registered controller with this id.",
}
