"""`kraftctl quorum may-stop`: whether a controller may be stopped now, and the exit status that says so."""

from __future__ import annotations

from typing import Final

from kraftctl.cli.quorum.majority_left import voters_of
from kraftctl.cli.quorum.quorum_info import QuorumInfo
from kraftctl.operate.restart import NOT_KNOWN, NOT_NOW, ONLY_WITH_AN_OUTAGE, YES, may_stop
from kraftctl_admin.errors import AdminError

STATUSES: Final = {NOT_NOW: 1, NOT_KNOWN: 2, ONLY_WITH_AN_OUTAGE: 3}


class MayNotStopError(AdminError):
    """The controller must not be stopped now, or that is not known; `kind` is that of a Verdict."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.status = STATUSES[kind]


def permission_to_stop(quorum: QuorumInfo, controller_id: int) -> str:
    """Returns the sentence that permits it. Raises MayNotStopError."""
    try:
        voters = voters_of(quorum)
    except AdminError as error:
        raise MayNotStopError(NOT_KNOWN, str(error)) from error
    known = [each.replica_id for each in (*quorum.voters, *quorum.observers)]
    if controller_id not in known:
        ids = ", ".join(map(str, sorted({each.voter_id for each in voters})))
        raise MayNotStopError(
            NOT_KNOWN,
            f"--controller-id {controller_id} is neither a voter nor an observer of this quorum, whose voters"
            f" are {ids}. Next step: give its node.id",
        )
    verdict = may_stop(controller_id, voters)
    if verdict.kind != YES:
        raise MayNotStopError(verdict.kind, verdict.text)
    return verdict.text
