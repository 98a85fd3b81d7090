"""The planted faults that the simulator of whole controllers has to notice; see `simulated_fault`."""

from __future__ import annotations

from typing import Final

from tests.faults import (
    simulated_controller_faults,
    simulated_raft_faults,
    simulated_reading_faults,
    simulated_slice_faults,
    simulated_storage_faults,
)
from tests.faults.simulated_fault import SimulatedFault

SIMULATED: tuple[SimulatedFault, ...] = (
    *simulated_raft_faults.FAULTS,
    *simulated_storage_faults.FAULTS,
    *simulated_controller_faults.FAULTS,
    *simulated_slice_faults.FAULTS,
    *simulated_reading_faults.FAULTS,
)

NOT_SIMULATED: Final[dict[str, str]] = {
    "an-elected-leader-asks-before-it-is-active": "No admin of a simulation sets levels of loggers.",
    "a-refused-start-vouches-for-the-vote": (
        "It takes the loss of two files and a power failure in the milliseconds of the next start."
    ),
    "the-only-voter-asks-itself": "A round of one voter costs time only; a test counts rounds.",
    "a-leader-that-is-removed-asks-no-other": (
        "It takes a leader that is no voter any more, one voter that is cut off from it, and a read in the"
        " milliseconds before it resigns."
    ),
    "adopted-without-records-is-new": "All simulated directories have a recovery point from the start.",
    "witness-without-recovery-point-is-trusted": (
        "One run in many thousands: a bare vote before the first record, then both files are lost."
    ),
    "start-warns-of-everything": "The level of a line; a test has it.",
    "voter-removed-before-the-log-begins-is-a-stranger": (
        "Three runs in 20,000: a removed voter without pre-votes, and a snapshot after its removal. One of"
        " these seeds is run in each test."
    ),
    "a-snapshot-has-all-former-voters": "It takes that, and a restart of the leader.",
    "stranger-to-a-static-quorum-deposes-its-leader": "No stranger takes part in a simulation.",
    "flush-from-before-a-truncation-counts": (
        "A second line of defence. A Fetch leaves only when everything is flushed, and only its response"
        " truncates: no flush runs then (tests/simulator/test_flush_and_truncation.py). Where retention has"
        " moved the start of a log to its end, the flush that still runs ends at or below any snapshot that"
        " takes the place of that log."
    ),
    "trimmed-fetches-wait": (
        "It takes a Fetch that waits below what is committed: for 100 ms, if the replica could not use eight"
        " answers in a row, or for 500 ms, at a leader that has committed nothing yet. Retention and a commit"
        " have to come in that time. The leader stops then, and nothing is lost."
    ),
    "upgrade-with-a-lost-directory": (
        "Static voters do not lose their directories where the quorum is upgraded: without a backup there is"
        " no safe way back for them (docs/operations/lost-disk.md)."
    ),
    "joins-without-a-pause": (
        "A refused observer asks too often, and nothing else is wrong; a test counts its requests."
    ),
    "follower-without-leader-votes-in-its-epoch": (
        "A second line of defence: the leader of an epoch has the votes of a majority, and the vote of this"
        " follower alone gives no other candidate of that epoch one."
    ),
    "followers-of-a-leader-that-is-gone-refuse": "Elections take longer, as beside Kafka's voters.",
    "lost-early-election-forgets-the-fetch-timeout": "Elections take longer; a test measures how long.",
    "removed-voter-is-a-stranger": (
        "One run in several thousand: voters that lag behind the leader grant a pre-vote to the one that is"
        " removed, and its Vote arrives after the removal."
    ),
    "refusal-at-any-address-counts": "A leader that is elected too early; a test has the addresses it takes.",
    "refusal-by-a-former-leader-counts": "A pre-vote too many changes nothing; a test counts them.",
    "stopping-leader-leaves-before-the-election": "Elections take longer; a test measures how long.",
    "all-that-is-cut-is-in-memory-together": (
        "Only the memory that a start takes differs; a test measures it."
    ),
    "leader-takes-another-directory-for-its-own": "No simulated node uses the id of another one.",
    "leader-counts-itself-twice": "No simulated node uses the id of another one.",
    "joins-without-fetching-in-between": "The node joins later, and nothing else is wrong.",
    "removed-voter-adds-itself-immediately": "The node joins earlier, and nothing else is wrong.",
    "other-listeners-of-the-leader-are-forgotten": "All simulated controllers have one listener.",
    "leader-without-endpoint-is-named": (
        "It takes a leader whose listeners differ from those of the node that names it; all simulated"
        " controllers have one and the same. Brokers stop then, and nothing is lost."
    ),
    "update-of-a-voter-takes-any-directory": (
        "A replica on a new disk is no voter by its own log, and voters alone send UpdateRaftVoter."
    ),
    "update-of-a-voter-beside-one-that-is-being-added": (
        "A second line of defence: it takes an update that is not committed yet when the added voter has"
        " caught up, which is a matter of milliseconds."
    ),
    "moved-voter-asks-once": (
        "It asks each leader once; what one leader has written is lost only when another is elected."
    ),
    "a-change-of-voters-restarts-check-quorum": (
        "It takes a client that asks a leader without a majority again and again; a test does."
    ),
    "any-answer-is-the-leader-s": "A simulated voter that moves never takes the former address of another.",
    "requests-have-no-epoch": "One run in some thousands; seed 6011666 of the former finds is one.",
    "a-request-of-a-former-epoch-is-sent-when-its-turn-comes": (
        "Simulated controllers have their own connections to each other, which drop such requests, too."
    ),
    "waiting-requests-prolong-the-backoff": (
        "Simulated controllers have their own connections to each other, with a backoff of their own."
    ),
    "a-later-epoch-is-always-another-program": (
        "It takes a power failure that leaves a gap in the last writes to the log, after quorum-state of a"
        " new epoch is on the disk and before the recovery point is."
    ),
    "a-later-epoch-is-never-another-program": "Kafka's controller writes to no simulated directory.",
    "unreadable-truncation-stays-in-service": (
        "It takes a read that fails while the log is cut, in a process that then stops in order."
    ),
    "an-empty-slice-ends-the-download": "The download takes longer, and nothing else is wrong.",
    "observers-ask-their-leader-alone": "The observer stays behind as long as it is cut off; a test counts.",
    "observers-ask-any-server-although-they-know-the-leader": (
        "It fetches from the leader after a while, at random; a test counts its requests."
    ),
    "fetched-checksums-are-not-compared": "Simulated networks lose what is sent, and change no byte.",
    "a-cut-log-is-kept-in-memory": (
        "Slices from 64 KiB on are kept; a log of the simulation that is cut has no such slice to read again."
    ),
    "kept-reads-beyond-the-end": "The same: it takes slices of 64 KiB, read from files.",
    "joined-batches-outlive-a-truncation": "The same, of batches in memory.",
    "a-slice-is-cut-to-whole-batches": (
        "A read takes longer, and nothing else is wrong; a test has the bytes that are read."
    ),
    "a-snapshot-grows-while-it-is-downloaded": "A simulated leader sends the snapshot it announced.",
    "a-snapshot-of-any-size-is-downloaded": "A simulated leader sends the snapshot it announced.",
    "each-registration-has-a-line": "The number of lines; a test has it.",
    "directories-are-open-to-others": "Simulated disks have no permissions; a test has them.",
    "segments-are-open-to-others": "Simulated disks have no permissions; a test has them.",
    "a-fetch-on-its-way-confirms": "It takes an election while a Fetch is on its way; a test does.",
    "a-round-is-joined-too-late": "The same.",
    "a-request-of-a-former-epoch-is-not-fenced": "A simulated leader of a former epoch is cut off.",
    "a-log-is-truncated-by-its-own-epochs-alone": "The next response names an earlier place.",
    "a-follower-that-was-cut-off-gets-pre-votes": "An election too many; a conversation has it.",
    "an-addition-is-not-checked": (
        "The quorum stops until the disks of all voters work. Before the end of each run all of them do."
    ),
    "voters-that-lag-work": "The same: those that lag have caught up before the end of each run.",
    "any-unknown-field-forces-a-removal": "The simulated operator sends no unknown fields.",
    "the-leader-waits-for-a-silent-voter": (
        "An election too many, as after any loss of messages; a test measures how long writes wait."
    ),
    "a-voter-asks-others-at-once": "A request too many, and nothing else is wrong; a test counts them.",
    "a-voter-asks-its-leader-alone": (
        "Every new leader reaches the voters by BeginQuorumEpoch, again and again; a test cuts it off."
    ),
    "the-leader-is-asked-under-two-names": "A request too many, and nothing else is wrong.",
    "late-responses-are-taken": "The follower pauses for 20 ms, and nothing else is wrong.",
    "a-loading-voter-goes-first": "The time until a new leader is active; a test has who is elected.",
    "all-that-load-wait": "Elections take longer, and nothing else is wrong.",
    "a-loading-voter-refuses-pre-votes": "Elections take longer, and nothing else is wrong.",
    "a-loading-voter-waits-for-ever": "Voters of the simulation have loaded after a while.",
    "leaders-that-load-hand-over-in-turn": "Voters of the simulation have loaded after a while.",
    "a-leader-that-loads-stays": "The time until a new leader is active, and nothing else is wrong.",
    "broker-becomes-a-voter": "The operator adds controllers only, and model brokers take no requests.",
    "a-snapshot-replaces-what-was-committed-before-a-restart": (
        "Simulated leaders that seem to lack records name an epoch that ended, and no snapshot."
    ),
    "halts-end-with-the-process": (
        "The log is kept all the same, since the recovery point has what is committed: the next process halts"
        " again. The simulated operator ends each halt that it finds."
    ),
    "what-is-not-flushed-is-noted-as-committed": (
        "It takes a follower that learns of a commit before its own flush has ended, and a power failure"
        " within the half second until the next flush that keeps the file and not the log."
    ),
    "an-end-is-committed-whatever-its-epoch": "Kafka's controller writes to no simulated directory.",
    "a-changed-log-is-always-another-controller-s": (
        "Damage to simulated logs shows in checksums, or ends the log before the recovery point."
    ),
    "lost-votes-forget-what-is-committed": (
        "A simulated leader seems to lack records once, at a follower that has its votes."
    ),
    "what-is-committed-may-fall": "No caller notes less.",
    "lines-share-a-block": "Simulated disks tear sectors of 512 bytes.",
    "files-of-one-block-are-damaged": "No simulated controller is of an earlier release.",
    "any-committed-line-counts": (
        "It takes a flipped bit in the 40 bytes of that line that leaves digits, and then a leader that wants"
        " less; both seldom happen in one run."
    ),
    "the-first-block-has-an-older-vote": "No simulated controller is of an earlier release.",
    "halts-of-an-earlier-replica-are-ignored": "No simulated log gets another directory.id.",
    "halts-of-an-earlier-replica-return": "No simulated directory is formatted again after a halt.",
    "a-full-disk-prevents-the-halt": (
        "The log is kept all the same: the next process halts again. It takes a disk that fails just then."
    ),
    "promises-of-a-lost-log-are-not-kept": "The simulated operator brings no log back.",
    "a-log-that-was-given-up-is-to-come-back": "A text for the operator, and nothing else is wrong.",
    "a-log-is-given-up-with-its-votes": "The simulated operator always finds that the halted log is right.",
    "a-halt-is-any-failure": "The exit status of a process; a test has it.",
    "records-that-a-wiped-voter-lost-still-count": (
        "It takes a leader that has not flushed what a voter has, a voter that is wiped in that moment, and a"
        " snapshot that it is then sent; a test has each."
    ),
}
"""Faults of raft and storage -> why runs of whole controllers do not notice them; a named test does."""
