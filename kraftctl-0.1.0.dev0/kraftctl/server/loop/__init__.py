"""The loop around the pure node knows no socket, thread or file, so that a simulation runs it as well.

`node_loop` steps the node, `effect_executor` carries out effects in order, `storage_calls` those that wait
for the disk, and `executor_protocols` says what both need of a process. `request_turns` decides who waits for
a turn, `body_decoding` where a long request is decoded, and `turn_probe` measures the longest turn.
`disk_watch` warns while the disk is waited for.
"""
