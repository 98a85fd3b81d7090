"""A controller node: raft and the metadata state machine behind one `step`.

`controller_node` routes events and effects, and `events` lists both. `metadata_loader` loads snapshot and
log in turns, `snapshot_generation` writes snapshots, and `committed_configs` says when dynamic configs
apply. `long_work` has the kinds of work that take many turns, and how much of it one turn does.
"""
