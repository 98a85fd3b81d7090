"""A process has one clock, one collector and one event loop, and threads that wait for what may be slow.

`storage_threads` wait for the disk, `detached_calls` for what is not ours. `turn_pace` decides how much long
work fits into a turn, `sockets_first` that a timer ends nothing before the sockets are read, and `collector`
when the cyclic collector runs.
"""
