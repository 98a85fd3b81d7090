"""The names of what must hold, as the simulator checks them; `broken` reports the one that does not."""

from __future__ import annotations

from typing import Final, NoReturn

INVARIANTS: Final[dict[str, str]] = {
    # The quorum: Kafka's simulator and the models of KRaft, KIP-853 and KIP-996.
    "ElectionSafety": "one vote per epoch and voter, across crashes, and on disk before it is given",
    "SingleLeader": "an epoch has one leader, in one run of its process",
    "LeaderCompleteness": "a leader has everything committed; nodes claim only what is on their disk",
    "LogMatching": "the same offset and epoch is the same record, after the same records",
    "NoLogDivergence": "every record in a log was appended by the leader of its epoch",
    "ConsistentCommittedData": "what one replica considers committed is committed for all, permanently",
    "MonotonicHighWatermark": "it never decreases while a process runs",
    "MonotonicEpoch": "epochs only rise, and are on disk before any other node learns of them",
    "MajorityReachedHighWatermark": "a majority has on disk what becomes committed",
    "Durability": "a majority keeps everything committed on disk, permanently",
    "AckedValueNotLost": "nothing is acknowledged before it is committed; what was durable is found again",
    "ObserversNeverVote": "only voters that have their log and votes become candidates",
    "OnlyVotersLead": "a leader that removed itself resigns once that is committed",
    "LeaderHasMajority": "a leader that no majority of the voters reaches resigns",
    "AnswersOnlyWhileLeading": "who asks after a later leader was elected is not answered by a former one",
    "StableLeadership": "no pre-vote, no fetch of a snapshot ends a leadership, and refusals rarely do",
    "NextVoterSetOverlaps": "at most one voter is added or removed at a time",
    "AtMostOneUncommittedVoterChange": "a change of voters waits until the one before is committed",
    "RemovalLeavesMajority": "no voter is removed while those that would remain are no majority that works",
    "OnlyWhoMayDo": "a user without the right to something is refused it",
    "VotersHaveDirectories": "the log names every voter with its directory id",
    "ObserversJoinOnce": "a node asks to vote while its id does not, after its former directory has left",
    "SnapshotAtLogStart": "a log that does not start at 0 has a snapshot of the records before its start",
    "LeaderNeverLoadSnapshot": "neither a leader nor an active controller replaces its state by a snapshot",
    "NoIllegalState": "no node ends itself because its state contradicts the log",
    "EventuallyLeaderElected": "once faults end, one leader is elected and active",
    "ValuesEventuallyAcked": "once faults end, all running replicas learn of what is committed, and more is",
    "NotStuckInProspective": "once faults end, no replica remains without leader",
    "ReconfigurationNotStuck": "once faults end, all replicas know the same voters",
    # What is replicated.
    "EveryRecordDecodes": "every committed record can be read by this release",
    "AllCommittedImagesAgree": "images at one offset are equal, and equal to a replay of the log",
    "SnapshotEqualsLog": "a snapshot has the state of the records that it replaces",
    "ReadsSeeCommittedData": "a read is of one committed state, and an active controller's of the newest",
    "RefusalIsJustified": "a refusal names a state that was there between the request and its response",
    # Partitions and brokers: the model of KIP-966, KIP-497, KIP-704.
    "ValidControllerState": (
        "no inactive broker leads, or is in an ISR unless it is the only member; one that shuts down neither"
        " joins nor is elected"
    ),
    "ValidControllerIsrAndElr": "ISR and ELR are disjoint; the ELR is empty while the ISR has its minimum",
    "IsrIsSubsetOfReplicas": "ISR, ELR, adding and removing replicas are replicas",
    "LeaderIsInIsr": "a leader is in its ISR",
    "LeaderIsLostForAReason": (
        "a change leaves a partition without leader only if no member of its ISR, or of its ELR if that is"
        " empty, may lead it; only the first replica takes the place of a leader that may stay"
    ),
    "PartitionEpochOnlyRises": "a change of a partition changes something, and is one partition epoch more",
    "RecoveringPartitionHasIsrOfOne": "while its leader recovers, a partition has no other replica in sync",
    "MinIsrRecoveryQuorum": "a partition that loses its leader remembers it as the last known one",
    "LeaderCandidateCompleteness": "an election that is not unclean chooses a replica with everything",
    "SilentBrokerIsFenced": "an active controller fences a broker whose session has run out",
    "UncleanElectionIsAllowed": "only topics that allow it, and administrators, elect a replica without data",
    "OldIsrChangeIsRefused": "an ISR is changed with present epochs only, and to active replicas",
    "BrokerEpochOnlyRises": "a broker epoch is the offset of its registration",
    "EventuallyFenced": "once faults end, silent brokers are fenced, and in no ISR unless they are all of it",
    "EventuallyReleased": "once faults end, brokers that shut down may stop",
    "EventuallyLed": "once faults end, partitions have a leader if an active replica has all their data",
    "EventuallyAnswered": "once faults end, every request is answered",
    "EventuallyIdle": "once faults end, all long work ends, and no broker is leaving any more",
    "FeaturesAreSupported": "all registered nodes support the finalized levels",
    # What brokers see.
    "BrokersSeeCommittedData": "brokers are sent committed records, in order and unchanged",
    "NeverTwoLeadersInSameEpoch": "one broker leads a partition in a leader epoch: the one the log names",
    "NoCommittedRecordLostGlobally": "producers keep what was acknowledged, except by an unclean election",
    "EventuallyMetadataConverges": "once faults end, brokers have applied everything committed",
}
"""Name -> what it says."""


def broken(name: str, text: str) -> NoReturn:
    """Fail with the published name first; `text` says node, offset and epoch."""
    assert name in INVARIANTS, f"no such invariant: {name}"
    raise AssertionError(f"{name}: {text}")
