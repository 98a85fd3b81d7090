"""What an operator does when the metadata log of a replica cannot be used: the one place for this advice.

A replica that comes back under the same identity with an empty log has forgotten what it acknowledged and
whom it voted for. If it votes, a leader may be elected that lacks committed records. So either its identity
goes with its memory, or the recovery point stays and keeps it from voting (docs/operations/lost-disk.md).
"""

from __future__ import annotations

REPLACE_THIS_REPLICA = (
    "Next step: while a majority of the other voters is healthy, let this node fetch everything from them, as"
    " docs/operations/lost-disk.md describes. Dynamic quorum: kafka-metadata-quorum remove-controller, stop"
    " this node, kraftctl format --no-initial-controllers in an empty directory, start, kafka-metadata-quorum"
    " add-controller. Static quorum: move only __cluster_metadata-0 away; meta.properties and"
    " metadata-recovery-point must stay, they keep this node from voting until it has everything again."
    " Without such a majority restore the directory from a backup."
)

RESTORE_THE_ONLY_VOTER = (
    "This node is the only voter, so nobody else has what is missing. Next step: restore the directory from a"
    " backup; or, to begin a new cluster without this data, format an empty directory."
)
