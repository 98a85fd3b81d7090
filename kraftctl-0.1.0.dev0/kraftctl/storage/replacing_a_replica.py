"""Advice to the operator of a replica whose metadata log cannot be used.

A replica that restarts under the same identity with an empty log has lost its acknowledgements and its votes.
If it votes, a leader without committed records may be elected. So either it gets a new identity, or its
recovery point stays and keeps it from voting (docs/operations/lost-disk.md).
"""

from __future__ import annotations

REPLACE_THIS_REPLICA = (
    "Next step: while a majority of the other voters is healthy, let this node fetch everything from them, as"
    " docs/operations/lost-disk.md describes. Dynamic quorum: stop this node, move its directory away, run"
    " kraftctl quorum replace-voter. Static quorum: move only __cluster_metadata-0 away; meta.properties and"
    " metadata-recovery-point must stay, they keep this node from voting until it has everything again."
    " Without such a majority restore the directory from a backup."
)

RESTORE_THE_ONLY_VOTER = (
    "As far as can be read of its files, this node is the only voter. Next step: keep a copy of the directory"
    " as it is. If any other controller of this cluster exists, never restore an older copy: let this node"
    " fetch everything from them (docs/operations/lost-disk.md). Only if there is none, restore the directory"
    " from a backup."
)

RESTORE_IT = "restore the directory from a backup"
"""The advice for a replica that has lost records."""

BRING_THE_LOG_BACK = (
    "or in one whose directories were formatted again, and while this one has fetched nothing since, stop all"
    " controllers and bring this log back as it was moved away, with the meta.properties beside it, and"
    " metadata-recovery-point.former as metadata-recovery-point. For a new cluster without its data keep this"
    " directory as it is, and format an empty one on each controller, with a new cluster id"
)
"""The advice for a replica without any log. A new cluster id keeps it out of a quorum that has the data."""

FOLLOW_THE_OTHERS = (
    "start more of them: an operator has decided, with kraftctl end-halt, that this one follows"
)
"""The advice for a replica whose log was given up: it must not lead back behind that decision."""

LET_IT_VOTE = "and no leader is elected, stop all controllers and read kraftctl end-recovery --help"
"""The advice for a replica that has lost its votes alone."""
