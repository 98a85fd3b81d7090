"""The reasons why a controller, or another one of its quorum, makes no progress: line and next step of each.

`docs/troubleshooting.md` has a row for each, and `tests/raft/test_progress.py` a quorum that is in each.
"""

from __future__ import annotations

from typing import Final

ELECTION: Final = "election"
STANDING: Final = "standing"
PEER: Final = "peer"


class ProgressState:
    """A reason, whose `text` and `next_step` have fields in braces.

    `kind`: ELECTION: no leader is followed, and none leads. STANDING: this node follows, and does not vote.
    PEER: one other controller has a fault, whether there is a leader or not.
    """

    def __init__(self, name: str, kind: str, text: str, next_step: str) -> None:
        self.name = name
        self.kind = kind
        self.text = text
        self.next_step = next_step

    def line(self, fields: dict[str, str]) -> str:
        return f"{self.text.format(**fields)}. Next step: {self.next_step.format(**fields)}"


NO_MAJORITY: Final = ProgressState(
    "no majority",
    ELECTION,
    "No leader can be elected for {seconds} s: {count} of {voters} voters can be reached from controller"
    " {own}, {majority} are needed ({peers})",
    "{hints}. No directory has to be formatted for this",
)
NOT_ELECTED: Final = ProgressState(
    "not elected",
    ELECTION,
    "No leader is elected for {seconds} s, although {count} of {voters} voters can be reached from controller"
    " {own}, and {majority} are enough ({peers})",
    "start the voters that are missing: one of them may have the records that the others lack; and see why"
    " those that answer do not vote for this node (their log says so)",
)
LEADER_SILENT: Final = ProgressState(
    "leader silent",
    ELECTION,
    "Leader {leader} of epoch {epoch} has not answered for {seconds} s at {address}, where controller {own}"
    " knows it: {reason}; the voters that can be reached still follow it ({peers})",
    "{hints}; the address is from advertised.listeners of controller {leader}",
)
NOT_FETCHED: Final = ProgressState(
    "not fetched",
    ELECTION,
    "Controller {own} wins elections, and no majority of the voters fetches from it for {seconds} s, although"
    " {count} of {voters} vote: they are to reach it at {address} ({peers})",
    "check from their hosts that this address leads here; it is from advertised.listeners of this node",
)
OWN_DISK: Final = ProgressState(
    "own disk",
    ELECTION,
    "Controller {own}, the only voter, leads epoch {epoch}, and for {seconds} s nothing of it is committed:"
    " its log is on the disk up to offset {flushed} of {end}",
    "check the disk of metadata.log.dir: a flush does not end",
)
RECOVERING: Final = ProgressState(
    "recovering",
    ELECTION,
    "Controller {own} does not vote: it has lost its log or its votes, and recovers until it has everything"
    " that a leader of epoch {epoch} or later has committed; for {seconds} s it has found none ({peers})",
    "start the voters that have not lost anything. If a majority of them has, read"
    " docs/operations/lost-disk.md before anything is formatted",
)
STARTED: Final = (
    "Controller {own} has neither led nor followed a leader since its start, {seconds} s ago; an election may"
    " take {grace} s"
)
"""Without a next step: what is missing in this time is no fault yet."""
RECOVERING_VOTER: Final = (
    "This replica recovers and does not vote until it has everything that was committed when its log or its"
    " votes were lost. Next step: none, if a majority of the other voters runs; else read"
    " docs/operations/lost-disk.md"
)
NO_VOTERS: Final = ProgressState(
    "no voters",
    ELECTION,
    "Controller {own} knows no voters for {seconds} s: kraft.version is 0, controller.quorum.voters is not"
    " set, and no leader is found by controller.quorum.bootstrap.servers ({peers})",
    "if the cluster exists, start its voters and correct the addresses; if it is new, one of its controllers"
    " has to be formatted with --standalone, or all with --initial-controllers",
)
NO_LEADER_FOUND: Final = ProgressState(
    "no leader found",
    ELECTION,
    "Controller {own}, which is no voter, has found no leader for {seconds} s ({peers})",
    "{hints}",
)
NOT_A_VOTER: Final = ProgressState(
    "not a voter",
    STANDING,
    "Controller {own} is an observer: it follows leader {leader}, and neither votes nor leads; the voters are"
    " {voters}",
    "to make it a voter, kraftctl quorum add-controller, or controller.quorum.auto.join.enable=true",
)
NEW_DIRECTORY: Final = ProgressState(
    "new directory",
    STANDING,
    "Controller {own} is an observer: the voter with its node.id is {known}, in another directory; it neither"
    " votes nor leads, and the voters are {voters}",
    "if the disk was replaced or the directory formatted again, kraftctl quorum remove-controller"
    " --controller-id {id} --controller-directory-id {directory}, then kraftctl quorum add-controller. Only"
    " if meta.properties alone was changed, beside the whole log of that voter, stop and restore its"
    " directory.id={directory}: without that log, committed records can be lost",
)
OTHER_CLUSTER: Final = ProgressState(
    "another cluster",
    PEER,
    "{peer} belongs to {there}, and controller {own} to cluster {here}",
    "correct the address in controller.quorum.voters or controller.quorum.bootstrap.servers. A directory with"
    " the metadata of one cluster cannot become part of another one",
)
OTHER_ID: Final = ProgressState(
    "another id",
    PEER,
    "The address of {peer} is that of {there}, as controller {own} finds out",
    "correct the address in controller.quorum.voters, or advertised.listeners of controller {id}",
)
OWN_ADDRESS: Final = ProgressState(
    "own address",
    PEER,
    "The address of {peer} leads to controller {own} itself",
    "correct the address in controller.quorum.voters, or advertised.listeners of controller {id}",
)
OTHER_DIRECTORY: Final = ProgressState(
    "another directory",
    PEER,
    "Controller {id} has another directory than the voter {known}, as controller {own} sees it: {evidence};"
    " it cannot vote",
    "start the voters that have lost nothing; then, if the disk of controller {id} was replaced or formatted"
    " again, kraftctl quorum remove-controller --controller-id {id} --controller-directory-id {directory},"
    " and kraftctl quorum add-controller. Only if its meta.properties alone was changed, beside the whole log"
    " of that voter, restore directory.id={directory} there: without that log, committed records can be lost",
)
NO_RIGHT: Final = ProgressState(
    "no right",
    PEER,
    "{peer} denies controller {own} the right CLUSTER_ACTION on the cluster",
    "add the principal of this node to super.users there, or an ACL that allows it ClusterAction",
)
REFUSED_REQUEST: Final = ProgressState(
    "request refused",
    PEER,
    "{peer} answers {error} to controller {own}",
    "see the log of that controller; if its release is another one, both have to know metadata.version",
)
SAME_ID: Final = ProgressState(
    "same id",
    PEER,
    "Another process has node.id={id}, as controller {own} has: {evidence}",
    "stop one of the two, and give it a node.id of its own before it starts again",
)
TWO_PROCESSES: Final = ProgressState(
    "two processes",
    PEER,
    "Two processes have node.id={id}, as controller {own} sees it: {evidence}",
    "stop one of the two, and give it a node.id of its own before it starts again",
)
TWO_QUORUMS: Final = ProgressState(
    "two quorums",
    PEER,
    "Cluster {cluster} has two quorums: {address} names leader {other} of epoch {other_epoch}, and leader"
    " {leader} of epoch {epoch} has the voters {voters}, as controller {own} knows",
    "stop the controllers of the quorum that is not to stay (two were formatted with --standalone); no broker"
    " may reach both, and no directory be formatted before you know which one has the metadata",
)
DIFFERING_VOTERS: Final = ProgressState(
    "differing voters",
    PEER,
    "{who}, which is none of the voters {voters} of controller {own}: the static lists of voters differ",
    "make controller.quorum.voters the same on all controllers and brokers, and restart those that differ",
)

SILENT_VOTER: Final = ProgressState(
    "silent voter",
    PEER,
    "Voter {voter} at {address} has not fetched from leader {own} for {seconds} s, {last}: {reason}. The log"
    " ends at offset {end}; {count} of {voters} voters take part, {majority} are needed",
    "{hint}. No directory has to be formatted for this",
)
UNREACHED_VOTER: Final = ProgressState(
    "unreached voter",
    PEER,
    "Voter {voter} fetches from leader {own}, which does not reach it at {address}: {reason}",
    "{hint}; the address is from {source}",
)

STATES: Final[list[ProgressState]] = [
    NO_MAJORITY,
    NOT_ELECTED,
    LEADER_SILENT,
    NOT_FETCHED,
    OWN_DISK,
    RECOVERING,
    NO_VOTERS,
    NO_LEADER_FOUND,
    NOT_A_VOTER,
    NEW_DIRECTORY,
    OTHER_CLUSTER,
    OTHER_ID,
    OWN_ADDRESS,
    OTHER_DIRECTORY,
    NO_RIGHT,
    REFUSED_REQUEST,
    SAME_ID,
    TWO_PROCESSES,
    TWO_QUORUMS,
    DIFFERING_VOTERS,
    SILENT_VOTER,
    UNREACHED_VOTER,
]
