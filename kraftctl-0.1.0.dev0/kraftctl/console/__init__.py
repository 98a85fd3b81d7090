"""`kraftctl console`: one page about a quorum, trouble first, in a process of its own that only reads.

What is decided is pure: `troubles` from the log with `found_partitions`, `node_status` from what controllers
say of themselves, `event_words` and `event_stream` from records; `picture`, `stories` and `search` are shown.
Around it, `live_log` follows the log, `painter` has the picture drawn, and `application` serves it by HTTP.
"""
